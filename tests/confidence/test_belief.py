"""Which matches are believed."""

from dataclasses import replace

import numpy as np
import pytest

from confidence.scenes import SETTINGS, found, grey, result, scene
from slanted.confidence import belief
from slanted.confidence.belief import first_choices, judge_matches
from slanted.confidence.weights import Weights, weights_of
from slanted.matching import Matches
from slanted.model.evidence import Judgement
from slanted.runtime.threads import thread_limit

NAN = np.float32(np.nan)


@pytest.fixture(scope="module")
def trees():
    shipped = weights_of(SETTINGS.confidence)
    assert isinstance(shipped, Weights)
    return shipped.matches


def judged_with(trees, matches=None):
    made = result()
    choices = first_choices(matches or found(), grey())
    if choices is None:
        return None
    return judge_matches(choices, made.regions, made.inference, SETTINGS, trees)


def believed(kept, doubt, **limits):
    """The disparities of a row of pixels, the first of which sees column 100 of the view."""
    values = {f"confidence.{name}": str(value) for name, value in limits.items()}
    row = np.full((1, 120), 5, np.float32)
    passes, chance = row.copy(), np.zeros((1, 120), np.float32)
    passes[0, 100 : 100 + len(kept)] = kept
    chance[0, 100 : 100 + len(doubt)] = doubt
    settings = SETTINGS.with_text(values | {"matching.out_of_view": "0"})
    return chosen(row, passes, chance, settings)[0, 100 : 100 + len(kept)]


def chosen(disparity, kept, doubt, settings=SETTINGS):
    judgement = Judgement(disparity, kept, doubt, np.isfinite(kept), 1 - doubt)
    return belief.believed(judgement, settings)


def test_filtered_matches_are_dropped_and_others_are_added_by_their_doubt():
    kept = [6, 6, 6, NAN, NAN, NAN]
    doubt = [0.1, 0.29, 0.31, 0.1, 0.16, 0.9]
    expected = np.array([6, 6, NAN, 5, NAN, NAN], np.float32)
    np.testing.assert_array_equal(believed(kept, doubt, most_doubt=0.3, add_doubt=0.15), expected)


def test_limits_belong_to_what_is_believed():
    kept, doubt = [6, NAN], [0.25, 0.25]
    given = {"most_doubt": 0.25, "add_doubt": 0.25}
    np.testing.assert_array_equal(believed(kept, doubt, **given), [6, 5])


def test_the_limits_of_the_settings_can_restore_the_filters():
    kept, doubt = [6, NAN, 6], [0.99, 0.01, 0.0]
    np.testing.assert_array_equal(believed(kept, doubt, most_doubt=1, add_doubt=0), [6, NAN, 6])


def test_if_all_matches_are_doubted_the_filters_choose():
    kept = np.full((4, 30), NAN)
    kept[:, 20:] = 6
    doubted = np.ones((4, 30), np.float32)
    found = chosen(np.full((4, 30), 5, np.float32), kept, doubted)
    np.testing.assert_array_equal(found, kept)


def test_what_the_right_view_does_not_show_is_not_believed():
    disparity = np.full((4, 30), 10, np.float32)
    doubt = np.zeros((4, 30), np.float32)
    found = chosen(disparity, disparity.copy(), doubt)
    assert np.isnan(found[:, :10]).all()
    assert np.isfinite(found[:, 10:]).all()
    assert np.isfinite(disparity).all()  # it is not changed


def test_doubts_are_chances_and_higher_where_matches_are_wrong(trees):
    judged = judged_with(trees)
    assert judged.doubt.shape == found().disparity.shape
    assert judged.doubt.min() >= 0
    assert judged.doubt.max() <= 1
    assert np.isfinite(judged.disparity).all()
    np.testing.assert_array_equal(judged.kept, found().disparity)
    wrong = np.abs(judged.disparity - scene().disparity) > 3
    assert judged.doubt[wrong].mean() > judged.doubt[~wrong].mean() + 0.2


def test_the_matches_themselves_are_left_alone(trees):
    before = [np.copy(values) for values in vars(found()).values()]
    belief.believed(judged_with(trees), SETTINGS)
    for one, other in zip(before, vars(found()).values(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_same_bytes_for_any_number_of_threads(trees):
    doubts = []
    for threads in (1, 2):
        with thread_limit(threads):
            doubts.append(judged_with(trees).doubt.tobytes())
    assert doubts[0] == doubts[1]


@pytest.mark.parametrize("missing", ["winner", "agrees", "margin"])
def test_matchers_that_do_not_tell_their_first_choice_are_not_judged(trees, missing):
    assert judged_with(trees, replace(found(), **{missing: None})) is None
    assert judged_with(trees, Matches(found().disparity)) is None
