"""The paper's noise table: scenes with a few noisy disparities on every boundary."""

import numpy as np
import pytest

import naive_synthetic
from slanted.errors import InputError
from slanted.synthetic import noise_set


@pytest.fixture(scope="module")
def noisy():
    return list(noise_set(20, 1.0, seed=0))


def test_noise_set_has_the_papers_size_and_number_of_superpixels(noisy):
    assert all(item.scene.disparity.shape == (240, 320) for item in noisy)
    assert np.mean([len(item.scene.planes) for item in noisy]) == pytest.approx(108, abs=3)


def test_noise_set_measures_three_to_five_pixels_of_each_boundary(noisy):
    for item in noisy:
        per_boundary = np.bincount(item.point_edges, minlength=len(item.scene.edges))
        assert set(per_boundary.tolist()) == {3, 4, 5}
        placed = np.column_stack([item.point_edges, item.points])
        assert len(np.unique(placed, axis=0)) == len(placed)
        measured = np.zeros(item.disparity.shape, bool)
        measured[item.points[:, 1], item.points[:, 0]] = True
        assert (np.isfinite(item.disparity) == measured).all()
    item = noisy[0]
    for edge, (i, j) in enumerate(item.scene.edges):
        u, v = item.points[item.point_edges == edge].T
        assert naive_synthetic.boundary(item.scene.segments, i, j)[v, u].all()


def test_noise_set_recovers_sigma(noisy):
    errors = np.concatenate(
        [(item.disparity - item.scene.disparity)[np.isfinite(item.disparity)] for item in noisy]
    )
    assert len(errors) > 10_000
    assert errors.std() == pytest.approx(1.0, abs=0.03)
    assert errors.mean() == pytest.approx(0.0, abs=0.03)


def test_noise_scales_with_sigma_on_the_same_scenes(noisy):
    (exact,) = noise_set(1, 0.0, seed=0)
    (heavy,) = noise_set(1, 5.0, seed=0)
    known = np.isfinite(exact.disparity)
    assert (exact.disparity[known] == exact.scene.disparity[known]).all()
    assert (heavy.points == exact.points).all()
    assert heavy.disparity[known].min() >= 0
    true = exact.scene.disparity[known]
    expected = np.maximum(true + 5.0 * (noisy[0].disparity[known] - true), 0.0)
    assert np.allclose(heavy.disparity[known], expected, atol=1e-4)


@pytest.mark.parametrize(("count", "sigma", "seed"), [(-1, 1.0, 0), (1, -1.0, 0), (1, 1.0, -1)])
def test_noise_set_refuses_bad_arguments_at_once(count, sigma, seed):
    with pytest.raises(InputError):
        noise_set(count, sigma, seed=seed)
