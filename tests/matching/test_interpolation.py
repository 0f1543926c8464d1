"""KITTI's background interpolation against hand-worked rows and a naive twin."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from slanted.errors import InputError
from slanted.matching.interpolation import interpolate_background

NAN = np.nan


def naive_fill(line):
    """One line, pixel by pixel: the smaller of the nearest known on each side."""
    filled = list(line)
    for i, value in enumerate(line):
        if np.isnan(value):
            before = [v for v in line[:i] if not np.isnan(v)][-1:]
            after = [v for v in line[i + 1 :] if not np.isnan(v)][:1]
            filled[i] = min(before + after, default=NAN)
    return filled


def naive_interpolation(disparity):
    rows = [naive_fill(row) for row in disparity.tolist()]
    columns = [naive_fill(list(column)) for column in zip(*rows, strict=True)]
    return np.array(columns, dtype=np.float32).T


# Halves are exact in float32, so twins agree to the last bit; sparse maps meet every kind of hole.
maps = hnp.arrays(
    np.float32,
    hnp.array_shapes(min_dims=2, max_dims=2, max_side=7),
    elements=st.one_of(st.just(NAN), st.just(NAN), st.integers(0, 40).map(lambda v: v / 2)),
).filter(lambda d: not np.isnan(d).all())


@settings(max_examples=200, deadline=None)
@given(maps)
def test_equals_the_naive_twin(disparity):
    np.testing.assert_array_equal(interpolate_background(disparity), naive_interpolation(disparity))


@settings(max_examples=100, deadline=None)
@given(maps)
def test_is_dense_keeps_known_pixels_and_invents_nothing(disparity):
    before = disparity.copy()
    dense = interpolate_background(disparity)
    known = ~np.isnan(disparity)
    assert dense.dtype == np.float32
    assert np.isfinite(dense).all()
    assert (dense[known] == disparity[known]).all()
    assert np.isin(dense, disparity[known]).all()
    np.testing.assert_array_equal(disparity, before)  # the argument is not written to


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ([5, NAN, NAN, 3], [5, 3, 3, 3]),
        ([3, NAN, 5], [3, 3, 5]),
        ([NAN, NAN, 7, NAN], [7, 7, 7, 7]),
        ([4, NAN, 9, NAN, NAN, 2], [4, 4, 9, 2, 2, 2]),
    ],
)
def test_rows_by_hand(row, expected):
    assert interpolate_background(np.float32([row])).tolist() == [expected]


def test_unknown_rows_take_the_nearest_known_row():
    known, other = [1.0, 8.0], [4.0, 2.0]
    unknown = [NAN, NAN]
    dense = interpolate_background(np.float32([unknown, known, unknown, unknown, other, unknown]))
    assert dense.tolist() == [known, known, [1, 2], [1, 2], other, other]


def test_rows_come_before_columns():
    # Columns first would fill the hole with min(9, 9) from above and below, not 1 from its row.
    dense = interpolate_background(np.float32([[9, 9, 9], [1, NAN, 2], [9, 9, 9]]))
    assert dense[1, 1] == 1


def test_infinity_is_unknown():
    assert interpolate_background(np.float32([[np.inf, 2, -np.inf]])).tolist() == [[2, 2, 2]]


@pytest.mark.parametrize(
    ("disparity", "words"),
    [
        (np.full((3, 4), NAN), "unknown everywhere"),
        (np.zeros(4), r"shape \(4,\)"),
        (np.zeros((0, 4)), r"shape \(0, 4\)"),
        (np.zeros((2, 2), dtype=complex), "complex128"),
    ],
)
def test_useless_maps_are_refused(disparity, words):
    with pytest.raises(InputError, match=f"^disparity: .*{words}"):
        interpolate_background(disparity)
