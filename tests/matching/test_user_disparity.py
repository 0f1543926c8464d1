"""A disparity map of the user's own."""

import numpy as np
import pytest

from slanted.errors import InputError
from slanted.matching.user_disparity import disparity_from_user

SIZE = (3, 4)


def test_unknown_pixels_become_nan():
    disparity = np.arange(12.0).reshape(SIZE) / 4
    disparity[0, 0], disparity[0, 1] = np.inf, np.nan
    valid = np.ones(SIZE, np.uint8)
    valid[2, 3] = 0
    result = disparity_from_user(disparity, SIZE, valid=valid)
    assert result.dtype == np.float32
    assert np.isnan(result[[0, 0, 2], [0, 1, 3]]).all()
    assert np.isfinite(result).sum() == 9


def test_negative_values_only_if_meant():
    disparity = np.full(SIZE, -2)
    with pytest.raises(InputError, match=r"min_disparity"):
        disparity_from_user(disparity, SIZE)
    assert (disparity_from_user(disparity, SIZE, allow_negative=True) == -2).all()
    with pytest.raises(InputError):
        disparity_from_user(np.full(SIZE, -np.inf), SIZE, allow_negative=True)


def test_disparities_reach_up_to_the_width_and_no_further():
    widest = np.full(SIZE, 4.0)
    np.testing.assert_array_equal(disparity_from_user(widest, SIZE), widest)
    widest[1, 2] = 4.01
    with pytest.raises(InputError, match=r"at most the image's width of 4, got up to 4\.01"):
        disparity_from_user(widest, SIZE)


@pytest.mark.parametrize(
    ("disparity", "valid", "message"),
    [
        (np.zeros((4, 3)), None, r"disparity: expected numbers of shape \(3, 4\)"),
        (np.zeros(SIZE, complex), None, "disparity: expected numbers"),
        (np.full(SIZE, 16 * 3), None, "divide by the format's scale"),
        (np.full(SIZE, np.nan), None, "at least one known pixel"),
        (np.zeros(SIZE), np.zeros(SIZE, bool), "at least one known pixel"),
        (np.zeros(SIZE), np.zeros((1, 1), bool), "valid: expected a mask"),
    ],
)
def test_unusable_maps_are_refused(disparity, valid, message):
    with pytest.raises(InputError, match=message):
        disparity_from_user(disparity, SIZE, valid=valid)


def test_the_users_array_is_left_alone():
    disparity = np.full(SIZE, np.inf, np.float32)
    disparity[0, 0] = 1
    disparity_from_user(disparity, SIZE)
    assert np.isinf(disparity[1, 1])
