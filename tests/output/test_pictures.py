"""Colours of disparities and errors."""

import re
from dataclasses import replace

import numpy as np
import pytest

from slanted.boundary_label import BoundaryLabel
from slanted.errors import InputError
from slanted.inference.outcome import Inference, Iteration
from slanted.model.energy import Features
from slanted.output.chart_drawing import PAGE, draw_picture, draw_svg
from slanted.output.charts import Break, Chart, Series, energy_chart
from slanted.output.legends import nice_ticks
from slanted.output.overlays import (
    BOUNDARY_COLOUR,
    JUNCTION3_COLOUR,
    JUNCTION4_COLOUR,
    colour_segments,
    paint_boundaries,
    paint_regions,
    shown_labels,
)
from slanted.output.palette import BREAK, COLOURS
from slanted.output.pictures import (
    ERROR_COLOURS,
    NO_RIVAL_COLOUR,
    colour_confidence,
    colour_disparity,
    colour_error,
    colour_margins,
    colour_planes,
    grey_strength,
    mosaic,
)
from slanted.regions import build_regions
from slanted.settings import Settings


def test_near_is_bright_and_unknown_black():
    disparity = np.linspace(0, 50, 200, dtype=np.float32).reshape(10, 20)
    disparity[0, 0] = np.nan
    picture = colour_disparity(disparity)
    assert picture.shape == (10, 20, 3)
    assert tuple(picture[0, 0]) == (0, 0, 0)
    brightness = picture.astype(int).sum(-1).ravel()[1:]
    assert brightness[-1] > brightness[0] + 200
    assert tuple(picture[-1, -1]) == (253, 231, 37)  # viridis ends in yellow: channels are RGB


def test_a_fixed_scale_makes_pictures_comparable():
    one = colour_disparity(np.full((2, 2), 10, np.float32), 0, 20)
    two = colour_disparity(np.array([[10, 19]], np.float32), 0, 20)
    assert (one[0, 0] == two[0, 0]).all()


@pytest.mark.parametrize("fill", [np.nan, 7.0])
def test_constant_and_unknown_maps_can_be_painted(fill):
    assert colour_disparity(np.full((3, 3), fill, np.float32)).shape == (3, 3, 3)


def test_error_colours_follow_kittis_steps():
    truth = np.array([[10, 10, 10, 10, np.nan, 10]], np.float32)
    found = np.array([[10, 13, 13.5, 90, 10, np.nan]], np.float32)
    picture = colour_error(found, truth)[0]
    steps = [0, 4, 5, 9, None, 9]  # exactly 3 px is not yet an outlier
    for pixel, step in zip(picture, steps, strict=True):
        assert tuple(pixel) == ((0, 0, 0) if step is None else tuple(ERROR_COLOURS[step]))


def test_sizes_must_agree():
    with pytest.raises(InputError, match="ground_truth"):
        colour_error(np.zeros((2, 2), np.float32), np.zeros((3, 2), np.float32))


def test_mosaic_fills_up_with_black():
    tile = np.full((2, 3, 3), 9, np.uint8)
    picture = mosaic([tile, tile, tile])
    assert picture.shape == (4, 6, 3)
    assert picture[3, 5, 0] == 0


LABELS = np.kron([[0, 1], [2, 3]], np.ones((10, 12), int)).astype(np.int32)
IMAGE = np.dstack([LABELS * 50] * 3).astype(np.uint8)
LINES = Chart("t", "x", "y", (Series("one", (0.0, 1.0, 2.0, 3.0, 4.0), (3.0, 4.0, 2.0, 5.0, 3.0)),))


def test_boundaries_are_lines_between_segments():
    picture = paint_boundaries(IMAGE, LABELS)
    line = (picture == BOUNDARY_COLOUR).all(axis=2)
    expected = np.zeros(LABELS.shape, bool)
    expected[9] = True
    expected[:, 11] = True
    np.testing.assert_array_equal(line, expected)
    assert (IMAGE[9] == np.dstack([LABELS * 50] * 3)[9]).all()  # the image itself is left alone


def test_who_is_in_front_is_told_at_the_boundary_not_by_centres():
    labels = np.full((20, 24), 2, np.int32)
    labels[6:, 3:10] = 1
    labels[:3], labels[:, :3], labels[:, 14:] = 0, 0, 0  # left of 1, with most of it far right
    regions = build_regions(labels)
    assert regions.centre[0, 0] > regions.centre[1, 0]
    edge = regions.edges.tolist().index([0, 1])
    for label, shown in ((BoundaryLabel.LEFT_OCCLUSION, 2), (BoundaryLabel.RIGHT_OCCLUSION, 3)):
        kinds = shown_labels(regions, np.full(len(regions.edges), label, np.int32))
        assert kinds[edge] == shown


def test_junctions_are_marked_by_kind():
    four = paint_regions(IMAGE, build_regions(LABELS))
    assert tuple(four[9, 11]) == JUNCTION4_COLOUR
    three = np.where(LABELS == 3, 2, LABELS).astype(np.int32)
    assert tuple(paint_regions(IMAGE, build_regions(three))[9, 11]) == JUNCTION3_COLOUR


def test_segments_in_their_mean_colours():
    picture = colour_segments(build_regions(LABELS), IMAGE)
    np.testing.assert_array_equal(picture, IMAGE)


def test_strengths_are_grey():
    picture = grey_strength(np.array([[0, 0.5, 1.0]], np.float32))
    assert picture[0, 0] == 0
    assert 100 < picture[0, 1] < 160
    assert picture[0, 2] == 255
    assert grey_strength(np.zeros((2, 2), np.float32)).max() == 0


def test_planes_are_painted_by_tilt_and_nearness():
    regions = build_regions(LABELS)
    planes = np.array([[0, 0, 5], [0, 0, 50], [0.3, 0, 20], [-0.3, 0, 20]], float)
    picture = colour_planes(regions, planes).astype(int)
    level, near = picture[0, 0], picture[0, -1]
    assert len(set(level)) == len(set(near)) == 1  # grey
    assert near[0] > level[0]
    left, right = picture[-1, 0], picture[-1, -1]
    assert left[0] > left[2] and right[2] > right[0]  # red one way, cyan the other


def test_the_energy_chart_shows_both_curves():
    found = course(9, 9, 9)

    def draw(inference):
        return draw_picture(energy_chart(inference, Settings()))

    chart = draw(found)
    for colour in COLOURS[:2]:
        rgb = tuple(bytes.fromhex(colour[1:]))
        assert (chart == rgb).all(axis=2).sum() > 50
    assert draw(replace(found, iterations=())).shape == chart.shape
    # Proposals as published do not have the planes to start from among them.
    without = draw(replace(found, initial_energy=float("nan")))
    assert without.shape == chart.shape
    assert (without != chart).any()


def course(*segments):
    steps = tuple(Iteration(90.0 + k, 80.0, 5, "sweeps", n) for k, n in enumerate(segments))
    nothing, energies = np.zeros(0), Features(0, 0, 0, 0, 0, 0, 0, 0)
    return Inference(nothing, nothing, nothing, energies, 100.0, 82.0, steps, nothing, 0.3)


@pytest.mark.parametrize(
    ("segments", "rounds", "breaks"),
    [
        ((7, 7, 7), (1, 0, 1), []),
        ((7, 7, 9), (2, 1, 1), [(2.5, "7 to 9 segments")]),
        ((7, 7, 7), (2, 1, 1), [(2.5, "next round")]),  # boundaries moved, none was split
        ((7, 9, 9), (1, 2, 1), [(1.5, "7 to 9 segments"), (2.5, "next round")]),
        ((7, 9, 9), (1, 1, 2), [(1.5, "7 to 9 segments")]),
        ((7, 9), (0, 1, 2), [(1.5, "7 to 9 segments")]),  # whatever settings say
    ],
)
def test_the_energy_chart_marks_where_the_graph_is_another_one(segments, rounds, breaks):
    names = ("inference.iterations", "refinement.rounds", "refinement.iterations")
    settings = Settings().with_text(dict(zip(names, map(str, rounds), strict=True)))
    chart = energy_chart(course(*segments), settings)
    assert [(each.x, each.words) for each in chart.breaks] == breaks
    for _, words in breaks:
        assert draw_svg(chart).count(f">{words}</text>") == [w for _, w in breaks].count(words)
    # OpenCV's thin lines are a shade off.
    line = np.frombuffer(bytes.fromhex(BREAK[1:]), np.uint8).astype(int)
    painted = (np.abs(draw_picture(chart).astype(int) - line) < 12).all(axis=2)
    assert (painted.sum(axis=0) > 100).sum() == len(breaks)


def test_curves_are_broken_where_something_changed():
    chart = replace(LINES, series=(Series("energy", (0, 1, 2, 3), (4, 5, 6, 7)),))
    whole, broken = (draw_svg(replace(chart, breaks=b)) for b in ((), (Break(1.5, "here"),)))
    lengths = [
        sorted(len(points.split()) for points in re.findall(r'points="([^"]+)"', drawn))
        for drawn in (whole, broken)
    ]
    assert [lengths[0].count(4), lengths[1].count(4)] == [1, 0]


def test_words_of_breaks_do_not_cover_each_other():
    breaks = tuple(Break(k + 0.5, "segments " * 3) for k in range(4))
    found = re.findall(
        r'x="([\d.]+)" y="([\d.]+)"[^>]*>segments s', draw_svg(replace(LINES, breaks=breaks), PAGE)
    )
    places = [(float(x), float(y)) for x, y in found]
    assert len(places) == 4
    for k, (x, y) in enumerate(places):
        assert 0 < x < PAGE.width
        assert all(y != other or abs(x - far) > 150 for far, other in places[:k])


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (1_523_817, 1_548_101, [1_525_000, 1_530_000, 1_535_000, 1_540_000, 1_545_000]),
        (0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (-3, 7, [-2, 0, 2, 4, 6]),
        (99.99, 100.01, [99.99, 99.995, 100, 100.005, 100.01]),
    ],
)
def test_ticks_are_round(low, high, ticks):
    assert nice_ticks(low, high) == pytest.approx(ticks)


def test_confidence_is_dark_where_in_doubt():
    picture = colour_confidence(np.array([[0.0, 0.25, 1.0]], np.float32)).astype(int)
    shade = picture[0].sum(axis=1)
    assert shade[0] < shade[1] < shade[2]


def test_margins_are_dark_where_in_doubt_and_grey_without_a_rival():
    regions = build_regions(LABELS)
    picture = colour_margins(regions, np.array([0.0, 10.0, 100.0, np.inf])).astype(int)
    corners = [picture[0, 0], picture[0, -1], picture[-1, 0]]
    assert corners[0].sum() < corners[1].sum() < corners[2].sum()
    assert tuple(picture[-1, -1]) == NO_RIVAL_COLOUR
    assert colour_margins(regions, np.full(4, np.inf)).shape == (*LABELS.shape, 3)
