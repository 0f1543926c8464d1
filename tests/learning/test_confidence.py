"""Learning the trees of confidence from a tiny dataset."""

from dataclasses import replace

import numpy as np
import pytest

import slanted
from slanted.confidence.belief import first_choices, judge_matches
from slanted.confidence.boosting import Growth
from slanted.confidence.weights import FORESTS, Weights
from slanted.errors import InputError
from slanted.evaluation.confidence import evaluate_confidence
from slanted.evaluation.datasets import find_frames
from slanted.images.colour import grey_pair
from slanted.learning.confidence import (
    KITTI_RULE,
    MATCH_RULE,
    Plan,
    Rule,
    TrainingSet,
    learn_confidence,
)
from slanted.matching import DisparityRange, find_matches
from slanted.synthetic import make_scene

QUICK = slanted.Settings().with_text(
    {
        "matching.max_disparity": "64",
        "segmentation.count": "40",
        "inference.iterations": "1",
        "refinement.rounds": "1",
    }
)
PLAN = Plan(growth=Growth(trees=8, depth=3), samples=6000)


@pytest.fixture(scope="module")
def frames(small_kitti):
    return find_frames("kitti2015", small_kitti(train=3))


def learn(frames, settings=QUICK, plan=PLAN, **options):
    return learn_confidence([TrainingSet(frames)], settings, plan, **options)


@pytest.fixture(scope="module")
def learned(frames):
    lines = []
    return learn(frames, origin={"data": "made up"}, progress=lines.append), lines


def content(weights, folder):
    weights.save(folder / "trees.json")
    return (folder / "trees.json").read_bytes()


def test_trees_of_all_kinds_are_learned_and_kept(learned, tmp_path):
    weights, lines = learned
    content(weights, tmp_path)
    again = Weights.load(tmp_path / "trees.json")
    assert again.origin == {"data": "made up"}
    for name in FORESTS:
        assert np.ptp(getattr(again, name).value) > 0, name
    assert (len(again.matches.value), len(again.pixels.value)) == (8, 16)
    assert lines[0] == "matches of 000000_10 (1 of 3)"
    assert len(lines) == 3 + 3 + 1  # frames, folds, and all


def test_the_same_seed_gives_the_same_trees(learned, frames, tmp_path):
    first = content(learned[0], tmp_path)
    again = learn(frames, QUICK.with_text({"threads": "2"}), origin={"data": "made up"})
    assert content(again, tmp_path) == first
    other = learn(frames, plan=replace(PLAN, seed=1), origin={"data": "made up"})
    assert content(other, tmp_path) != first


def test_trees_are_learned_from_matches_that_are_guided_if_those_of_a_run_are(frames, tmp_path):
    plain = QUICK.with_text({"matching.census.finer": "1", "matching.census.guided": "false"})
    guided = plain.with_text({"matching.census.guided": "true"})
    assert content(learn(frames, guided), tmp_path) != content(learn(frames, plain), tmp_path)


def test_the_model_and_threshold_of_the_settings_have_no_effect(learned, frames, tmp_path):
    first = content(learned[0], tmp_path)
    # A file that is not there would be refused if it were read.
    settings = QUICK.with_text({"confidence.model": "lost.json", "confidence.min": "0.9"})
    assert content(learn(frames, settings, origin={"data": "made up"}), tmp_path) == first


def test_one_frame_is_too_few(frames):
    with pytest.raises(InputError, match="frames: expected at least 2, got 1"):
        learn(frames[:1])


def test_matchers_without_first_choices_are_refused(frames):
    with pytest.raises(InputError, match=r"000000_10: expected matches.*use the matcher census"):
        learn(frames, QUICK.with_text({"matching.method": "sgbm"}))


def test_datasets_have_rules_of_their_own(frames, learned, tmp_path):
    """A laxer rule for matches changes the trees of matches."""
    lax = learn_confidence([TrainingSet(frames, Rule(8.0, 0.0))], QUICK, PLAN)
    assert lax.matches.bias < learned[0].matches.bias  # fewer matches are wrong


def test_rules_take_an_error_for_wrong_above_both_limits():
    truth = np.array([10, 10, 100, 100, 100], np.float32)
    found = np.array([12.9, 13.1, 104, 94, 108], np.float32)
    error, wrong = KITTI_RULE.errors(found, truth)
    np.testing.assert_allclose(error, [2.9, 3.1, 4, -6, 8], atol=1e-5)
    assert wrong.tolist() == [False, True, False, True, True]
    assert MATCH_RULE.errors(found, truth)[1].tolist() == [True] * 5


def test_trees_tell_wrong_from_right_on_another_scene(learned):
    scene = make_scene(128, 64, seed=99)
    found = find_matches(scene.left, scene.right, QUICK.matching, DisparityRange(0, 64))
    made = slanted.estimate(scene.left, scene.right, QUICK)
    choices = first_choices(found, grey_pair(scene.left, scene.right))
    judged = judge_matches(choices, made.regions, made.inference, QUICK, learned[0].matches)
    scores = evaluate_confidence(judged.disparity, scene.disparity, 1 - judged.doubt)
    assert scores.metrics["AUC-all"] > 0.75


def test_learned_trees_serve_a_run(learned, tmp_path):
    content(learned[0], tmp_path)
    scene = make_scene(128, 64, seed=98)
    settings = QUICK.with_text({"confidence.model": str(tmp_path / "trees.json")})
    result = slanted.estimate(scene.left, scene.right, settings)
    scores = evaluate_confidence(result.disparity, scene.disparity, result.confidence)
    assert scores.metrics["AUC-all"] > 0.6
    assert 0 < result.deviation.min() < result.deviation.max() < 20
