"""Measurements: made once, known by what they depend on, the same in any process."""

import os
import time
from dataclasses import dataclass, replace
from multiprocessing import active_children

import pytest

from slanted.errors import InputError, SlantedError
from slanted.evaluation.datasets import find_frames
from slanted.io.files import file_digest
from slanted.research.experiments import measurements
from slanted.research.experiments.jobs.frames import FrameJob
from slanted.research.experiments.measurements import Store, key_of, measure_all, problems_of
from slanted.settings import Settings

SETTINGS = Settings().with_text({"segmentation.count": "40", "matching.max_disparity": "64"})


@dataclass(frozen=True)
class Square:
    number: int

    @property
    def name(self):
        return f"square of {self.number}"

    @property
    def parts(self):
        return (str(self.number),)

    def run(self):
        if self.number == 13:
            raise InputError("number: expected luck, got 13")
        if self.number == 99:
            os._exit(1)
        if self.number == 60:
            time.sleep(600)
        return {"square": self.number**2, "root": 1 / self.number, "seconds": 0.25}


def test_equal_jobs_are_measured_once_and_answered_in_order(tmp_path):
    lines = []
    jobs = [Square(3), Square(2), Square(3), Square(13)]
    found = measure_all(jobs, Store(tmp_path), 1, lines.append)
    assert [m.scores.get("square") for m in found] == [9, 4, 9, None]
    assert lines == [
        "1/3 square of 3: 0.2 s", "2/3 square of 2: 0.2 s",
        "3/3 square of 13: number: expected luck, got 13",
    ]  # fmt: skip
    assert problems_of(jobs, found) == ["square of 13: number: expected luck, got 13"]


def test_what_was_measured_is_not_measured_again(tmp_path, monkeypatch):
    calls = []
    true_measure = measurements.measure

    def counted(job):
        calls.append(job.number)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return true_measure(job)

    monkeypatch.setattr(measurements, "measure", counted)
    jobs = [Square(k) for k in range(1, 6)]
    with pytest.raises(KeyboardInterrupt):
        measure_all(jobs, Store(tmp_path), 1)
    first = measure_all(jobs, Store(tmp_path), 1)
    assert calls == [1, 2, 3, 3, 4, 5]
    assert measure_all(jobs, Store(tmp_path), 1) == first
    assert len(calls) == 6
    # A file that is not whole is measured again.
    (tmp_path / f"{key_of(Square(5))}.json").write_text("{")
    measure_all(jobs, Store(tmp_path), 1)
    assert calls[6:] == [5]
    # What failed is tried again.
    for _ in range(2):
        measure_all([Square(13)], Store(tmp_path), 1)
    assert calls[7:] == [13, 13]


def test_whatever_goes_wrong_is_a_problem_of_its_own(tmp_path):
    first, second = measure_all([Square(0), Square(1)], Store(tmp_path), 1)
    assert first.problem == "unexpected ZeroDivisionError: division by zero; please report it"
    assert second.scores["square"] == 1


def test_a_process_with_other_code_measures_nothing():
    with pytest.raises(SlantedError, match="changed while"):
        measurements.measure_as("the key of other code", Square(2))


def test_other_code_is_another_measurement(monkeypatch):
    before = key_of(Square(2))
    with monkeypatch.context() as changed:
        changed.setattr(measurements, "code_digest", lambda: "changed")
        assert key_of(Square(2)) != before
    monkeypatch.setattr(measurements, "package_versions", lambda: "numpy 0")
    assert key_of(Square(2)) != before


def test_code_that_does_not_measure_does_not_count(tmp_path, monkeypatch):
    for place in (
        "model/a.py",
        "cli/b.py",
        "research/experiments/c.py",
        "research/experiments/jobs/d.py",
    ):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_text("x = 1")
    monkeypatch.setattr(measurements, "PACKAGE", tmp_path)
    code_digest = measurements.code_digest.__wrapped__
    before = code_digest()
    for place, counts in (("cli/b.py", 0), ("research/experiments/c.py", 0), ("model/a.py", 1)):
        (tmp_path / place).write_text("x = 2")
        assert (code_digest() != before) == counts
    before = code_digest()
    (tmp_path / "research/experiments/jobs/d.py").write_text("x = 2")
    assert code_digest() != before


def test_a_frames_measurement_is_known_by_what_it_depends_on(kitti, tmp_path):
    frame, other = find_frames("kitti2015", kitti)[:2]
    job = FrameJob("kitti2015", frame, SETTINGS, "sgbm")
    same = replace(job, settings=replace(SETTINGS, threads=3), row="another row")
    assert key_of(same) == key_of(job)
    repainted = tmp_path / "left.png"
    repainted.write_bytes(frame.right.read_bytes())
    changed = [
        replace(job, frame=other), replace(job, method="census"), replace(job, dataset="kitti2012"),
        replace(job, settings=replace(SETTINGS, seed=1)),
        replace(job, frame=replace(frame, left=repainted)),
    ]  # fmt: skip
    assert len({key_of(job), *map(key_of, changed)}) == 6
    assert file_digest(tmp_path / "nothing") == ""


def test_processes_give_what_one_does(kitti, tmp_path):
    frames = find_frames("kitti2015", kitti)
    jobs = [FrameJob("kitti2015", frame, SETTINGS, "sgbm") for frame in frames]
    alone = measure_all(jobs, Store(tmp_path / "a"), 1)
    both = measure_all(jobs, Store(tmp_path / "b"), 2)
    for one, other in zip(alone, both, strict=True):
        assert {**one.scores, "seconds": 0} == {**other.scores, "seconds": 0}


def test_a_process_that_dies_is_said(tmp_path):
    with pytest.raises(SlantedError, match=r"died.*--workers 1"):
        measure_all([Square(99), Square(98)], Store(tmp_path), 2)
    assert [path.stem for path in tmp_path.glob("*.json")] == [key_of(Square(98))]  # it is kept


def test_an_interrupt_does_not_wait_for_what_is_running(tmp_path):
    def interrupt(line):
        raise KeyboardInterrupt

    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        measure_all([Square(60), Square(2), Square(3)], Store(tmp_path), 2, interrupt)
    deadline = start + 300
    while active_children() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert time.monotonic() < deadline
    assert len(list(tmp_path.glob("*.json"))) >= 1
