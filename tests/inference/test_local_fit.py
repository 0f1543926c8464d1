"""Local fits, proposals, and planes drawn as pixels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from slanted.inference.local_fit import fill_from_neighbours, fit_local_planes
from slanted.inference.particles import propose
from slanted.inference.plane_kernels import fit_robustly, inlier_moments
from slanted.model.drawing import draw_disparity, hidden_pixels
from slanted.model.evidence import Evidence
from slanted.model.observations import observe
from slanted.model.planes import shifted_planes
from slanted.regions import build_regions
from slanted.settings import Settings


def test_exact_matches_give_exact_planes(scene, regions):
    observed = observe(regions, Evidence(scene.disparity))
    planes = fit_local_planes(regions, observed, 5.0)
    np.testing.assert_allclose(draw_disparity(regions, planes), scene.disparity, atol=1e-3)


def test_a_third_of_wild_matches_is_shrugged_off(scene, regions):
    rng = np.random.default_rng(0)
    disparity = scene.disparity.copy()
    wild = rng.random(disparity.shape) < 0.33
    disparity[wild] = rng.uniform(0, 60, wild.sum())
    planes = fit_local_planes(regions, observe(regions, Evidence(disparity)), 5.0)
    error = np.abs(draw_disparity(regions, planes) - scene.disparity)
    assert np.median(error) < 0.3
    assert (error > 3).mean() < 0.05


def test_segments_without_matches_continue_the_farthest_neighbour(scene, regions):
    disparity = scene.disparity.copy()
    empty = 40
    disparity[scene.segments == empty] = np.nan
    planes = fit_local_planes(regions, observe(regions, Evidence(disparity)), 5.0)
    others = regions.neighbours(empty)
    shift = regions.centre[empty] - regions.centre[others]
    extended = shifted_planes(planes[others], shift)
    np.testing.assert_allclose(planes[empty], extended[np.argmin(extended[:, 2])])


def test_few_or_narrow_matches_make_a_level_plane(scene, regions):
    disparity = np.full(scene.disparity.shape, np.nan, np.float32)
    rows, columns = np.nonzero(scene.segments == 30)
    disparity[rows[:4], columns[:4]] = 20  # four pixels in a row, and nothing else anywhere
    planes = fit_local_planes(regions, observe(regions, Evidence(disparity)), 5.0)
    assert (draw_disparity(regions, planes) == 20).all()


def test_planes_spread_over_large_holes_and_nothing_known_stays(regions):
    planes = np.zeros((regions.count, 3))
    known = np.zeros(regions.count, bool)
    np.testing.assert_array_equal(fill_from_neighbours(regions, planes, known), planes)
    planes[7] = 0.01, -0.02, 9
    known[7] = True
    filled = fill_from_neighbours(regions, planes, known)
    drawn = draw_disparity(regions, filled, lowest=-1e6)
    u, v = regions.centre[7]
    rows, columns = np.indices(drawn.shape)
    np.testing.assert_allclose(drawn, 0.01 * (columns - u) - 0.02 * (rows - v) + 9, atol=1e-4)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.1, 30))
def test_moments_equal_their_naive_twin(seed, reach):
    rng = np.random.default_rng(seed)
    start = np.concatenate([[0], np.cumsum(rng.integers(0, 7, 5))])
    du, dv, disparity, weight = rng.uniform(-9, 9, (4, start[-1]))
    planes = rng.uniform(-1, 1, (5, 3))
    ours = inlier_moments(start, du, dv, disparity, np.abs(weight), planes, reach)
    twin = naive.inlier_moments(start, du, dv, disparity, np.abs(weight), planes, reach)
    np.testing.assert_allclose(ours, twin, atol=1e-9)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_robust_fits_equal_their_naive_twin(seed):
    rng = np.random.default_rng(seed)
    start = np.concatenate([[0], np.cumsum(rng.integers(0, 25, 4))])
    du, dv = rng.integers(-9, 10, (2, start[-1])).astype(float)
    disparity = 0.2 * du - 0.1 * dv + rng.choice([0, 20], start[-1]) + rng.normal(0, 1, start[-1])
    weight = rng.uniform(0.5, 2, start[-1])
    level, spread = rng.uniform(0, 20, 4), rng.uniform(0, 40, 4)
    reaches = np.array([20.0, 10.0, 5.0])
    planes, told = fit_robustly(start, du, dv, disparity, weight, level, spread, reaches)
    for i in range(4):
        own = slice(start[i], start[i + 1])
        points = list(zip(du[own], dv[own], disparity[own], weight[own], strict=True))
        expected, slopes = naive.fit_robustly(points, level[i], spread[i], reaches)
        np.testing.assert_allclose(planes[i], expected, atol=1e-8)
        assert told[i] == slopes


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_hidden_pixels_equal_their_naive_twin(seed):
    rng = np.random.default_rng(seed)
    disparity = rng.uniform(-2, 9, (3, 15)).astype(np.float32)
    np.testing.assert_array_equal(hidden_pixels(disparity), naive.hidden_pixels(disparity))


def test_hidden_pixels_are_those_of_the_scene(scene):
    found = hidden_pixels(scene.disparity)
    assert (found == scene.occluded).mean() > 0.98
    assert found[scene.occluded].mean() > 0.9


def test_negative_disparities_are_lifted(regions):
    planes = np.full((regions.count, 3), [0, 0, -5.0])
    assert (draw_disparity(regions, planes) == 0).all()
    assert (draw_disparity(regions, planes, lowest=-3) == -3).all()


@pytest.mark.parametrize("kind", ["paper", "paper+incumbent", "mixture"])
@pytest.mark.parametrize("count", [1, 2, 3, 10])
def test_proposals(scene, regions, kind, count):
    options = Settings().with_text({"inference.proposals": kind, "inference.particles": str(count)})
    observed = observe(regions, Evidence(scene.disparity))
    planes = fit_local_planes(regions, observed, 5.0)
    labels = scene.labels.astype(np.int32)
    drawn = [propose(regions, observed, planes, labels, t, options) for t in (0, 0, 3)]
    assert drawn[0].shape == (regions.count, count, 3)
    np.testing.assert_array_equal(drawn[0], drawn[1])  # the seed decides
    if kind != "paper":
        np.testing.assert_array_equal(drawn[0][:, 0], planes)
    if count == 10:
        spread = [np.std(p[:, 8:, 2] - planes[:, None, 2]) for p in drawn]
        assert spread[2] < spread[0]


def test_the_papers_deviations(scene, regions):
    options = Settings().with_text({"inference.proposals": "paper", "inference.particles": "300"})
    observed = observe(regions, Evidence(scene.disparity))
    planes = np.zeros((regions.count, 3))
    for t in (0, 4):
        drawn = propose(regions, observed, planes, scene.labels, t, options)
        expected = np.array([0.5, 0.5, 5.0]) * np.exp(-(t + 1) / 10)
        np.testing.assert_allclose(drawn.std(axis=(0, 1)), expected, rtol=0.03)


def test_a_single_segment_has_no_neighbours_to_ask():
    one = build_regions(np.zeros((9, 12), np.int32), np.zeros((9, 12, 3), np.uint8))
    disparity = np.tile(np.arange(12, dtype=np.float32), (9, 1))
    observed = observe(one, Evidence(disparity))
    planes = fit_local_planes(one, observed, 5.0)
    np.testing.assert_allclose(planes, [[1, 0, 5.5]], atol=1e-9)
    drawn = propose(one, observed, planes, np.zeros(0, np.int32), 0, Settings())
    assert np.isfinite(drawn).all()
