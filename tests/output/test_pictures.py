"""Colours of disparities and errors."""

import numpy as np
import pytest

from slanted.errors import InputError
from slanted.output.pictures import ERROR_COLOURS, colour_disparity, colour_error, mosaic


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
