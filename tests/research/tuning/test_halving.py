"""Successive halving on made-up scores: no image is read."""

import math
import os
import signal
from itertools import pairwise
from pathlib import Path

import pytest

from slanted.errors import FileError, InputError
from slanted.evaluation.datasets import Frame
from slanted.research.tuning.candidates import draw_candidates
from slanted.research.tuning.halving import successive_halving
from slanted.research.tuning.log import TuningLog, search_name
from slanted.research.tuning.measure import Measurement
from slanted.research.tuning.objective import Target, metric_value, rung_pairs, score
from slanted.research.tuning.runner import Task, runner
from slanted.research.tuning.search_space import parse_space
from slanted.settings import Settings

START = Settings()
SPACE = parse_space({"model.kappa": "0:100"}, START)
NOTHING = Path("nothing")


def frames(count, prefix=""):
    names = [f"{prefix}{k:02}" for k in range(count)]
    return tuple(Frame(name, NOTHING, NOTHING, NOTHING) for name in names)


class Made:
    """A runner whose measurements are a function of κ and the pair, with errors of both regions."""

    def __init__(self, error):
        self.error = error
        self.tasks = []

    def measured(self, tasks):
        for task in tasks:
            self.tasks.append((task.candidate.number, task.pair.name))
            value = self.error(task.candidate.settings.model.kappa, task.pair)
            scores = {} if value is None else {"out-3px-noc": value, "out-3px-all": value + 1}
            yield task, Measurement(scores, 0.25, "" if scores else "impossible")


def halve(tmp_path, runner, candidates=16, targets=None, eta=3.0):
    targets = targets or [Target("kitti2015", frames(8))]
    drawn = draw_candidates(SPACE, START, candidates)
    log = TuningLog(tmp_path / "log.csv", search_name(START, SPACE, None), SPACE, drawn)
    plan = rung_pairs(targets, 3, START.seed)
    return successive_halving(drawn, plan, targets, eta=eta, log=log, runner=runner), drawn


def test_the_best_wins_and_few_are_measured_on_all_pairs(tmp_path):
    runner = Made(lambda kappa, pair: abs(kappa - 20))
    rungs, drawn = halve(tmp_path, runner)
    assert [len(rung.pairs) for rung in rungs] == [2, 4, 8]
    assert [len(rung.standings) for rung in rungs] == [16, 7, 4]
    assert [rung.measured for rung in rungs] == [32, 14, 16]
    best = min(drawn, key=lambda c: abs(c.settings.model.kappa - 20))
    assert rungs[-1].standings[0].candidate is best
    assert len(runner.tasks) == len(set(runner.tasks)) == 62


def test_the_current_settings_stay_though_they_are_worst(tmp_path):
    rungs, _ = halve(tmp_path, Made(lambda kappa, pair: 100 if kappa == 60 else kappa))
    for rung in rungs:
        assert rung.standings[-1].candidate.number == 0


def test_ties_go_to_the_earlier_candidate(tmp_path):
    rungs, _ = halve(tmp_path, Made(lambda kappa, pair: 5.0))
    numbers = [[s.candidate.number for s in rung.standings] for rung in rungs]
    assert numbers == [list(range(16)), list(range(6)), [0, 1]]


def test_candidates_that_fail_come_last(tmp_path):
    fails = Made(lambda kappa, pair: None if kappa < 50 else kappa)
    rungs, _ = halve(tmp_path, fails)
    scores = [s.score for s in rungs[0].standings]
    assert scores == sorted(scores)
    assert scores[-1] == math.inf
    assert math.isfinite(rungs[-1].standings[0].score)
    again = Made(None)  # failures are in the log, too
    assert halve(tmp_path, again)[0][-1].standings == rungs[-1].standings
    assert again.tasks == []


def test_datasets_weigh_as_told(tmp_path):
    targets = [
        Target("kitti2015", frames(4), weight=3),
        Target("middlebury", frames(2, "m"), "out-3px-noc"),
    ]
    near = Made(lambda kappa, pair: abs(kappa - (20 if pair.dataset == "kitti2015" else 80)))
    rungs, _ = halve(tmp_path, near, 40, targets)
    winner = rungs[-1].standings[0]
    assert abs(winner.candidate.settings.model.kappa - 20) < 5
    kitti, middlebury = winner.means["kitti2015"], winner.means["middlebury"]
    assert winner.score == pytest.approx((3 * kitti + middlebury) / 4)
    assert kitti == pytest.approx(abs(winner.candidate.settings.model.kappa - 20) + 0.5)


def test_rungs_are_nested_shuffled_and_distinct():
    targets = [Target("kitti2015", frames(9)), Target("middlebury", frames(1))]
    plan = rung_pairs(targets, 4, seed=3)
    assert [len(pairs) for pairs in plan] == [3, 4, 6, 10]
    for fewer, more in pairwise(plan):
        assert set(fewer) < set(more)
    assert plan == rung_pairs(targets, 4, seed=3) != rung_pairs(targets, 4, seed=4)
    assert len(rung_pairs(targets[1:], 4, seed=3)) == 1


def test_a_rule_is_the_mean_of_its_regions():
    assert metric_value("D1", {"D1-noc": 2.0, "D1-all": 4.0}) == 3
    assert metric_value("D1", {"D1-all": 4.0}) == 4
    assert metric_value("D1-noc", {"D1-noc": 2.0, "D1-all": 4.0}) == 2
    assert metric_value("epe", {"epe-all": math.nan}) == math.inf
    with pytest.raises(InputError, match="ending in -all"):
        metric_value("D1-noc", {"D1-all": 4.0})
    target = Target("kitti2015", frames(2), "epe")
    assert score([target], target.pairs, lambda pair: {"epe-all": 2.0}) == (2, {"kitti2015": 2})


def test_bad_targets_are_refused():
    with pytest.raises(InputError, match=r"metric: expected one of out-1px, .* got 'density'"):
        Target("kitti2015", frames(1), "density")
    with pytest.raises(InputError, match="weight: expected a number above 0, got 0"):
        Target("kitti2015", frames(1), weight=0)


def test_a_log_cut_anywhere_is_continued_to_the_same_end(tmp_path):
    def error(kappa, pair):
        return abs(kappa - 20) / 3  # thirds: the text must give back every bit

    rungs, _ = halve(tmp_path, Made(error))
    log = tmp_path / "log.csv"
    whole = log.read_bytes()
    lines = whole.splitlines(keepends=True)
    assert len(lines) == 1 + 62
    for end in (len(lines[0]), len(whole) // 2, len(whole) - 1):
        log.write_bytes(whole[:end])
        runner = Made(error)
        again, _ = halve(tmp_path, runner)
        assert [r.standings for r in again] == [r.standings for r in rungs]
        assert len(runner.tasks) == 62 - (whole[:end].count(b"\n") - 1)
        assert log.read_bytes() == whole


def test_a_longer_search_goes_on_from_a_shorter_one(tmp_path):
    halve(tmp_path, Made(lambda kappa, pair: kappa), 8)
    runner = Made(lambda kappa, pair: kappa)
    rungs, _ = halve(tmp_path, runner, 16)
    assert rungs[0].measured == 16
    halve(tmp_path, Made(lambda kappa, pair: kappa), 8)  # and back


def test_logs_of_others_are_refused(tmp_path):
    halve(tmp_path, Made(lambda kappa, pair: kappa))
    log = tmp_path / "log.csv"
    good = log.read_text()

    def opened(settings=START, space=SPACE, change=None):
        drawn = draw_candidates(space, settings, 16, change)
        return TuningLog(log, search_name(settings, space, change), space, drawn)

    opened(Settings(threads=5))  # which changes nothing
    for other in (
        {"settings": Settings(seed=1)},
        {"settings": START.with_text({"model.truncation": "4"})},
        {"space": parse_space({"model.kappa": "0:99"}, START)},
        {"space": parse_space({"model.truncation": "1:9"}, START)},
        {"change": 1},
    ):
        with pytest.raises(FileError, match=r"log of this search.*--log"):
            opened(**other)
    for text in (
        "hello\n",
        good.replace("\n", "\nhello\n", 1),
        good.replace(",0.250,", ",quick,", 1),
        good + "\x00\n",
    ):
        log.write_text(text)
        with pytest.raises(FileError, match="log of this search"):
            opened()
        assert log.read_text() == text


def die_with_candidate_1(task):
    if task.candidate.number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return Measurement({}, 0.0, "" if task.candidate.number == 0 else "impossible")


def test_a_candidate_that_kills_its_process_does_not_stop_the_others(monkeypatch):
    monkeypatch.setattr("slanted.research.tuning.runner._measure", die_with_candidate_1)
    (pair,) = rung_pairs([Target("kitti2015", frames(1))], 1, 0)[0]
    tasks = [Task(candidate, pair) for candidate in draw_candidates(SPACE, START, 4)]
    found = []
    with runner(2) as running, pytest.raises(InputError, match=r"candidate 1 on .*00 \(killed by"):
        for task, _ in running.measured(tasks):
            found.append(task.candidate.number)
    assert sorted(found) == [0, 2, 3]
