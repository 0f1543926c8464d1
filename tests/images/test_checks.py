"""Checks of pairs, and the reduction of 16-bit pairs."""

import numpy as np
import pytest

from slanted.errors import InputError, SlantedWarning
from slanted.images.checks import check_pair
from slanted.images.colour import as_8_bit, brightened

GREY = np.zeros((20, 30), np.uint8)


@pytest.mark.parametrize(
    ("left", "right", "message"),
    [
        ([[1, 2]], GREY, "left: expected a path, a Pillow image or an array, got list"),
        (GREY, GREY.astype(np.int64), "right: expected an image of type uint8, uint16 or float"),
        (np.zeros((20, 30, 5), np.uint8), GREY, "left: expected an image of shape"),
        (np.zeros((4, 30), np.uint8), GREY, "left: expected at least 8×8 pixels, got 30×4"),
        (GREY, np.zeros((20, 31), np.uint8), "right: expected the size of the left image, 30×20"),
        (GREY, GREY.astype(np.uint16), "right: expected the bit depth"),
    ],
)
def test_unusable_pairs_are_refused_by_name(left, right, message):
    with pytest.raises(InputError) as caught:
        check_pair(left, right)
    assert message in str(caught.value)


def test_grey_beside_colour_becomes_grey_and_is_told():
    colour = np.zeros((20, 30, 3), np.uint8)
    colour[..., 1] = 100
    with pytest.warns(SlantedWarning, match="left: is in colour, but right is grey"):
        left, right = check_pair(colour, GREY)
    with pytest.warns(SlantedWarning, match=r"b\.png: is in colour, but a\.png is grey"):
        check_pair(GREY, colour, names=("a.png", "b.png"))
    assert left.shape == right.shape == (20, 30)
    assert left[0, 0] == 59  # 0.587 × 100


def test_12_bits_in_16_use_the_whole_8_bit_range_with_one_scale():
    left = np.tile(np.arange(4096, dtype=np.uint16), (8, 1))
    right = left // 2
    left8, right8 = as_8_bit(left, right)
    assert left8.max() == 255
    assert abs(int(right8.max()) - 128) <= 1
    assert (np.diff(left8[0].astype(int)) >= 0).all()


def test_dark_pairs_are_brightened_with_one_scale_and_others_stay_as_they_are():
    ramp = np.tile(np.arange(200, dtype=np.uint8), (8, 1))
    assert brightened(ramp, ramp // 4)[0] is ramp
    assert brightened(ramp // 4 * np.uint16(1), ramp)[0].max() == 49  # 16 bits: not its business
    left, right = brightened(ramp // 4, ramp // 8)
    assert left.max() == 255
    assert abs(int(right.max()) - 128) <= 6


def test_a_black_pair_is_brightened_by_a_bounded_factor():
    left, _ = brightened(np.full((9, 9), 2, np.uint8), np.zeros((9, 9), np.uint8))
    assert left.max() == 16


def test_any_bright_channel_tells_that_a_pair_is_not_dark():
    for channel in range(3):
        image = np.zeros((30, 30, 3), np.uint8)
        image[..., channel] = 200
        assert brightened(image, image)[0] is image
