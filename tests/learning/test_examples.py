"""An example's tables, weighted, are the factor graph that inference solves."""

import dataclasses

import numpy as np
import pytest

from naive_learning import weighted_graph
from slanted import Settings
from slanted.learning.examples import NAMES, build_example, tabulate
from slanted.learning.ground_truth import find_truth
from slanted.model import build_factor_graph, observe
from slanted.model.energy import energy
from slanted.model.evidence import Evidence
from slanted.pipeline import estimate
from slanted.synthetic import make_scene

SETTINGS = Settings().with_text(
    {
        "learning.particles": "6",
        "refinement.rounds": "0",
        "inference.iterations": "1",
        "model.reference_noise": "0",
    }
)


@pytest.fixture(scope="module")
def scene():
    return make_scene(128, 96, segments=20, objects=2, max_disparity=30.0, noise=4.0, seed=1)


@pytest.fixture(scope="module")
def result(scene):
    return estimate(scene.left, scene.right, SETTINGS, segments=scene.segments)


def test_weighted_tables_are_the_factor_graph_of_the_model(scene, result):
    regions = result.regions
    truth = find_truth(regions, scene.disparity, SETTINGS.model)
    rng = np.random.default_rng(0)
    particles = scene.planes[:, None] + rng.normal(0, 1, (regions.count, 4, 3)) * [0.1, 0.1, 2]
    observations = observe(regions, Evidence(result.matched, census=result.census))
    example = tabulate("scene", regions, observations, truth, particles, SETTINGS)
    model = dataclasses.replace(
        SETTINGS.model,
        weights=dataclasses.replace(SETTINGS.model.weights, seg=0.3, bdy1=0.7, vis=2.0, pho=3.0),
    )
    weights = np.array([getattr(model.weights, name) for name in NAMES])
    ours = weighted_graph(example, weights)
    whole = build_factor_graph(regions, observations, particles, model)
    kept = truth.kept
    np.testing.assert_allclose(ours.node_costs, whole.node_costs[kept.segments])
    np.testing.assert_allclose(ours.edge_costs, whole.edge_costs[kept.edge_numbers], rtol=1e-6)
    np.testing.assert_allclose(ours.label_costs, whole.label_costs[kept.edge_numbers])
    np.testing.assert_allclose(ours.junction3_costs, whole.junction3_costs)
    np.testing.assert_allclose(ours.junction4_costs, whole.junction4_costs)


def test_features_of_a_labelling_are_those_of_the_model(scene, result):
    regions = result.regions
    truth = find_truth(regions, scene.disparity, SETTINGS.model)
    if len(truth.kept.segments) < regions.count:
        pytest.skip("a sliver has no plane")
    planes, labels = result.planes, result.labels
    observations = observe(regions, Evidence(result.matched, census=result.census))
    example = tabulate("scene", regions, observations, truth, planes[:, None], SETTINGS)
    found = example.features(np.zeros(regions.count, np.int32), labels)
    expected = energy(regions, observations, planes, labels, SETTINGS.model)
    # A potential of one's own has no weight that is learned.
    features = [value for name, value in dataclasses.asdict(expected).items() if name != "user"]
    np.testing.assert_allclose(found, features, rtol=1e-6)


@pytest.mark.parametrize("proposals", ["mixture", "paper+incumbent", "paper"])
def test_ground_truth_and_local_fit_are_the_first_particles(scene, result, proposals):
    settings = SETTINGS.with_text({"learning.proposals": proposals})
    example = build_example("scene", result, scene.disparity, settings)
    assert example.seg.shape[1] == 6
    np.testing.assert_allclose(example.losses[:, 0], 0, atol=0.05)
    assert (example.losses >= 0).all()
    assert (example.losses[:, 2:].mean(axis=1) > 0).any()
    again = build_example("scene", result, scene.disparity, settings)
    for name, value in vars(example).items():
        np.testing.assert_array_equal(value, getattr(again, name))


def test_the_scale_of_the_loss_is_a_factor(scene, result):
    once = build_example("scene", result, scene.disparity, SETTINGS)
    thrice = build_example(
        "scene", result, scene.disparity, SETTINGS.with_text({"learning.loss_scale": "3"})
    )
    np.testing.assert_allclose(3 * once.losses, thrice.losses)
