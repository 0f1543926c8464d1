"""Pooled fits: which segments pool, whose matches, and the planes that come of it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from slanted.inference.local_fit import fit_local_planes
from slanted.inference.pooled_fit import (
    WANTED,
    few_matches,
    fit_initial_planes,
    neighbourhoods,
    pool,
)
from slanted.model.drawing import draw_disparity
from slanted.model.evidence import Evidence
from slanted.model.observations import observe
from slanted.regions import build_regions


@pytest.fixture(scope="module")
def squares():
    """Six by eight segments of 10 × 10 pixels."""
    rows, columns = np.indices((60, 80)) // 10
    return build_regions((rows * 8 + columns).astype(np.int32))


def sloped():
    rows, columns = np.indices((60, 80))
    return (0.05 * columns + 0.1 * rows + 7).astype(np.float32)


def test_segments_have_few_matches_by_the_mean_density(squares):
    matched = np.full(squares.count, 40)
    matched[[3, 20]] = 19, 21
    mean = matched.mean()
    assert few_matches(squares, matched, 0.5).tolist() == [3]
    assert few_matches(squares, matched, 21.5 / mean).tolist() == [3, 20]
    # Matches that are sparse everywhere are not few anywhere.
    assert few_matches(squares, matched // 10, 0.25).size == 0
    assert few_matches(squares, matched, 0.0).size == 0


@given(st.integers(0, 2**32 - 1), st.floats(0, 1))
def test_rings_are_those_of_a_search_from_each_segment(regions, seed, empty):
    rng = np.random.default_rng(seed)
    n = regions.count
    matched = rng.integers(0, 50, n) * (rng.random(n) >= empty)
    chosen = np.sort(rng.choice(n, rng.integers(1, n), replace=False))
    pools = neighbourhoods(regions, chosen, matched)
    assert pools.shape == (len(chosen), n)
    for row, segment in enumerate(chosen):
        expected = naive.rings(regions, segment, matched, WANTED * matched.mean())
        members = pools.indices[pools.indptr[row] : pools.indptr[row + 1]]
        assert members.tolist() == sorted(expected)


def test_a_pool_has_the_matches_of_its_members_about_its_own_centre(squares):
    disparity = sloped()
    disparity[np.random.default_rng(0).random(disparity.shape) < 0.5] = np.nan
    weights = np.random.default_rng(1).random(disparity.shape).astype(np.float32)
    observed = observe(squares, Evidence(disparity, weights)).segments
    chosen = np.array([0, 9])
    pools = neighbourhoods(squares, chosen, np.diff(observed.start))
    pooled = pool(squares, observed, chosen, pools)
    for k, (segment, members) in enumerate([(0, [0, 1, 2, 8, 9, 16]), (9, [1, 8, 9, 10, 17])]):
        assert pools.indices[pools.indptr[k] : pools.indptr[k + 1]].tolist() == members
        rows, columns = np.nonzero(np.isin(squares.label_image, members) & np.isfinite(disparity))
        some = slice(pooled.start[k], pooled.start[k + 1])
        u, v = squares.centre[segment]
        found = np.stack([pooled.du[some] + u, pooled.dv[some] + v], axis=1)
        order = np.lexsort(found.T)
        np.testing.assert_allclose(found[order], np.stack([columns, rows], axis=1))
        np.testing.assert_array_equal(pooled.disparity[some][order], disparity[rows, columns])
        np.testing.assert_array_equal(pooled.weight[some][order], weights[rows, columns])


def test_a_few_wrong_matches_no_longer_make_a_plane(squares):
    disparity = sloped()
    bad = squares.label_image == 27
    disparity[bad] = np.nan
    disparity[30:33, 30:38] = 60  # 24 of its 100 pixels, all wrong
    observed = observe(squares, Evidence(disparity))
    alone = draw_disparity(squares, fit_initial_planes(squares, observed, 5.0, 0.0))
    pooled = draw_disparity(squares, fit_initial_planes(squares, observed, 5.0, 0.5))
    assert np.abs(alone - sloped())[bad].min() > 30
    np.testing.assert_allclose(pooled, sloped(), atol=1e-3)


def test_segments_with_enough_matches_keep_their_own_fit(scene, regions):
    rng = np.random.default_rng(0)
    disparity = scene.disparity + rng.normal(0, 0.5, scene.disparity.shape).astype(np.float32)
    disparity[(scene.segments % 7 == 0) & (rng.random(disparity.shape) < 0.8)] = np.nan
    observed = observe(regions, Evidence(disparity))
    own = fit_local_planes(regions, observed, 5.0)
    np.testing.assert_array_equal(fit_initial_planes(regions, observed, 5.0, 0.0), own)
    pooled = fit_initial_planes(regions, observed, 5.0, 0.5)
    chosen = np.zeros(regions.count, np.bool_)
    chosen[few_matches(regions, np.diff(observed.segments.start), 0.5)] = True
    assert 0 < chosen.sum() < regions.count / 2
    np.testing.assert_array_equal(pooled[~chosen], own[~chosen])
    assert (pooled[chosen] != own[chosen]).any(axis=1).all()


def test_without_any_match_nothing_is_pooled_forever(squares):
    nothing = np.full((60, 80), np.nan, np.float32)
    observed = observe(squares, Evidence(nothing))
    assert (fit_initial_planes(squares, observed, 5.0, 1.0) == 0).all()
    lonely = nothing.copy()
    lonely[5, 5] = 12
    observed = observe(squares, Evidence(lonely))
    assert (draw_disparity(squares, fit_initial_planes(squares, observed, 5.0, 0.5)) == 12).all()
