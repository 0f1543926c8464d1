"""The energy: against pixel loops, against the factor graph, and what must not change it."""

from dataclasses import asdict, astuple, fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
import naive_model
from model.scenes import blocks, maps, scene, scenes, seeds
from partition.label_maps import SPECIAL_MAPS
from slanted.boundary_label import BoundaryLabel
from slanted.errors import InputError
from slanted.model import Features, build_factor_graph, observe
from slanted.model.energy import cheapest_labels, energy
from slanted.model.evidence import Evidence
from slanted.model.junctions import junction4_kinds
from slanted.regions import build_regions
from slanted.settings import ModelSettings, WeightSettings

MODEL = ModelSettings(
    truncation=3,
    lambda_occ=11,
    lambda_hinge=2,
    weights=WeightSettings(seg=0.3, bdy1=0.7, bdy2=5, jct=1.3, crs=2.1, col=0.9, vis=0.4, pho=2.0),
)
FLIPPED = np.array([label.flipped() for label in BoundaryLabel])


def energy_of(scene, model=MODEL):
    return energy(scene.regions, scene.observations, scene.planes, scene.edge_labels, model)


def assert_close(first, second, rel=1e-9):
    assert asdict(first) == pytest.approx(asdict(second), rel=rel, abs=1e-8)


@settings(max_examples=50, deadline=None)
@given(scenes, st.booleans())
def test_equals_pixel_loops(scene, with_weights):
    weights = np.random.default_rng(5).uniform(0, 2, scene.labels.shape) if with_weights else None
    assert_equals_pixel_loops(scene, weights)


@pytest.mark.parametrize("seed", range(3))
def test_equals_pixel_loops_with_many_junctions(seed):
    crowded = scene(blocks(6, 8, 3, seed), seed)
    assert len(crowded.regions.junctions3) > 5
    assert len(set(junction4_kinds(crowded.regions.junctions4))) == 3  # all that there are
    assert_equals_pixel_loops(crowded)


def assert_equals_pixel_loops(scene, weights=None):
    observations = observe(
        scene.regions, Evidence(scene.disparity, pixel_weights=weights, census=scene.census)
    )
    found = energy(scene.regions, observations, scene.planes, scene.edge_labels, MODEL)
    expected = naive_model.energies(
        scene.labels, scene.image, scene.disparity, scene.planes, scene.labels_of_pairs, MODEL,
        scene.census, weights
    )  # fmt: skip
    assert asdict(found) == pytest.approx(expected, rel=1e-9, abs=1e-8)


@settings(max_examples=60, deadline=None)
@given(scenes, seeds)
def test_equals_the_factor_graph(scene, seed):
    rng = np.random.default_rng(seed)
    graph = build_factor_graph(scene.regions, scene.observations, scene.particles, MODEL)
    n, count, _ = scene.particles.shape
    chosen = rng.integers(0, count, n)
    planes = scene.particles[np.arange(n), chosen]
    found = energy(scene.regions, scene.observations, planes, scene.edge_labels, MODEL)
    total = found.total(MODEL.weights)
    assert graph.energy(chosen, scene.edge_labels) == pytest.approx(total, rel=1e-9)
    assert total == pytest.approx(sum(found.weighted(MODEL.weights).values()))


def test_the_factor_graph_is_of_the_right_shape():
    random = scene(SPECIAL_MAPS["pixels"], seed=6)
    graph = build_factor_graph(random.regions, random.observations, random.particles, MODEL)
    n, E, N = random.regions.count, random.regions.number_of_edges, random.particles.shape[1]
    assert graph.node_costs.shape == (n, N)
    assert graph.label_costs.shape == (E, 4)
    assert graph.edge_costs.shape == (E, 4, N, N)
    assert graph.junctions4.shape == (12, 4)
    assert {array.dtype for array in vars(graph).values()} == {np.dtype(np.int32), np.dtype(float)}


@settings(max_examples=30, deadline=None)
@given(scenes)
def test_cheapest_labels_are_those_of_least_cost_on_their_own(scene):
    found = cheapest_labels(scene.regions, scene.planes, MODEL)
    points = naive.pixels_of(scene.labels)
    for e, (i, j) in enumerate(scene.regions.edges.tolist()):
        pair = points[i], points[j]
        costs = [
            MODEL.weights.bdy2
            * naive_model.compatibility_cost(label, *pair, scene.planes[i], scene.planes[j], MODEL)
            + MODEL.weights.col * naive_model.colour_cost(label, *pair, scene.image, MODEL)
            for label in BoundaryLabel
        ]
        assert costs[found[e]] <= min(costs) + 1e-6


def test_one_segment():
    random = scene(SPECIAL_MAPS["one segment"], seed=7)
    found = energy_of(random)
    assert astuple(found)[1:6] == (0, 0, 0, 0, 0)
    graph = build_factor_graph(random.regions, random.observations, random.particles, MODEL)
    assert graph.energy(np.array([0]), np.array([], int)) == pytest.approx(
        found.seg * 0.3 + found.vis * 0.4 + found.pho * 2
    )


# --- what must not change it ------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(scenes)
def test_a_mirror_changes_nothing(scene):
    regions = build_regions(scene.labels[:, ::-1], scene.image[:, ::-1])
    observations = observe(regions, Evidence(scene.disparity[:, ::-1]))
    mirrored = energy(regions, observations, scene.planes * [-1, 1, 1], scene.edge_labels, MODEL)
    # A mirror swaps the views: what the right one sees is not what it saw.
    assert_close(replace(mirrored, vis=0.0), replace(energy_of(scene), vis=0.0, pho=0.0))


@settings(max_examples=40, deadline=None)
@given(scenes, st.randoms(use_true_random=False))
def test_numbers_of_segments_do_not_matter(scene, random):
    new = list(range(scene.regions.count))
    random.shuffle(new)
    new = np.array(new)
    regions = build_regions(new[scene.labels], scene.image)
    planes = np.empty_like(scene.planes)
    planes[new] = scene.planes
    number = {tuple(pair): e for e, pair in enumerate(regions.edges.tolist())}
    labels = np.empty_like(scene.edge_labels)
    for (i, j), label in zip(new[scene.regions.edges].tolist(), scene.edge_labels, strict=True):
        labels[number[min(i, j), max(i, j)]] = label if i < j else FLIPPED[label]
    observations = observe(regions, Evidence(scene.disparity, census=scene.census))
    assert_close(energy(regions, observations, planes, labels, MODEL), energy_of(scene))


@settings(max_examples=30, deadline=None)
@given(maps, seeds, st.floats(0, 100))
def test_a_constant_disparity_changes_nothing(labels, seed, constant):
    far = scene(labels, seed, mean=60.0)  # nothing is negative
    moved = energy(
        far.regions,
        observe(far.regions, Evidence(far.disparity + constant, census=far.census)),
        far.planes + np.array([0, 0, constant]),
        far.edge_labels,
        MODEL,
    )
    assert_close(moved, energy_of(far))


@settings(max_examples=30, deadline=None)
@given(scenes, st.floats(0.1, 10))
def test_disparities_scale_as_squares(scene, scale):
    """But for the constants λ, all of seg, bdy1 and bdy2 is squares of disparities."""
    model = replace(MODEL, lambda_occ=0.0, lambda_hinge=0.0, lambda_imp=0.0)
    scaled = energy(
        scene.regions,
        observe(scene.regions, Evidence(scene.disparity * scale)),
        scene.planes * scale,
        scene.edge_labels,
        replace(model, truncation=model.truncation * scale),
    )
    plain = energy_of(scene, model)
    for name in ("seg", "bdy1", "bdy2"):
        expected = scale**2 * getattr(plain, name)
        assert getattr(scaled, name) == pytest.approx(expected, rel=1e-9, abs=1e-8)
    assert (scaled.jct, scaled.crs, scaled.col) == (0, 0, plain.col)


# --- the dataclass and errors ---------------------------------------------------------------------


def test_features_are_weighted_by_name():
    features = Features(seg=1, bdy1=2, bdy2=3, jct=4, crs=5, col=6, vis=7, pho=8, user=9)
    weights = WeightSettings(
        seg=1, bdy1=10, bdy2=100, jct=1000, crs=1e4, col=1e5, vis=1e6, pho=1e7, user=1e8
    )
    assert features.weighted(weights) == {
        "seg": 1, "bdy1": 20, "bdy2": 300, "jct": 4000, "crs": 5e4, "col": 6e5, "vis": 7e6, "pho": 8e7, "user": 9e8,
    }  # fmt: skip
    assert features.total(weights) == 987654321
    assert [f.name for f in fields(Features)] == [f.name for f in fields(WeightSettings)]


def test_wrong_arguments_are_named():
    random = scene(SPECIAL_MAPS["ring"], seed=8)
    wrong_labels = [[0, 0], [4], [-1], [[0]], [0.5]]
    for labels in wrong_labels:
        with pytest.raises(InputError, match="labels: expected"):
            energy_of(replace(random, edge_labels=np.array(labels)))
    for planes in (random.planes[:1], random.planes[:, :2], random.planes[0]):
        with pytest.raises(InputError, match="planes: expected"):
            energy(random.regions, random.observations, planes, random.edge_labels, MODEL)
