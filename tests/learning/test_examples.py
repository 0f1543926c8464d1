"""An example's tables, weighted, are the factor graph that inference solves."""

import dataclasses

import numpy as np
import pytest

from learning.problems import small_example
from naive_learning import weighted_graph
from slanted import Settings
from slanted.learning.examples import NAMES, tabulate
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
    losses = np.zeros((len(truth.kept.segments), 4)), np.zeros((len(truth.labels), 4))
    example = tabulate("scene", regions, observations, truth, particles, losses, SETTINGS)
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
    losses = np.zeros((regions.count, 1)), np.zeros((len(labels), 4))
    example = tabulate("scene", regions, observations, truth, planes[:, None], losses, SETTINGS)
    found = example.features(np.zeros(regions.count, np.int32), labels)
    expected = energy(regions, observations, planes, labels, SETTINGS.model)
    # A potential of one's own has no weight that is learned.
    features = [value for name, value in dataclasses.asdict(expected).items() if name != "user"]
    np.testing.assert_allclose(found, features, rtol=1e-6)


def test_spreads_are_mean_differences_from_the_ground_truth():
    example = small_example(3)
    segments, states = example.seg.shape
    most = example.jct.max()
    expected = np.zeros(len(NAMES))
    for k, table in ((0, example.seg), (6, example.vis), (7, example.pho)):
        expected[k] = sum(abs(row[a] - row[0]) for row in table for a in range(states)) / states
    for e, label in enumerate(example.labels):
        for side in (0, 1):
            row = example.bdy1[e, side]
            expected[1] += sum(abs(x - row[0]) for x in row) / states / 2
        row = example.bdy2[e, label].astype(float)
        expected[2] += sum(min(abs(x - row[0]), most) for x in row) / states**2
        expected[5] += sum(abs(x - example.col[e, label]) for x in example.col[e]) / 4
    expected[3] = len(example.junctions3) * example.jct.mean()
    expected[4] = sum(example.crs[kind].mean() for kind in example.junction4_kinds)
    np.testing.assert_allclose(example.spreads(), expected / segments)
