"""Patches of like disparity, and strays where surfaces leave the right view."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_matching as naive
from slanted.matching.out_of_view import drop_out_of_view
from slanted.partition.patch_kernels import find_patches

SEEDS = st.integers(0, 2**32 - 1)
SIDES = st.integers(1, 9)


@settings(max_examples=40, deadline=None)
@given(SEEDS, SIDES, SIDES, st.integers(1, 6))
def test_patches_equal_their_naive_twin(seed, height, width, smallest):
    rng = np.random.default_rng(seed)
    candidate = rng.random((height, width)) < 0.8
    disparity = rng.integers(0, 5, (height, width)).astype(np.float32) / 2
    ours = find_patches(candidate, disparity, 1.0, smallest)
    np.testing.assert_array_equal(ours, naive.find_patches(candidate, disparity, 1.0, smallest))


@settings(max_examples=150, deadline=None)
@given(SEEDS, SIDES, st.integers(1, 16), st.sampled_from([0.0, 0.05, 0.2, 1.0]))
def test_strays_equal_their_naive_twin(seed, height, width, share):
    rng = np.random.default_rng(seed)
    levels = rng.choice(
        [-4, 1, 5, 9, 14, np.nan], (height, width), p=[0.05, 0.3, 0.2, 0.2, 0.1, 0.15]
    )
    disparity = np.repeat(levels, 2, axis=1)[:, :width].astype(np.float32)
    if not np.isfinite(disparity).any():
        return
    ours = disparity.copy()
    drop_out_of_view(ours, share)
    np.testing.assert_array_equal(ours, naive.without_strays(disparity, share))


def test_a_patch_that_nothing_could_show_is_dropped():
    """A wall of disparity 20 is seen from column 20 on; left of it a stray of disparity 3."""
    disparity = np.full((40, 100), np.nan, np.float32)
    disparity[:, 20:] = 20.0
    disparity[10:15, 5:11] = 3.0
    cleaned = disparity.copy()
    drop_out_of_view(cleaned, 0.01)
    assert np.isnan(cleaned[:, :20]).all()
    np.testing.assert_array_equal(cleaned[:, 20:], disparity[:, 20:])
    # Larger ones may be true, and so may all where the wall would be in view.
    kept = disparity.copy()
    drop_out_of_view(kept, 0.005)
    np.testing.assert_array_equal(kept, disparity)
    disparity[:, 5:] = np.where(disparity[:, 5:] == 20, 4.0, disparity[:, 5:])
    disparity[10:15, 5:11] = 1.0
    seen = disparity.copy()
    drop_out_of_view(seen, 0.01)
    np.testing.assert_array_equal(seen, disparity)


def test_nothing_known_is_left_alone():
    nothing = np.full((3, 4), np.nan, np.float32)
    drop_out_of_view(nothing, 0.1)
    assert np.isnan(nothing).all()
