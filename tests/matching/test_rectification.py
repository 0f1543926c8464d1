"""Pairs that are not rectified, or swapped, on a real pair moved by known amounts."""

import warnings

import cv2
import numpy as np
import pytest

from slanted.errors import RectificationError, SlantedWarning
from slanted.evaluation.motorcycle import load_motorcycle
from slanted.matching.rectification import check_rectification, measure_rectification
from slanted.settings import RectificationSettings

LEFT, RIGHT, _ = load_motorcycle()
SETTINGS = RectificationSettings(correct="off")


def moved(image, rows=0.0, degrees=0.0):
    height, width = image.shape[:2]
    matrix = cv2.getRotationMatrix2D((width / 2, height / 2), degrees, 1.0)
    matrix[1, 2] += rows
    return cv2.warpAffine(image, matrix, (width, height))


def test_a_rectified_pair_passes_in_silence():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = check_rectification(LEFT, RIGHT, SETTINGS)
    assert found is not None
    assert found.matches > 100
    assert max(found.vertical_offset, found.vertical_spread) < 0.5
    assert found.backward_share < 0.05


@pytest.mark.parametrize("rows", [-4, 3])
def test_the_offset_is_measured(rows):
    with pytest.warns(SlantedWarning, match=r"vertical offset (2\.9|3\.[01]|3\.9|4\.[01]) px"):
        found = check_rectification(LEFT, moved(RIGHT, rows), SETTINGS)
    assert found is not None
    assert abs(found.vertical_median + rows) < 0.5


def test_a_turned_pair_is_noticed_though_its_median_offset_is_small():
    with pytest.warns(SlantedWarning, match="not well rectified"):
        check_rectification(LEFT, moved(RIGHT, degrees=1.0), SETTINGS)


def test_a_large_offset_is_refused_unless_told_otherwise():
    right = moved(RIGHT, 15)
    with pytest.raises(RectificationError, match=r"got a vertical offset of 1[45]\.\d px"):
        check_rectification(LEFT, right, SETTINGS)
    with pytest.warns(SlantedWarning):
        check_rectification(LEFT, right, RectificationSettings(check="warn", correct="off"))
    assert check_rectification(LEFT, right, RectificationSettings(check="off")) is None


def test_swapped_images_are_noticed():
    with pytest.raises(RectificationError, match="seem to be swapped"):
        check_rectification(RIGHT, LEFT, SETTINGS)
    with pytest.warns(SlantedWarning, match="swapped"):
        check_rectification(RIGHT, LEFT, RectificationSettings(check="warn", correct="off"))
    with pytest.warns(SlantedWarning, match="rectified"), pytest.raises(RectificationError):
        check_rectification(RIGHT, moved(LEFT, 3), SETTINGS)  # askew and swapped
    # A range that starts above zero makes no pair swapped.
    assert check_rectification(LEFT, RIGHT, SETTINGS, min_disparity=60) is not None
    # A range that starts below zero says that such matches are meant.
    assert check_rectification(RIGHT, LEFT, SETTINGS, min_disparity=-64) is not None


def test_16_bit_and_large_images():
    large = [cv2.resize(image, None, fx=4, fy=4) for image in (LEFT, moved(RIGHT, 2))]
    found = measure_rectification(*(image.astype(np.uint16) * 16 for image in large))
    assert found is not None
    assert abs(found.vertical_offset - 8) < 1.5


def test_nothing_to_match_says_nothing():
    flat = np.zeros((50, 60), np.uint8)
    assert check_rectification(flat, flat, SETTINGS) is None


def test_the_same_image_twice_is_noticed():
    image = np.random.default_rng(0).integers(0, 256, (200, 300)).astype(np.uint8)
    with pytest.warns(SlantedWarning, match="both images are the same"):
        check_rectification(image, image.copy(), SETTINGS)


def test_cameras_turned_towards_each_other_are_told():
    shifted = np.roll(RIGHT, 40, axis=1)
    with pytest.warns(SlantedWarning, match=r"set matching\.min_disparity below zero"):
        found = check_rectification(LEFT, shifted, SETTINGS)
    assert found is not None
    assert 0.25 < found.backward_share <= 0.6
