"""Inference on segments that change: what is refined, what is kept, what never rises."""

from dataclasses import replace

import numpy as np
import pytest

from slanted.evaluation.metrics import evaluate
from slanted.model.drawing import draw_disparity
from slanted.model.evidence import Evidence
from slanted.refinement.refine import infer_and_refine
from slanted.regions import build_regions
from slanted.settings import Settings
from slanted.synthetic import make_scene

SETTINGS = Settings().with_text(
    {"inference.iterations": "2", "refinement.iterations": "2", "refinement.rounds": "0"}
)


@pytest.fixture(scope="module")
def scene():
    return make_scene(200, 140, seed=11)


def squares(scene, side=14):
    """Square segments, which know nothing of the scene."""
    rows, columns = np.indices(scene.disparity.shape) // side
    return (rows * (columns.max() + 1) + columns).astype(np.int32)


def coarse(scene):
    return build_regions(squares(scene), scene.left)


def refined(scene, rounds, **changes):
    settings = SETTINGS.with_text({"refinement.rounds": str(rounds)} | changes)
    evidence = Evidence(scene.disparity, left=scene.left)
    return infer_and_refine(squares(scene), evidence, settings)[:2]


def test_refined_segments_follow_the_scene(scene):
    errors = []
    for rounds in (0, 1, 3):
        regions, found = refined(scene, rounds)
        disparity = draw_disparity(regions, found.planes)
        errors.append(evaluate(disparity, scene.disparity)["out-1px-all"])
        assert len(found.iterations) == 2 + 2 * rounds
        assert len(found.planes) == len(found.initial_planes) == regions.count
        assert len(found.labels) == len(regions.edges)
    assert errors[1] < 0.7 * errors[0]
    assert errors[2] < errors[1]


def test_the_energy_never_rises_while_segments_stay(scene):
    _, found = refined(scene, 2)
    assert [step.segments for step in found.iterations[::2]] == [
        step.segments for step in found.iterations[1::2]
    ]
    for first, second in zip(found.iterations[::2], found.iterations[1::2], strict=True):
        assert second.energy <= first.energy * (1 + 1e-9)


def test_without_rounds_segments_stay_and_without_splits_their_number_does(scene):
    before = coarse(scene)
    same, _ = refined(scene, 0)
    np.testing.assert_array_equal(same.label_image, before.label_image)
    moved, _ = refined(scene, 1, **{"refinement.split_size": "0"})
    assert moved.count == before.count
    assert (moved.label_image != before.label_image).any()
    divided, _ = refined(scene, 1, **{"refinement.split_size": "30"})
    assert divided.count > before.count


def test_a_range_below_zero_gives_the_same_segments(scene):
    plain, _ = refined(scene, 1, **{"model.weights.vis": "0", "refinement.visibility_weight": "0"})
    settings = SETTINGS.with_text(
        {
            "matching.min_disparity": "-50",
            "model.weights.vis": "0",
            "refinement.visibility_weight": "0",
            "refinement.rounds": "1",
        }
    )
    evidence = Evidence(scene.disparity - 50, left=scene.left)
    low, *_ = infer_and_refine(squares(scene), evidence, settings)
    assert (low.label_image == plain.label_image).mean() > 0.999


@pytest.mark.parametrize("first", ["0", "1"])
@pytest.mark.parametrize("later", ["0", "1"])
def test_the_bound_is_that_of_the_last_segments(scene, first, later):
    changes = {"inference.iterations": first, "refinement.iterations": later}
    for rounds in (0, 1):
        _, found = refined(scene, rounds, **changes)
        assert found.bound <= found.features.total(SETTINGS.model.weights) * (1 + 1e-9)
        assert np.isfinite(found.bound)


def test_the_first_energy_is_known_whenever_something_is_drawn(scene):
    for first, later in ((1, 1), (0, 1), (1, 0)):
        changes = {"inference.iterations": str(first), "refinement.iterations": str(later)}
        found = refined(scene, 1, **changes)[1]
        assert np.isfinite(found.initial_energy)
        assert len(found.iterations) == first + later
    # Where all that is drawn is drawn on the refined segments, it was there before.
    found = refined(scene, 1, **{"inference.iterations": "0", "refinement.iterations": "1"})[1]
    assert found.initial_energy >= found.iterations[0].energy - 1e-6


def test_segments_that_are_not_refined_have_all_rounds(scene):
    settings = SETTINGS.with_text({"refinement.rounds": "2", "refinement.iterations": "1"})
    evidence = Evidence(scene.disparity, left=scene.left)
    regions, found, _ = infer_and_refine(squares(scene), evidence, settings, refine=False)
    np.testing.assert_array_equal(regions.label_image, coarse(scene).label_image)
    assert len(found.iterations) == 2 + 2
    energies = [step.energy for step in found.iterations]
    assert energies == sorted(energies, reverse=True)


@pytest.mark.parametrize("refine", [True, False])
def test_matches_are_chosen_anew_before_every_round(scene, refine):
    settings = SETTINGS.with_text({"refinement.rounds": "2"})
    spoilt = scene.disparity.copy()
    spoilt[40:70, 60:110] += 9
    told = []

    def judge(regions, inference, evidence):
        told.append((regions.count, evidence.disparity is spoilt))
        assert len(inference.planes) == regions.count
        return replace(evidence, disparity=scene.disparity, right_disparity=None)

    given = Evidence(spoilt, left=scene.left)
    regions, found, used = infer_and_refine(
        squares(scene), given, settings, refine=refine, judge=judge
    )
    assert [first for _, first in told] == [True, False]
    assert used.disparity is scene.disparity
    np.testing.assert_array_equal(used.right_disparity, used.seen_from_right())
    disparity = draw_disparity(regions, found.planes)
    assert np.median(np.abs(disparity - scene.disparity)[40:70, 60:110]) < 1


def test_without_rounds_nothing_is_judged(scene):
    def judge(regions, inference, evidence):
        raise AssertionError

    evidence = Evidence(scene.disparity, left=scene.left)
    used = infer_and_refine(squares(scene), evidence, SETTINGS, judge=judge)[2]
    assert used is evidence
