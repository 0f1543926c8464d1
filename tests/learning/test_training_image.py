"""An image to learn from: its particles, its losses, and the planes that each round adds."""

import numpy as np
import pytest

from slanted import Settings
from slanted.boundary_label import BoundaryLabel
from slanted.learning.examples import NAMES
from slanted.learning.sources import TrainingPair
from slanted.learning.training_image import LABEL_LOSS, TrainingImage
from slanted.learning.weights_file import weights_in
from slanted.pipeline import estimate
from slanted.synthetic import make_scene

SETTINGS = Settings.preset("paper").with_text(
    {
        "learning.particles": "9",
        "inference.iterations": "2",
        "inference.proposals": "mixture",
        "inference.sweeps": "20",
        "threads": "1",
    }
)
SMOOTH = np.array([1.0, 0, 1e4, 1, 1, 1, 0, 0])
"""Weights that flatten everything."""


@pytest.fixture(scope="module")
def scene():
    return make_scene(128, 96, segments=20, objects=2, max_disparity=30.0, noise=4.0, seed=1)


def estimated(scene, disparity=None, settings=SETTINGS):
    given = scene.disparity if disparity is None else disparity
    return estimate(scene.left, scene.right, settings, disparity=given, segments=scene.segments)


@pytest.fixture(scope="module")
def result(scene):
    return estimated(scene)


@pytest.mark.parametrize("proposals", ["mixture", "paper+incumbent", "paper"])
def test_ground_truth_comes_first_and_a_run_is_repeated_exactly(scene, result, proposals):
    settings = SETTINGS.with_text({"learning.proposals": proposals})
    example, again = (
        TrainingImage("scene", result, scene.disparity, settings).example() for _ in range(2)
    )
    assert example.seg.shape[1] == example.losses.shape[1] == 9
    np.testing.assert_allclose(example.losses[:, 0], 0, atol=0.05)
    assert (example.losses >= 0).all()
    assert (example.losses[:, 3:].mean(axis=1) > 0).any()
    for name, value in vars(example).items():
        np.testing.assert_array_equal(value, getattr(again, name))


def test_a_search_adds_its_solution_and_keeps_those_before(scene, result):
    image = TrainingImage("scene", result, scene.disparity, SETTINGS)
    first, before = image.example(), image.task_loss()
    np.testing.assert_allclose(first.losses[:, 2].sum(), before)
    image.search(SMOOTH)
    second, after = image.example(), image.task_loss()
    assert after > before, "over-smoothed planes are worse"
    np.testing.assert_allclose(second.losses[:, 2].sum(), after)
    np.testing.assert_array_equal(second.losses[:, :2], first.losses[:, :2])
    np.testing.assert_array_equal(second.seg[:, 3], first.seg[:, 2])
    np.testing.assert_allclose(second.truth_features(), first.truth_features())


def test_inference_on_the_same_segments_is_that_of_the_pipeline(scene, result):
    """With the weights of the settings, a search finds the planes of the result again."""
    image = TrainingImage("scene", result, scene.disparity, SETTINGS)
    weights = np.array([getattr(SETTINGS.model.weights, name) for name in NAMES])
    before = image.task_loss()
    image.search(weights)
    assert image.task_loss() == pytest.approx(before, rel=1e-9)


def test_losses_of_an_image_are_in_proportion_to_its_matches(scene):
    """A loss must not outweigh φ_seg where only one pixel in nine has a match."""
    v, u = np.indices(scene.disparity.shape)
    sparse = np.where((u % 3 == 0) & (v % 3 == 0), scene.disparity, np.nan)
    planes = np.zeros((len(scene.planes), 1, 3))  # wrong by more than K everywhere
    for given in (scene.disparity, sparse):
        image = TrainingImage("scene", estimated(scene, given), scene.disparity, SETTINGS)
        share = np.isfinite(given).mean()
        kept = image.truth.kept.segments
        losses = image._losses(planes[kept])[:, 0]
        truncated = SETTINGS.model.truncation**2
        np.testing.assert_allclose(losses, truncated * share * image.regions.size[kept])


def test_a_target_within_reach_is_a_compromise_of_energy_and_loss(scene):
    """Better by energy plus loss than both the ground truth and what inference found."""
    rng = np.random.default_rng(0)
    spoilt = scene.disparity + 20 * (scene.segments % 4 == 0)  # a quarter has wrong matches
    spoilt = (spoilt + rng.normal(0, 0.3, spoilt.shape)).astype(np.float32)
    image = TrainingImage("scene", estimated(scene, spoilt), scene.disparity, SETTINGS)
    plain, example = image.example(), image.example(1.0)
    assert plain.target is None
    np.testing.assert_array_equal(plain.target_features(), plain.truth_features())
    weights = weights_in(SETTINGS)

    def total(planes, labels):
        row = np.arange(len(planes))
        loss = example.losses[row, planes].sum()
        return weights @ example.features(planes, labels) + loss, loss

    count = len(example.seg)
    truth = total(np.zeros(count, np.int32), example.labels)
    found = total(*example.target)
    assert found[0] < truth[0]
    assert found[1] < total(np.full(count, 2, np.int32), example.labels)[1], "less loss than found"
    assert found[1] > 0, "segments with wrong matches are given up"
    np.testing.assert_allclose(example.target_features(), example.features(*example.target))
    # The larger the weights, the less the loss counts.
    assert total(*image.example(100.0).target)[1] > found[1]


def test_the_scale_of_the_loss_is_a_factor(scene, result):
    once, thrice = (
        TrainingImage("scene", result, scene.disparity, SETTINGS.with_text(change)).example()
        for change in ({}, {"learning.loss_scale": "3"})
    )
    np.testing.assert_allclose(3 * once.losses, thrice.losses)


def test_exact_labels_are_found_again_when_segments_are_numbered_anew(scene):
    count = len(scene.planes)
    turned = count - 1 - scene.segments
    result = estimate(scene.left, scene.right, SETTINGS, disparity=scene.disparity, segments=turned)
    # The same scene in the user's numbers: pairs in order, labels seen from the other side.
    edges = count - 1 - scene.edges[:, ::-1]
    labels = np.array([BoundaryLabel(int(o)).flipped() for o in scene.labels])
    pair = TrainingPair(
        scene.left, scene.right, scene.disparity, segments=turned, edges=edges, labels=labels
    )
    found = pair.labels_in(result.regions)
    number = np.empty(count, int)
    number[result.regions.label_image] = scene.segments
    exact = {
        tuple(edge): BoundaryLabel(int(o))
        for edge, o in zip(scene.edges.tolist(), scene.labels, strict=True)
    }
    for (i, j), label in zip(number[result.regions.edges].tolist(), found, strict=True):
        assert label == (exact[i, j] if i < j else exact[j, i].flipped())
    image = TrainingImage("scene", result, scene.disparity, SETTINGS, found)
    np.testing.assert_array_equal(image.truth.labels, found[image.truth.kept.edge_numbers])


def test_wrong_labels_cost_something_where_the_true_ones_are_exact(scene, result):
    exact = scene.labels[: result.regions.number_of_edges]
    known = TrainingImage("scene", result, scene.disparity, SETTINGS, exact)
    example = known.example()
    cost = LABEL_LOSS * example.losses.mean()
    expected = np.where(np.arange(4) == example.labels[:, None], 0, cost)
    np.testing.assert_allclose(example.label_losses, expected)
    wrong = result.inference.labels[known.truth.kept.edge_numbers] != example.labels
    planes = example.losses[:, 2].sum()
    assert known.task_loss() == pytest.approx(planes + cost * wrong.sum())
    known.search(SMOOTH)
    assert known.example().label_losses.max() == pytest.approx(cost), "the same in all rounds"
    guessed = TrainingImage("scene", result, scene.disparity, SETTINGS).example()
    assert not guessed.label_losses.any()


def test_without_exact_labels_there_are_none(scene, result):
    assert TrainingPair(scene.left, scene.right, scene.disparity).labels_in(result.regions) is None
