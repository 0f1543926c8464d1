"""Ways to spoil a pair."""

import numpy as np
import pytest

from slanted.learning.spoiling import SPOILS


@pytest.fixture(params=[np.uint8, np.uint16])
def pair(request):
    rng, white = np.random.default_rng(0), np.iinfo(request.param).max
    return [rng.integers(0, white, (40, 60, 3), request.param, endpoint=True) for _ in range(2)]


@pytest.mark.parametrize("name", SPOILS)
def test_a_spoilt_pair_is_of_the_same_kind_and_the_original_is_kept(pair, name):
    before = [image.copy() for image in pair]
    spoilt = SPOILS[name](*pair, np.random.default_rng(1))
    for image, was, now in zip(pair, before, spoilt, strict=True):
        np.testing.assert_array_equal(image, was)
        assert (now.shape, now.dtype) == (was.shape, was.dtype)
    assert not np.array_equal(spoilt[1], pair[1])


def test_what_each_does(pair):
    left, right = pair
    rng = np.random.default_rng(2)
    white = np.iinfo(left.dtype).max
    noisy = SPOILS["noise"](np.full_like(left, white // 2), right, rng)[0].astype(float)
    assert noisy.std() / white * 255 == pytest.approx(20, rel=0.05)
    dark = SPOILS["dark"](left, right, rng)[1]
    np.testing.assert_allclose(dark, right * 0.1, atol=0.5)
    one, lower = SPOILS["misaligned"](left, right, rng)
    np.testing.assert_array_equal(one, left)
    np.testing.assert_array_equal(lower[2:], right[:-2])
    np.testing.assert_array_equal(SPOILS["two scenes"](left, right, rng)[1][0], right[-1])
