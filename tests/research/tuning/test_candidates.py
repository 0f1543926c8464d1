"""Candidates are spread, repeatable and allowed."""

import numpy as np
import pytest

from slanted.errors import InputError
from slanted.research.tuning.candidates import draw_candidates
from slanted.research.tuning.search_space import default_space, parse_space
from slanted.settings import Settings

START = Settings(seed=7)


def space(**texts):
    return parse_space({k.replace("__", "."): text for k, text in texts.items()}, START)


def test_the_current_settings_come_first():
    found = draw_candidates(space(model__kappa="1:9"), START, 4)
    assert [candidate.number for candidate in found] == [0, 1, 2, 3]
    assert found[0].settings is START
    assert found[0].values == (START.model.kappa,)
    assert all(c.settings.model.kappa == c.values[0] for c in found)
    assert all(c.settings.model.weights == START.model.weights for c in found)


def test_the_seed_decides_and_more_candidates_begin_with_the_same():
    varied = default_space(START)
    found = draw_candidates(varied, START, 20)
    assert found == draw_candidates(varied, START, 20)
    assert found == draw_candidates(varied, START, 50)[:20]
    other = draw_candidates(varied, Settings(seed=8), 20)
    assert [c.values for c in other[1:]] != [c.values for c in found[1:]]


def test_candidates_are_spread_evenly():
    found = draw_candidates(space(model__kappa="0:1", model__truncation="1:2"), START, 65)
    points = np.array([candidate.values for candidate in found[1:]])
    for column, low in ((0, 0.0), (1, 1.0)):
        counts = np.histogram(points[:, column], 8, (low, low + 1))[0]
        assert counts.min() >= 6


def test_candidates_may_change_a_few_settings_only():
    varied = default_space(START)
    own = draw_candidates(varied, START, 2)[0].values
    chosen = set()
    for candidate in draw_candidates(varied, START, 40, change=3)[1:]:
        moved = {k for k, (a, b) in enumerate(zip(candidate.values, own, strict=True)) if a != b}
        assert 1 <= len(moved) <= 3
        chosen |= moved
    assert len(chosen) > len(varied) // 2


def test_no_candidate_comes_twice():
    varied = space(segmentation__count="auto,50,60", inference__proposals="mixture,paper")
    found = draw_candidates(varied, START, 40)
    assert len(found) == len({candidate.values for candidate in found}) == 6


def test_points_that_settings_forbid_are_passed_over():
    varied = space(matching__min_disparity="0,40", matching__max_disparity="32,64")
    found = {candidate.values for candidate in draw_candidates(varied, START, 40)}
    assert found == {(0, None), (0, 32), (0, 64), (40, 64)}


def test_what_makes_no_sense_is_refused():
    varied = space(model__kappa="1:9")
    with pytest.raises(InputError, match="candidates: expected at least 2"):
        draw_candidates(varied, START, 1)
    with pytest.raises(InputError, match="change: expected 1 to 1"):
        draw_candidates(varied, START, 4, change=2)
    with pytest.raises(InputError, match="each named once"):
        draw_candidates((*varied, *varied), START, 4)
    forbidden = START.with_text({"matching.max_disparity": "8"})
    with pytest.raises(InputError, match=r"no point of the space can be used .*max_disparity"):
        draw_candidates(space(matching__min_disparity="9,10"), forbidden, 4)
