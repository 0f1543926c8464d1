"""Planes and labels from ground truth: what is known is right, what is not is left out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_learning
from slanted.boundary_label import BoundaryLabel
from slanted.errors import InputError, SettingsError
from slanted.learning.ground_truth import find_truth, induced_subgraph
from slanted.learning.losses import LOSS_NAMES, map_loss, outlier_counts, particle_losses
from slanted.regions import build_regions
from slanted.settings import ModelSettings
from slanted.synthetic import make_scene

MODEL = ModelSettings()


@pytest.fixture(scope="module")
def scene():
    return make_scene(160, 120, segments=40, objects=3, seed=3)


@pytest.fixture(scope="module")
def regions(scene):
    return build_regions(scene.segments, scene.left)


def test_planes_and_labels_of_an_exact_scene_are_found(scene, regions):
    truth = find_truth(regions, scene.disparity, MODEL)
    kept = truth.kept.segments
    assert len(kept) >= regions.count - 2  # slivers may be too thin for a plane
    np.testing.assert_allclose(truth.planes[kept], scene.planes[kept], atol=1e-4)
    exact = scene.labels[truth.kept.edge_numbers]
    occluded = exact >= BoundaryLabel.LEFT_OCCLUSION
    # Bodies are at least 3 px apart; creases may be too faint to cost more than λ_hinge.
    assert (truth.labels[occluded] == exact[occluded]).mean() > 0.95
    assert (truth.labels[exact == BoundaryLabel.COPLANAR] == BoundaryLabel.COPLANAR).mean() > 0.98


def test_outliers_do_not_move_planes(scene, regions):
    rng = np.random.default_rng(0)
    wrong = rng.random(scene.disparity.shape) < 0.2
    truth = find_truth(regions, np.where(wrong, scene.disparity + 20, scene.disparity), MODEL)
    kept = truth.kept.segments
    assert np.median(np.abs(truth.planes[kept] - scene.planes[kept])) < 1e-4


def test_segments_without_ground_truth_are_left_out_with_all_that_touches_them(scene, regions):
    gone = np.arange(regions.count) % 3 == 0
    truth = find_truth(regions, np.where(gone[scene.segments], np.nan, scene.disparity), MODEL)
    kept = truth.kept
    assert not set(kept.segments) & set(np.flatnonzero(gone))
    numbers = set(kept.segments.tolist())
    inside = [set(edge) <= numbers for edge in regions.edges.tolist()]
    np.testing.assert_array_equal(kept.edge_numbers, np.flatnonzero(inside))
    np.testing.assert_array_equal(kept.segments[kept.edges], regions.edges[kept.edge_numbers])
    for whole, part in (
        (regions.junctions3_edges, kept.junctions3),
        (regions.junctions4_edges, kept.junctions4),
    ):
        expected = [row for row in whole.tolist() if all(inside[e] for e in row)]
        assert kept.edge_numbers[part].tolist() == expected


def test_few_pixels_and_pixels_on_a_line_are_not_enough(scene, regions):
    biggest = int(np.argmax(regions.size))
    pixels = regions.pixels(biggest)
    width = scene.disparity.shape[1]
    for chosen in (pixels[:9], pixels[pixels // width == np.median(pixels // width)]):
        sparse = np.full(scene.disparity.shape, np.nan)
        sparse.reshape(-1)[chosen] = scene.disparity.reshape(-1)[chosen]
        with pytest.raises(
            InputError, match="ground truth: expected 10 known pixels, not on a line"
        ):
            find_truth(regions, sparse, MODEL)


def test_ground_truth_of_another_size_is_refused(scene, regions):
    with pytest.raises(
        InputError, match="expected the size of the left image, 160×120, got 159×120"
    ):
        find_truth(regions, scene.disparity[:, 1:], MODEL)


def test_joint_labels_make_fewer_impossible_junctions(regions):
    rng = np.random.default_rng(1)
    noisy = 20 + 4 * rng.standard_normal(regions.count)[regions.label_image]
    from slanted.model.junctions import junction3_impossible

    counts = {}
    for rule in ("planes", "joint"):
        truth = find_truth(regions, noisy, MODEL, rule)
        around = truth.labels[truth.kept.junctions3].T
        counts[rule] = junction3_impossible()[tuple(around)].sum()
    assert counts["joint"] < counts["planes"]


def test_the_subgraph_of_everything_is_the_graph(regions):
    kept = induced_subgraph(regions, np.ones(regions.count, bool))
    np.testing.assert_array_equal(kept.edges, regions.edges)
    np.testing.assert_array_equal(kept.junctions3, regions.junctions3_edges)
    np.testing.assert_array_equal(kept.junctions4, regions.junctions4_edges)


@given(st.integers(0, 10_000))
@settings(max_examples=20, deadline=None)
def test_outliers_are_counted_as_by_the_plain_loops(seed):
    rng = np.random.default_rng(seed)
    start = np.concatenate([[0], np.cumsum(rng.integers(0, 6, 4))])
    du, dv = rng.integers(-5, 6, (2, start[-1])).astype(float)
    disparity = rng.integers(0, 20, start[-1]).astype(float)
    planes = rng.integers(-2, 3, (4, 3, 3)).astype(float)  # errors that equal the threshold occur
    arguments = (start, du, dv, disparity, planes, 3.0)
    np.testing.assert_array_equal(
        outlier_counts(*arguments), naive_learning.outlier_counts(*arguments)
    )


def test_losses_count_pixels_and_are_zero_for_ground_truth(scene, regions):
    sparse = np.where(
        np.indices(scene.disparity.shape).sum(axis=0) % 3 == 0, scene.disparity, np.nan
    )
    truth = find_truth(regions, sparse, MODEL)
    segments = truth.kept.segments
    sizes = regions.size[segments]
    particles = np.stack(
        [scene.planes + np.array([0, 0, shift]) for shift in (0, 3.5, 40)], axis=1
    )[segments]
    for name in LOSS_NAMES:
        losses = particle_losses(name, truth.pixels, segments, sizes, particles, 5.0)
        np.testing.assert_allclose(losses[:, 0], 0, atol=0.02)
        np.testing.assert_allclose(losses[:, 2], 25 * sizes)  # every pixel, those without truth too
        share = {"l2": 3.5**2 / 25, "out-2px": 1, "out-3px": 1, "out-4px": 0, "out-5px": 0}[name]
        np.testing.assert_allclose(losses[:, 1], 25 * share * sizes, atol=0.5 * sizes.max())
    with pytest.raises(SettingsError, match="loss: expected one of l2"):
        particle_losses("l1", truth.pixels, segments, sizes, particles, 5.0)


def test_the_loss_of_a_map_is_a_mean_over_known_pixels():
    truth = np.array([[10.0, 10, 10, np.nan]])
    disparity = np.array([[11.0, 13.5, 30, 0]])
    expected = {"l2": (1 + 3.5**2 + 25) / 3, "out-2px": 50 / 3, "out-3px": 50 / 3}
    for name in LOSS_NAMES:
        found = map_loss(name, disparity, truth, 5.0)
        assert found == pytest.approx(expected.get(name, 25 / 3))
