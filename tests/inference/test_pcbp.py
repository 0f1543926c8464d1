"""The outer loop: energies, bounds, reproducibility, and what it recovers."""

from itertools import pairwise

import numpy as np
import pytest

from slanted.evaluation.metrics import evaluate
from slanted.inference.pcbp import infer
from slanted.inference.terms import WholeImage
from slanted.model.drawing import draw_disparity
from slanted.model.evidence import Evidence
from slanted.regions import build_regions
from slanted.runtime.threads import thread_limit
from slanted.settings import Settings
from slanted.synthetic import make_scene, noise_set

WEIGHTS = {f"model.weights.{name}": "5" for name in ("bdy2", "jct", "crs", "col")}
# Holes are made at random here, not by occlusion, and the noise is what it is made to be.
PAPERS = {"model.weights.vis": "0", "model.reference_noise": "0", "model.truncation": "5"}
SETTINGS = Settings().with_text({**WEIGHTS, **PAPERS, "inference.iterations": "3"})


@pytest.fixture(scope="module")
def scene():
    return make_scene(200, 140, seed=11)


def noisy(scene, sigma=1.0, holes=0.3):
    rng = np.random.default_rng(2)
    disparity = scene.disparity + rng.normal(0, sigma, scene.disparity.shape).astype(np.float32)
    disparity = np.maximum(disparity, 0)
    disparity[rng.random(disparity.shape) < holes] = np.nan
    return disparity


@pytest.mark.parametrize("proposals", ["paper+incumbent", "mixture"])
def test_the_energy_never_rises_and_stays_above_its_bound(scene, regions, proposals):
    settings = SETTINGS.with_text({"inference.proposals": proposals})
    found = infer(WholeImage.of(regions, Evidence(noisy(scene)), settings))
    energies = [found.initial_energy, *(step.energy for step in found.iterations)]
    assert all(b <= a + 1e-9 * abs(a) for a, b in pairwise(energies))
    assert all(step.bound <= step.energy + 1e-6 for step in found.iterations)
    assert all(step.gap < 0.02 for step in found.iterations)
    total = found.features.total(settings.model.weights)
    assert total == pytest.approx(found.iterations[-1].energy, rel=1e-9)


def test_the_papers_sampling_runs_too(scene, regions):
    found = infer(
        WholeImage.of(
            regions, Evidence(noisy(scene)), SETTINGS.with_text({"inference.proposals": "paper"})
        )
    )
    assert len(found.iterations) == 3
    assert np.isfinite(found.planes).all()


def test_labels_and_planes_of_a_clean_scene_are_recovered(scene, regions):
    found = infer(WholeImage.of(regions, Evidence(noisy(scene, sigma=0.2)), SETTINGS))
    assert (found.labels == scene.labels).mean() > 0.93
    error = evaluate(draw_disparity(regions, found.planes), scene.disparity)
    assert error["out-1px-all"] < 3


def test_inference_beats_the_local_fit_on_the_papers_noise():
    """A segment's own few matches are noise; only neighbours tell its plane."""
    before, after = [], []
    for one in noise_set(4, 2.0, seed=7):
        regions = build_regions(one.scene.segments, one.scene.left)
        found = infer(WholeImage.of(regions, Evidence(one.disparity), SETTINGS))
        for planes, errors in ((found.initial_planes, before), (found.planes, after)):
            errors.append(evaluate(draw_disparity(regions, planes), one.scene.disparity)["rms-all"])
    assert np.mean(after) < 0.7 * np.mean(before)


def test_the_same_bytes_for_any_number_of_threads(scene, regions):
    results = []
    for threads in (1, 2, 3):
        with thread_limit(threads):
            results.append(infer(WholeImage.of(regions, Evidence(noisy(scene)), SETTINGS)))
    for other in results[1:]:
        assert results[0].planes.tobytes() == other.planes.tobytes()
        assert results[0].labels.tobytes() == other.labels.tobytes()
        assert results[0].iterations == other.iterations
    changed = infer(
        WholeImage.of(regions, Evidence(noisy(scene)), SETTINGS.with_text({"seed": "1"}))
    )
    assert changed.planes.tobytes() != results[0].planes.tobytes()


def test_a_range_below_zero_is_the_same_problem_shifted(scene, regions):
    disparity = noisy(scene)
    shifted = SETTINGS.with_text({"matching.min_disparity": "-50"})
    plain, low = (
        infer(WholeImage.of(regions, Evidence(disparity), SETTINGS)),
        infer(WholeImage.of(regions, Evidence(disparity - 50), shifted)),
    )
    np.testing.assert_allclose(low.planes, plain.planes - [0, 0, 50], atol=1e-4)
    np.testing.assert_array_equal(low.labels, plain.labels)
    assert low.features.total(shifted.model.weights) == pytest.approx(
        low.iterations[-1].energy, rel=1e-6
    )


def test_without_iterations_the_local_fit_is_labelled(scene, regions):
    found = infer(
        WholeImage.of(
            regions, Evidence(noisy(scene)), SETTINGS.with_text({"inference.iterations": "0"})
        )
    )
    np.testing.assert_array_equal(found.planes, found.initial_planes)
    assert found.iterations == ()
    energy = found.features.total(SETTINGS.model.weights)
    assert found.bound <= energy * (1 + 1e-9)
    assert np.isfinite(found.bound)
    assert found.initial_energy == pytest.approx(energy)


def test_one_segment_and_margins():
    disparity = np.tile(np.linspace(3, 9, 20, dtype=np.float32), (12, 1))
    one = build_regions(np.zeros((12, 20), np.int32), np.zeros((12, 20, 3), np.uint8))
    found = infer(WholeImage.of(one, Evidence(disparity), SETTINGS))
    np.testing.assert_allclose(draw_disparity(one, found.planes), disparity, atol=1e-3)
    assert found.margins.shape == (1,)
    assert found.margins[0] >= 0


def test_margins_are_low_where_the_answer_is_wrong(scene, regions):
    """A third of the segments lose their matches; these are the ones to doubt."""
    rng = np.random.default_rng(0)
    doubtful = rng.random(regions.count) < 0.3
    disparity = noisy(scene)
    wild = doubtful[scene.segments]
    disparity[wild] = rng.uniform(4, 60, wild.sum()).astype(np.float32)
    found = infer(WholeImage.of(regions, Evidence(disparity), SETTINGS))
    low, high = found.margins[doubtful], found.margins[~doubtful]
    assert np.median(low) < np.median(high)
    assert (low[:, None] < high[None]).mean() > 0.7


def test_a_watcher_sees_every_iteration(scene, regions):
    seen = []
    found = infer(WholeImage.of(regions, Evidence(noisy(scene)), SETTINGS), watch=seen.append)
    assert seen[0].iteration is None
    np.testing.assert_array_equal(seen[0].planes, found.initial_planes)
    assert tuple(snapshot.iteration for snapshot in seen[1:]) == found.iterations
    np.testing.assert_array_equal(seen[-1].planes, found.planes)


def test_the_solver_runs_until_the_gap_is_small_in_the_last_iteration_only(scene, regions):
    rules = {"sweeps": "2", "last_sweeps": "auto", "check_every": "2"}
    few = SETTINGS.with_text({f"inference.{name}": value for name, value in rules.items()})
    terms = WholeImage.of(regions, Evidence(noisy(scene)), few)
    short = infer(terms)
    assert [step.sweeps for step in short.iterations] == [2, 2, 2]
    longer = few.with_text({"inference.last_sweeps": "5"})
    more = infer(WholeImage.of(regions, Evidence(noisy(scene)), longer))
    assert [step.sweeps for step in more.iterations] == [2, 2, 5]
    assert more.iterations[-1].gap < short.iterations[-1].gap
    fewer = few.with_text({"inference.last_sweeps": "1"})
    same = infer(WholeImage.of(regions, Evidence(noisy(scene)), fewer))
    assert [step.sweeps for step in same.iterations] == [2, 2, 2]
    target = short.iterations[-1].gap / 3
    asked = few.with_text({"inference.gap": str(target)})
    found = infer(WholeImage.of(regions, Evidence(noisy(scene)), asked))
    assert [step.sweeps for step in found.iterations[:2]] == [2, 2]
    assert found.iterations[-1].sweeps > 2
    assert found.iterations[-1].rule == "gap"
    assert found.iterations[-1].gap <= target


def test_a_gap_that_cannot_be_reached_ends_all_the_same(scene, regions):
    rules = {"gap": "1e-12", "iterations": "1", "last_sweeps": "auto"}
    asked = SETTINGS.with_text({f"inference.{name}": value for name, value in rules.items()})
    found = infer(WholeImage.of(regions, Evidence(noisy(scene)), asked))
    assert found.iterations[-1].rule == "progress"
    assert 0 < found.iterations[-1].energy - found.iterations[-1].bound < 1e-3


@pytest.mark.parametrize("iterations", ["0", "2"])
def test_the_floor_lies_below_the_bound(scene, regions, iterations):
    settings = SETTINGS.with_text({"inference.iterations": iterations})
    found = infer(WholeImage.of(regions, Evidence(noisy(scene)), settings))
    assert 0 < found.floor <= found.bound
    unknown = infer(WholeImage.of(regions, Evidence(noisy(scene)), settings), with_features=False)
    assert np.isnan(unknown.floor)
