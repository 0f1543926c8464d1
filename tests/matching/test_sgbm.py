"""OpenCV's matcher behind our interface, on pairs with known shifts."""

from functools import partial

import numpy as np
import pytest

from slanted.errors import InputError
from slanted.images.colour import grey_pair
from slanted.matching import DisparityRange, match, matcher_names, register_matcher
from slanted.matching.disparity_range import disparity_range
from slanted.settings import MatchingSettings, Settings, SgbmSettings

sgbm_settings = partial(MatchingSettings, method="sgbm")


def shifted_pair(shift, *, height=60, width=160, channels=3, dtype=np.uint8, seed=0):
    """A random texture and its copy, `shift` pixels to the left."""
    import cv2

    high = 256 if dtype is np.uint8 else 4096
    rng = np.random.default_rng(seed)
    shape = (height, width + 2 * abs(shift), channels)
    wide = rng.integers(0, high, shape).astype(np.float32)
    wide = cv2.GaussianBlur(wide, (0, 0), 1.0).reshape(shape)
    wide = (wide - wide.min()) / (wide.max() - wide.min()) * (high - 1)
    start = abs(shift)
    left = wide[:, start : start + width]
    right = wide[:, start + shift : start + shift + width]
    pair = [np.ascontiguousarray(x.astype(dtype)) for x in (left, right)]
    return [x[..., 0].copy() if channels == 1 else x for x in pair]


@pytest.mark.parametrize("mode", ["sgbm", "hh", "3way", "hh4"])
def test_every_mode_finds_a_known_shift(mode):
    left, right = shifted_pair(12)
    settings = sgbm_settings(max_disparity=32, sgbm=SgbmSettings(mode=mode))
    found = match(left, right, settings)
    assert found.dtype == np.float32
    assert np.isfinite(found[:, 16:]).mean() > 0.9
    np.testing.assert_allclose(np.nanmedian(found), 12, atol=0.1)


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_grey_and_colour_8_and_16_bit(channels, dtype):
    left, right = shifted_pair(7, channels=channels, dtype=dtype)
    found = match(left, right, sgbm_settings(max_disparity=16))
    np.testing.assert_allclose(np.nanmedian(found), 7, atol=0.1)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_a_colour_pair_can_be_matched_in_grey(dtype):
    pair = shifted_pair(7, dtype=dtype)
    searched = DisparityRange(0, 16)
    grey = sgbm_settings(sgbm=SgbmSettings(grey=True))
    found = match(*pair, grey, searched)
    np.testing.assert_array_equal(found, match(*grey_pair(*pair), sgbm_settings(), searched))
    assert not np.array_equal(found, match(*pair, sgbm_settings(), searched), equal_nan=True)
    np.testing.assert_array_equal(match(*grey_pair(*pair), grey, searched), found)


def test_negative_disparities_are_found_over_the_whole_width():
    left, right = shifted_pair(-9)
    found = match(left, right, sgbm_settings(min_disparity=-16, max_disparity=8))
    np.testing.assert_allclose(np.nanmedian(found), -9, atol=0.1)
    assert np.isfinite(found[:, :-16]).mean() > 0.9


def test_the_left_border_is_matched_where_the_right_image_shows_it():
    # Without padding OpenCV leaves the first max_disparity columns empty.
    left, right = shifted_pair(3, width=200)
    found = match(left, right, sgbm_settings(max_disparity=64))
    assert np.isfinite(found[:, 8:64]).mean() > 0.9


def test_the_range_is_found_from_the_pair():
    for shift in (5, 40, 100):
        left, right = shifted_pair(shift, width=640, height=120)
        found = disparity_range(left, right, sgbm_settings())
        assert found.low == 0
        assert shift < found.high <= shift * 1.1 + 32
    left, right = shifted_pair(-40, width=640, height=120)
    found = disparity_range(left, right, sgbm_settings(min_disparity=-64))
    assert (found.low, -40 < found.high <= 0) == (-64, True)


def test_nothing_to_match_still_gives_a_range_and_an_empty_map():
    flat = np.full((40, 60), 90, np.uint8)
    assert len(disparity_range(flat, flat, sgbm_settings())) > 0
    assert match(flat, flat, sgbm_settings()).shape == flat.shape


@pytest.mark.parametrize(("low", "high", "name"), [(0, 200, "max"), (-160, 0, "min")])
def test_a_range_wider_than_the_image_is_refused(low, high, name):
    left, right = shifted_pair(3)
    settings = sgbm_settings(min_disparity=low, max_disparity=high)
    with pytest.raises(InputError, match=rf"matching\.{name}_disparity: .*width of 160 px"):
        match(left, right, settings)


def test_a_matcher_of_ones_own_is_one_function():
    def constant(left, right, searched, settings):
        return np.full(left.shape[:2], searched.high - 1, np.float32)

    register_matcher("test-constant", constant)
    try:
        assert "test-constant" in matcher_names()
        settings = Settings().with_text(
            {"matching.method": "test-constant", "matching.max_disparity": "5"}
        )
        left, right = shifted_pair(3)
        assert (match(left, right, settings.matching)[:, 4:] == 4).all()
        with pytest.raises(InputError, match="exists already"):
            register_matcher("test-constant", constant)
    finally:
        from slanted import matching

        del matching._MATCHERS["test-constant"]
        matching.MATCHERS.remove("test-constant")


def test_range_has_a_length():
    assert len(DisparityRange(-3, 5)) == 8


def test_threads_do_not_change_the_bytes():
    from slanted.runtime.threads import thread_limit

    left, right = shifted_pair(20, width=320, height=100)
    maps = []
    for threads in (1, 2):
        with thread_limit(threads):
            maps.append(match(left, right, sgbm_settings()).tobytes())
    assert maps[0] == maps[1]


def test_disparities_end_before_the_end_of_the_range():
    left, right = shifted_pair(12)
    found = match(left, right, sgbm_settings(max_disparity=12, left_right_threshold=0))
    assert not (found >= 12).any()


def test_matches_outside_the_right_image_are_unknown():
    left, right = shifted_pair(20)
    found = match(left, right, sgbm_settings(max_disparity=32))
    column = np.arange(left.shape[1]) - found
    assert not (column < 0).any()


def test_left_right_check_and_speckle_filter_can_be_switched_off():
    left, right = shifted_pair(20)
    right[20:40] = np.random.default_rng(1).integers(0, 256, right[20:40].shape)  # nothing matches

    def density(**changes):
        settings = sgbm_settings(max_disparity=32, **changes)
        return np.isfinite(match(left, right, settings)).mean()

    checked = density()
    assert density(left_right_threshold=0) > checked
    assert density(speckle_size=0) > checked
    assert density(left_right_threshold=5) >= checked


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"block_size": 11}, r"matching\.sgbm\.block_size: expected path costs"),
        ({"p2": 32767}, r"matching\.sgbm\.block_size: expected path costs"),
        ({"p1": 900}, r"matching\.sgbm\.p2: expected more than p1 \(900\)"),
    ],
)
def test_costs_that_overflow_opencv_are_refused(changes, message):
    left, right = shifted_pair(3)
    settings = sgbm_settings(max_disparity=16, sgbm=SgbmSettings(**changes))
    with pytest.raises(InputError, match=message):
        match(left, right, settings)


def test_ranges_that_overflow_opencv_are_refused():
    wide = np.zeros((8, 4000), np.uint8)
    with pytest.raises(InputError, match=r"within ±2047 px"):
        match(wide, wide, sgbm_settings(max_disparity=2100))
