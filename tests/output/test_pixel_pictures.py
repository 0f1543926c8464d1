"""Pictures of depth, deviation, flags, occlusion and sky; colour maps; values along a line."""

import numpy as np
import pytest

from slanted.errors import InputError
from slanted.io import Calibration
from slanted.output.pictures import COLOUR_MAPS, UNKNOWN_COLOUR, colour_disparity, colour_map
from slanted.output.pixel_flag import PixelFlag
from slanted.output.pixel_pictures import (
    FLAG_COLOURS,
    OCCLUDED_COLOUR,
    OUTSIDE_COLOUR,
    SKY_COLOUR,
    colour_depth,
    colour_deviation,
    colour_flags,
    depth_legend,
    depth_scale,
    deviation_scale,
    flags_legend,
    paint_occlusion,
    paint_sky,
)
from slanted.output.profile import distance, profile


@pytest.mark.parametrize("name", COLOUR_MAPS)
def test_every_colour_map_paints_disparities(name):
    colours = colour_map(name)
    assert colours.shape == (256, 3)
    assert len(np.unique(colours, axis=0)) > 150
    painted = colour_disparity(np.array([[0.0, 5, 10, np.nan]], np.float32), 0, 10, name)
    np.testing.assert_array_equal(painted[0, [0, 2]], colours[[0, 255]])
    assert tuple(painted[0, 3]) == UNKNOWN_COLOUR


def test_an_unknown_colour_map_is_refused():
    with pytest.raises(InputError, match="expected one of viridis, turbo"):
        colour_map("rainbow")


def test_depth_is_bright_where_it_is_near_and_even_in_its_logarithm():
    depth = np.array([[1, 10, 100, np.nan, np.inf, 0.1, 900]], np.float32)
    painted = colour_depth(depth, 1, 100)[0]
    ends = colour_map("viridis")
    np.testing.assert_array_equal(painted[0], ends[255])
    np.testing.assert_allclose(painted[1], ends[128].astype(int), atol=1)
    np.testing.assert_array_equal(painted[2], ends[0])
    assert tuple(painted[3]) == UNKNOWN_COLOUR
    assert tuple(painted[4]) == SKY_COLOUR
    np.testing.assert_array_equal(painted[5:], ends[[255, 0]])
    legend = depth_legend(1, 100)
    np.testing.assert_array_equal(legend.bar[0], ends[255])
    assert {text: place for place, text in legend.ticks}["10"] == pytest.approx(0.5)


def test_scales_are_those_of_the_known_values():
    depth = np.full((50, 50), np.nan, np.float32)
    assert depth_scale(depth) == (1.0, 10.0)
    depth[:, :25] = np.linspace(2, 30, 25)
    depth[0, 30] = np.inf
    low, high = depth_scale(depth)
    assert 2 <= low < 4
    assert 26 < high <= 30
    assert depth_scale(np.full((9, 9), 5.0, np.float32))[1] > 5
    assert deviation_scale(np.zeros((5, 5), np.float32)) > 0


def test_deviations_are_painted_from_zero():
    painted = colour_deviation(np.array([[0, 1, 2, 9]], np.float32), 2.0, "grey")[0, :, 0]
    np.testing.assert_array_equal(painted, [0, 128, 255, 255])


def test_every_flag_has_its_colour_and_doubt_is_darker():
    flags = np.array([[1, 2, 2 | 4, 1 | 8, 1 | 16, 1 | 32, 2 | 4 | 16]], np.uint8)
    painted = colour_flags(flags)[0].tolist()
    wanted = [FLAG_COLOURS[PixelFlag(flag)] for flag in (1, 2, 4, 8, 16)]
    assert [tuple(colour) for colour in painted[:5]] == wanted
    assert 0 < sum(painted[5]) < 0.6 * sum(painted[0])
    assert tuple(painted[6]) == SKY_COLOUR
    names = [swatch.name for swatch in flags_legend().swatches]
    assert names == [
        "matched",
        "filled",
        "occluded",
        "out of view",
        "sky",
        "darker: low confidence",
    ]


def test_occlusion_and_sky_lie_over_the_image():
    image = np.full((1, 4, 3), 100, np.uint8)
    flags = np.array([[1, 2 | 4, 2 | 8, 1 | 16]], np.uint8)
    painted = paint_occlusion(image, flags)[0].tolist()
    assert painted == [[50] * 3, list(OCCLUDED_COLOUR), list(OUTSIDE_COLOUR), [50] * 3]
    painted = paint_sky(image, (flags & 16) > 0)[0].tolist()
    assert painted == [[50] * 3] * 3 + [list(SKY_COLOUR)]


@pytest.mark.parametrize(
    ("start", "end"),
    [((0, 0), (9, 3)), ((9, 3), (0, 0)), ((2, 6), (2, 0)), ((4, 4), (4, 4)), ((0, 6), (5, 0))],
)
def test_a_profile_goes_from_pixel_to_pixel(start, end):
    line = profile((7, 10), start, end)
    steps = max(abs(end[0] - start[0]), abs(end[1] - start[1]))
    assert (line.u[0], line.v[0]) == start
    assert (line.u[-1], line.v[-1]) == end
    assert len(line.u) == len(line.v) == len(line.along) == steps + 1
    assert np.abs(np.diff(line.u)).max(initial=0) <= 1
    assert np.abs(np.diff(line.v)).max(initial=0) <= 1
    assert line.along[-1] == pytest.approx(np.hypot(end[0] - start[0], end[1] - start[1]))
    values = np.arange(70).reshape(7, 10)
    np.testing.assert_array_equal(line.of(values), 10 * line.v + line.u)


@pytest.mark.parametrize(("start", "end"), [((-1, 0), (3, 3)), ((0, 0), (10, 3)), ((0, 7), (1, 1))])
def test_a_profile_stays_inside(start, end):
    with pytest.raises(InputError, match="expected a pixel inside 10×7"):
        profile((7, 10), start, end)


def test_the_distance_is_that_of_the_points():
    cameras = Calibration(100.0, 100.0, 5.0, 3.0, 0.5, 0.0)
    disparity = np.full((7, 10), 10.0, np.float32)  # 5 m away: 100 px are 5 m across
    assert distance(disparity, cameras, (1, 2), (9, 2)) == pytest.approx(0.4)
    disparity[2, 9] = 5.0
    points = cameras.points(disparity)
    wanted = np.linalg.norm(points[2, 9] - points[2, 1])
    assert distance(disparity, cameras, (1, 2), (9, 2)) == pytest.approx(wanted, rel=1e-6)
    disparity[2, 9] = np.nan
    assert np.isnan(distance(disparity, cameras, (1, 2), (9, 2)))
