"""What sure matches add to the disparity of planes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_confidence
from slanted.confidence import relief
from slanted.confidence.relief import add_relief

PLANE = np.full((40, 60), 20, np.float32)
SURE = np.ones((40, 60), np.float32)


@given(seed=st.integers(0, 99), height=st.integers(1, 16), width=st.integers(1, 16))
def test_it_is_that_of_the_naive_twin(seed, height, width):
    rng = np.random.default_rng(seed)
    disparity = rng.uniform(5, 9, (height, width)).astype(np.float32)
    matched = (disparity + rng.normal(0.4, 1, disparity.shape)).astype(np.float32)
    matched[rng.random(disparity.shape) < 0.3] = np.nan
    confidence = rng.uniform(0.9, 1, disparity.shape).astype(np.float32)
    wanted = naive_confidence.relief(disparity, matched, confidence, 2.0)
    found = add_relief((disparity, matched, confidence), 2.0)
    np.testing.assert_allclose(found, wanted, atol=2e-3)


def test_a_bump_that_matches_agree_on_is_drawn():
    y, x = np.mgrid[:40, :60]
    bump = np.maximum(0, 1 - np.hypot(y - 20, x - 30) / 25).astype(np.float32)
    found = add_relief((PLANE.copy(), PLANE + bump, SURE), 2.0)
    wrong = np.abs(found - PLANE - bump)[8:-8, 8:-8]
    assert wrong.mean() < 0.5 * bump[8:-8, 8:-8].mean()
    assert found.dtype == np.float32


def test_noise_alone_adds_little():
    noise = np.random.default_rng(0).normal(0, 0.5, PLANE.shape).astype(np.float32)
    added = add_relief((PLANE.copy(), PLANE + noise, SURE), 2.0) - PLANE
    assert np.abs(added).mean() < 0.02


@pytest.mark.parametrize(
    ("matched", "confidence", "most"),
    [
        (PLANE + 5, SURE, 2.0),  # another surface
        (PLANE + 1, SURE * np.float32(0.9), 2.0),  # not sure
        (np.full_like(PLANE, np.nan), SURE, 2.0),  # no match
        (PLANE + 1, SURE, 0.0),  # switched off
    ],
)
def test_planes_stay_where_no_sure_match_is_near(matched, confidence, most):
    found = add_relief((PLANE.copy(), matched, confidence), most)
    np.testing.assert_array_equal(found, PLANE)


def test_a_surface_does_not_lean_on_one_beside_it():
    """Nothing is known of the background, and sure matches raise the object before it."""
    planes = np.where(np.arange(60) < 30, 10, 40).astype(np.float32) * np.ones((40, 1), np.float32)
    matched, sure = planes + np.float32(1.5), SURE.copy()
    matched[:, :30], sure[:, :30] = np.nan, 0.2
    found = add_relief((planes.copy(), matched, sure), 2.0)
    np.testing.assert_array_equal(found[:, :30], 10)
    assert found[20, 45] > 40.9


def test_the_map_that_is_given_is_the_one_that_is_raised():
    plane = PLANE.copy()
    assert add_relief((plane, PLANE + 1, SURE), 2.0) is plane
    assert plane[20, 30] > 20.5


def test_bands_of_rows_are_as_the_whole(monkeypatch):
    rng = np.random.default_rng(3)
    matched = PLANE + rng.uniform(-1, 1.5, PLANE.shape).astype(np.float32)
    whole = add_relief((PLANE.copy(), matched, SURE), 2.0)
    monkeypatch.setattr(relief, "ROWS", 7)
    np.testing.assert_allclose(add_relief((PLANE.copy(), matched, SURE), 2.0), whole, atol=1e-3)


def test_disparities_stay_in_their_range():
    above = add_relief((PLANE.copy(), PLANE + 1, SURE), 2.0, 0.0, 20.25)
    assert above.max() == 20.25
    below = add_relief((PLANE.copy(), PLANE - 1, SURE), 2.0, 19.75)
    assert below.min() == 19.75
