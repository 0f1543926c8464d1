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
    found = add_relief((disparity, matched, confidence), 2.0)
    wanted = naive_confidence.relief(disparity, matched, confidence, 2.0)
    np.testing.assert_allclose(found, wanted, atol=2e-3)


def test_a_bump_that_matches_agree_on_is_drawn():
    y, x = np.mgrid[:40, :60]
    bump = np.maximum(0, 1 - np.hypot(y - 20, x - 30) / 25).astype(np.float32)
    found = add_relief((PLANE, PLANE + bump, SURE), 2.0)
    wrong = np.abs(found - PLANE - bump)[8:-8, 8:-8]
    assert wrong.mean() < 0.5 * bump[8:-8, 8:-8].mean()
    assert found.dtype == np.float32


def test_noise_alone_adds_little():
    noise = np.random.default_rng(0).normal(0, 0.5, PLANE.shape).astype(np.float32)
    added = add_relief((PLANE, PLANE + noise, SURE), 2.0) - PLANE
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
    found = add_relief((PLANE, matched, confidence), most)
    np.testing.assert_array_equal(found, PLANE)
    assert found is not PLANE


def test_bands_of_rows_are_as_the_whole(monkeypatch):
    rng = np.random.default_rng(3)
    matched = PLANE + rng.uniform(-1, 1.5, PLANE.shape).astype(np.float32)
    whole = add_relief((PLANE, matched, SURE), 2.0)
    monkeypatch.setattr(relief, "ROWS", 7)
    np.testing.assert_allclose(add_relief((PLANE, matched, SURE), 2.0), whole, atol=1e-3)


def test_disparities_stay_in_their_range():
    above = add_relief((PLANE, PLANE + 1, SURE), 2.0, 0.0, 20.25)
    assert above.max() == 20.25
    below = add_relief((PLANE, PLANE - 1, SURE), 2.0, 19.75)
    assert below.min() == 19.75
