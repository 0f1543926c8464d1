"""A potential of the user's own: in the energy, in the graph, in the solver's bound, in a run."""

from dataclasses import asdict, replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
import naive_model
import slanted
from model.scenes import scene, scenes
from partition.label_maps import SPECIAL_MAPS
from slanted.errors import InputError
from slanted.model import build_factor_graph, observe
from slanted.model.energy import energy
from slanted.model.evidence import Evidence
from slanted.model.user_potential import user_cost
from slanted.settings import ModelSettings, WeightSettings
from slanted.solver import solve
from slanted.synthetic import make_scene

CAP = 3.0
MODEL = ModelSettings(weights=WeightSettings(bdy2=2, jct=1, crs=1, col=0.1, user=3.5))


def nearness_to(target):
    """Σ over pixels with a target of min(|plane − target|, CAP): as an expert would write it."""

    def potential(regions, planes):
        costs = np.zeros(planes.shape[:2])
        for i in range(regions.count):
            v, u = np.divmod(regions.pixels(i), target.shape[1])
            offset = np.column_stack([u, v]) - regions.centre[i]
            wanted = target[v, u]
            known = np.isfinite(wanted)
            drawn = planes[i, :, :2] @ offset[known].T + planes[i, :, 2:]
            costs[i] = np.minimum(np.abs(drawn - wanted[known]), CAP).sum(axis=1)
        return costs

    return potential


def targets(shape, seed=3):
    rng = np.random.default_rng(seed)
    return np.where(rng.random(shape) < 0.5, rng.normal(4, 3, shape), np.nan)


@settings(max_examples=30, deadline=None)
@given(scenes, st.sampled_from([0.0, -7.0]))
def test_equals_pixel_loops_in_pixels_of_the_images(scene, lowest):
    target = targets(scene.labels.shape)

    def loops(members, plane):
        centre = naive_model.centre(members)
        return sum(
            min(abs(naive_model.disparity_at((u, v), plane, centre) + lowest - target[v, u]), CAP)
            for u, v in members
            if np.isfinite(target[v, u])
        )

    own = nearness_to(target)
    observations = observe(
        scene.regions, Evidence(scene.disparity, census=scene.census, potential=own), lowest
    )
    found = user_cost(scene.regions, observations, scene.planes[:, None])[:, 0]
    points = naive.pixels_of(scene.labels)
    expected = [loops(points[i], scene.planes[i]) for i in range(scene.regions.count)]
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)
    if lowest == 0:
        features = energy(
            scene.regions, observations, scene.planes, scene.edge_labels, ModelSettings()
        )
        expected = naive_model.energies(
            scene.labels, scene.image, scene.disparity, scene.planes, scene.labels_of_pairs,
            ModelSettings(), scene.census, user=loops
        )  # fmt: skip
        assert asdict(features) == pytest.approx(expected, rel=1e-9, abs=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_the_bound_is_below_the_best_of_all_choices_and_the_energy_not(seed):
    columns = np.repeat([[0, 1, 2]], 4, axis=0).repeat(3, axis=1)
    random = scene(columns, seed)
    own = nearness_to(targets(columns.shape, seed))
    observations = observe(
        random.regions, Evidence(random.disparity, census=random.census, potential=own)
    )
    best = np.inf
    for chosen in product(range(3), repeat=3):
        planes = random.particles[np.arange(3), chosen]
        for labels in product(range(4), repeat=2):
            features = energy(random.regions, observations, planes, np.array(labels), MODEL)
            best = min(best, features.total(MODEL.weights))
    graph = build_factor_graph(random.regions, observations, random.particles, MODEL)
    solution = solve(graph)
    assert solution.bound <= best + 1e-9
    assert solution.energy == pytest.approx(best, rel=1e-9)  # a chain: the relaxation is exact
    without = build_factor_graph(
        random.regions, replace(observations, user_potential=None), random.particles, MODEL
    )
    assert solve(without).energy < best


def test_scaled_observations_leave_it_alone():
    random = scene(SPECIAL_MAPS["ring"], seed=8)
    own = nearness_to(targets(random.labels.shape))
    seen = observe(random.regions, Evidence(random.disparity, potential=own))
    for kind in (seen, seen.scaled(7.0)):
        costs = user_cost(random.regions, kind, random.particles)
        assert costs.tobytes() == own(random.regions, random.particles).tobytes()
        assert costs.any()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda regions, planes: planes[:, 0, 0], r"potential: expected a cost for each of"),
        (lambda regions, planes: 0.0, r"shape \(\d+, \d+\), got \(\)"),
        (lambda regions, planes: planes[..., 0] * np.nan, "potential: expected finite costs"),
        (lambda regions, planes: planes[..., 0] + np.inf, "potential: expected finite costs"),
    ],
)
def test_wrong_answers_are_named(answer, message):
    random = scene(SPECIAL_MAPS["ring"], seed=8)
    seen = observe(random.regions, Evidence(random.disparity, potential=answer))
    with pytest.raises(InputError, match=message):
        build_factor_graph(random.regions, seen, random.particles, ModelSettings())


def test_a_run_heeds_it_and_is_the_same_for_any_threads():
    world = make_scene(160, 120, seed=4)
    rng = np.random.default_rng(0)
    sparse = np.where(rng.random(world.disparity.shape) < 0.05, world.disparity, np.nan)
    # Matches that say nothing on the left half: there the potential decides among the planes.
    matched = np.where(np.arange(160) < 80, np.nan, world.disparity).astype(np.float32)
    runs = [
        slanted.estimate(
            world.left,
            world.right,
            slanted.Settings(threads=threads).with_text(
                {"model.weights.user": weight, "model.weights.pho": "0"}
            ),
            disparity=matched,
            potential=nearness_to(sparse),
        )
        for threads, weight in ((1, "20"), (2, "20"), (1, "0"))
    ]
    heeded, again, ignored = runs
    assert heeded.disparity.tobytes() == again.disparity.tobytes()
    assert heeded.energy == again.energy
    assert heeded.bound == again.bound <= heeded.energy
    assert heeded.energy == pytest.approx(heeded.inference.iterations[-1].energy, rel=1e-9)

    assert 0 < heeded.inference.features.user < ignored.inference.features.user


def test_tiles_refuse_it_before_they_start():
    world = make_scene(160, 120, seed=4)
    tiled = slanted.Settings().with_text({"tiles.above": "1000", "tiles.pixels": "10000"})
    stages = []
    with pytest.raises(InputError, match="potential: images in tiles cannot have one; raise tiles"):
        slanted.estimate(
            world.left,
            world.right,
            tiled,
            potential=lambda regions, planes: planes[..., 0],
            progress=stages.append,
        )
    assert stages == []
