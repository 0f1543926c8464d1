"""All planes at once: the least squares solution, and what nothing holds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slanted.boundary_label import BoundaryLabel
from slanted.inference.joint_fit import fit_jointly
from slanted.inference.joint_kernels import add_blocks, solve_blocks
from slanted.inference.local_fit import (
    NOISE_SAMPLED,
    fit_local_planes,
    match_noise,
    sampled_residuals,
)
from slanted.inference.pcbp import data_scale
from slanted.model.drawing import draw_planes
from slanted.model.energy import energy
from slanted.model.evidence import Evidence
from slanted.model.observations import observe
from slanted.regions import build_regions
from slanted.runtime.threads import thread_limit
from slanted.settings import Settings

MODEL = (
    Settings()
    .with_text({"model.weights.bdy1": "0", "model.weights.bdy2": "20", "model.weights.vis": "0"})
    .model
)


def joined(scene):
    return np.minimum(scene.labels, BoundaryLabel.HINGE).astype(np.int32)


def test_no_other_planes_have_a_lower_quadratic_energy(scene, regions):
    """All matches are inliers, so the energy itself is quadratic: compared with perturbations."""
    rng = np.random.default_rng(1)
    model = Settings().with_text({"model.truncation": "1000"}).model
    model = type(model)(**{**vars(model), "weights": MODEL.weights})
    observed, labels = observe(regions, Evidence(scene.disparity)), joined(scene)
    start = fit_local_planes(regions, observed, 5.0)
    best = fit_jointly(regions, observed, start, labels, model)
    least = energy(regions, observed, best, labels, model).total(model.weights)
    assert least < energy(regions, observed, start, labels, model).total(model.weights)
    for size in (1e-2, 1e-1, 1):
        other = best + rng.normal(0, size, (regions.count, 3)) * [0.02, 0.02, 1]
        assert energy(regions, observed, other, labels, model).total(model.weights) > least


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 7), st.integers(0, 12))
def test_blocks_are_solved_as_by_a_dense_matrix(seed, count, pairs):
    """A is a sum of squares of random differences, as gaps are, and of what holds each block."""
    rng = np.random.default_rng(seed)
    first, second = rng.integers(0, count, (2, pairs)).astype(np.int32)
    first, second = first[first != second], second[first != second]
    one, other = rng.normal(0, 1, (2, len(first), 4, 3))
    held = rng.normal(0, 1, (count, 5, 3))
    diagonal = np.swapaxes(held, 1, 2) @ held + 0.1 * np.eye(3)
    dense = np.zeros((count, 3, count, 3))
    for i in range(count):
        dense[i, :, i] = diagonal[i]
    for e, (i, j) in enumerate(zip(first, second, strict=True)):
        dense[i, :, i] += one[e].T @ one[e]
        dense[j, :, j] += other[e].T @ other[e]
        dense[i, :, j] -= one[e].T @ other[e]
        dense[j, :, i] -= other[e].T @ one[e]
    add_blocks(np.swapaxes(one, 1, 2) @ one, first, diagonal)
    add_blocks(np.swapaxes(other, 1, 2) @ other, second, diagonal)
    right, start = rng.normal(0, 9, (2, count, 3))
    across = np.swapaxes(one, 1, 2) @ other
    found = solve_blocks(diagonal, first, second, across, right, start, 1e-10, 500)
    expected = np.linalg.solve(dense.reshape(3 * count, -1), right.ravel()).reshape(-1, 3)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_what_has_no_least_point_stays_as_it_was():
    """Differences that weigh more than what holds both: A falls along one way without end."""
    diagonal, ends = np.tile(np.eye(3), (2, 1, 1)), np.array([[0], [1]], np.int32)
    right, start = np.ones((2, 3)), np.zeros((2, 3))
    for across, expected in ((0.5, 2 * right), (2.0, start)):  # x − x/2 = 1, and 1 − 2 < 0
        found = solve_blocks(diagonal, *ends, across * diagonal[:1], right, start, 1e-10, 50)
        np.testing.assert_allclose(found, expected, atol=1e-9)


def test_slopes_reach_segments_without_matches(scene):
    """A wall of which only one half is matched continues into the other."""
    labels = np.repeat(np.arange(8), 12)[None].repeat(24, axis=0).astype(np.int32)
    regions = build_regions(labels, np.zeros((24, 96, 3), np.uint8))
    wall = (40 - 0.25 * np.arange(96))[None].repeat(24, axis=0).astype(np.float32)
    disparity = wall.copy()
    disparity[:, 48:] = np.nan
    observed = observe(regions, Evidence(disparity))
    level = np.tile([0.0, 0.0, 20.0], (8, 1))
    level[:4] = fit_local_planes(regions, observed, 3.0)[:4]
    found = fit_jointly(regions, observed, level, np.zeros(7, np.int32), MODEL)
    np.testing.assert_allclose(found[:, 0], -0.25, atol=0.01)
    np.testing.assert_allclose(found[7, 2], wall[0, 84:].mean(), atol=0.5)


def test_what_nothing_holds_stays(scene, regions):
    planes = np.tile([0.1, -0.2, 9.0], (regions.count, 1))
    unknown = observe(regions, Evidence(np.full(scene.disparity.shape, np.nan)))
    occluded = np.full(len(regions.edges), BoundaryLabel.LEFT_OCCLUSION, np.int32)
    np.testing.assert_allclose(
        fit_jointly(regions, unknown, planes, occluded, MODEL), planes, atol=1e-9
    )


@pytest.mark.parametrize("offset", [0, 1, 7, 12])
def test_residuals_are_of_every_fifth_match_of_the_whole(scene, regions, offset):
    planes = np.random.default_rng(1).normal(0, 1, (regions.count, 3))
    observed = observe(regions, Evidence(np.where(scene.disparity > 9, np.nan, scene.disparity)))
    matches = observed.segments
    number = matches.start[:-1] + offset * np.arange(regions.count)  # as if others lay between
    expected = [
        abs(planes[i] @ (matches.du[k], matches.dv[k], 1) - matches.disparity[k])
        for i in range(regions.count)
        for k in range(matches.start[i], matches.start[i + 1])
        if (number[i] + k - matches.start[i]) % NOISE_SAMPLED == 0
    ]
    np.testing.assert_allclose(sampled_residuals(observed, planes, number), expected)
    if offset == 0:
        np.testing.assert_allclose(sampled_residuals(observed, planes), expected)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 9), st.integers(1, 9), st.integers(1, 4))
def test_planes_are_drawn_pixel_by_pixel(seed, height, width, threads):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, (height, width)).astype(np.int32)
    centre, planes = rng.normal(0, 5, (3, 2)), rng.normal(0, 2, (3, 3))
    with thread_limit(threads):
        drawn = draw_planes(labels, centre, planes)
    for y, x in np.ndindex(height, width):
        i = labels[y, x]
        expected = planes[i] @ (x - centre[i, 0], y - centre[i, 1], 1)
        assert drawn[y, x] == pytest.approx(expected, rel=1e-5, abs=1e-5)


def test_noise_is_estimated_and_scales_the_data(scene, regions):
    rng = np.random.default_rng(0)
    for sigma in (0.1, 0.3, 0.9):
        noisy = scene.disparity + rng.normal(0, sigma, scene.disparity.shape)
        noisy[rng.random(noisy.shape) < 0.03] += 30  # outliers
        observed = observe(regions, Evidence(noisy))
        found = match_noise(observed, fit_local_planes(regions, observed, 3.0))
        assert found == pytest.approx(sigma, rel=0.15)
    model = Settings().model
    assert data_scale(model.reference_noise, model) == 1
    assert data_scale(model.reference_noise / 2, model) == pytest.approx(4)
    assert data_scale(0.0, model) == 8
    assert data_scale(99.0, model) == 0.5
    unknown = observe(regions, Evidence(np.full(scene.disparity.shape, np.nan)))
    assert match_noise(unknown, np.zeros((regions.count, 3))) == 0
    paper = Settings().with_text({"model.reference_noise": "0"}).model
    assert data_scale(0.1, paper) == 1
