"""Plans: means over the same frames for every row, the paper's figures, and what is missing."""

import shutil
from dataclasses import replace

import numpy as np
import pytest

from slanted.evaluation.datasets import find_frames
from slanted.inference.outcome import Iteration, Snapshot
from slanted.io import read_disparity, write_disparity, write_image
from slanted.research.experiments import plans
from slanted.research.experiments.data import KITTI, METRICS, TEST, VALIDATION, Context
from slanted.research.experiments.jobs import frames as frame_jobs
from slanted.research.experiments.jobs.frames import (
    BLOCK_MATCHING,
    ELAS,
    PER_SWEEP,
    STORED,
    SWEEPS,
    FrameJob,
    SweepClock,
)
from slanted.research.experiments.plans import Entry, Plan, run_plan
from slanted.research.experiments.tables import Row
from slanted.research.methods import evaluate_frames
from slanted.settings import Settings
from slanted.synthetic import make_scene

SETTINGS = Settings().with_text({"segmentation.count": "40", "matching.max_disparity": "64"})


def plan(parts=(VALIDATION,), entries=None, **more):
    figures = {KITTI: tuple(range(8))}
    rows = Entry("sgbm", SETTINGS, "sgbm", figures), Entry("census", SETTINGS, "census")
    return Plan("ours", "Shows something.", dict.fromkeys(parts, entries or rows), **more)


def test_tables_hold_means_and_the_papers_figures(kitti, context):
    outcome = run_plan(plan(), context)
    (table,) = outcome.tables.values()
    assert outcome.missing == ()
    assert [row.name for row in table.rows] == ["sgbm", "sgbm, in the paper", "census"]
    assert table.columns == METRICS[KITTI]
    assert table.rows[1].cells == tuple(range(8))
    assert table.over == "3 frames"
    assert "KITTI 2012" in table.notes[0]
    assert "3 frames" in table.title
    frames = find_frames(KITTI, kitti, "validation")
    mean = evaluate_frames(frames, "census", SETTINGS)["mean"]
    assert table.cell("census", "out-3px-all") == pytest.approx(mean["out-3px-all"])
    (chart,) = outcome.charts.values()
    assert [s.name for s in chart.series] == [
        "out-3px-noc", "out-3px-noc, in the paper", "out-3px-all", "out-3px-all, in the paper",
    ]  # fmt: skip
    assert chart.series[1].x == ("sgbm",)


def test_rows_that_are_numbers_are_curves(context):
    entries = [Entry(str(n), replace(SETTINGS, seed=n), "census") for n in (1, 2)]
    made = plan(entries=entries, rows_are="seeds", times=("seconds",))
    outcome = run_plan(made, replace(context, limit=1))
    error, time = outcome.charts.values()
    assert error.series[0].x == (1.0, 2.0)
    assert [s.name for s in time.series] == ["seconds"]
    (table,) = outcome.tables.values()
    assert "rows: seeds" in table.title
    assert table.cell("1", "seconds") > 0


def test_times_are_medians_and_the_rest_means():
    scores = [{"out-3px-all": e, "seconds": s} for e, s in ((1.0, 9.0), (2.0, 1.0), (6.0, 2.0))]
    assert plans._means(scores) == {"out-3px-all": 3.0, "seconds": 2.0}
    assert plans._means([]) == {}
    some = [{"epe": 1.0}, {"epe": 2.0, "per sweep, microseconds": 3.0}]  # a frame without sweeps
    assert plans._means(some) == {"epe": 1.5, "per sweep, microseconds": 3.0}


def test_sizes_of_middlebury_scenes_are_stated(tmp_path):
    for name, width, height in (("Art", 463, 48), ("Dolls", 413, 64)):  # a third of the full size
        scene, folder = make_scene(width, height, segments=40, seed=0), tmp_path / "scenes" / name
        truth = np.clip(3 * scene.disparity, 1, 255).round().astype(np.uint8)
        for file, image in (("view1", scene.left), ("view5", scene.right), ("disp1", truth)):
            write_image(folder / f"{file}.png", image)
    outcome = run_plan(plan((TEST,)), Context({"middlebury": tmp_path / "scenes"}, tmp_path))
    (table,) = outcome.tables.values()
    assert table.notes[-1] == "Sizes in pixels: Art 463×48, Dolls 413×64."


def test_rows_of_the_paper_alone(context):
    entries = [Entry("census", SETTINGS, "census")]
    quoted = {KITTI: {"GC+occ": tuple(range(8))}}
    made = plan(entries=entries, quoted=quoted, times=("seconds",))
    outcome = run_plan(made, replace(context, limit=1))
    (table,), (chart,) = outcome.tables.values(), outcome.charts.values()
    assert table.rows[-1] == Row("GC+occ, in the paper", (*range(8), None), quoted=True)
    assert chart.series[0].x == ("census",)


def test_what_is_missing_is_named_and_the_rest_computed(kitti, tmp_path):
    broken = tmp_path / "broken"
    shutil.copytree(kitti, broken)
    first, second, third, _ = find_frames(KITTI, broken)
    first.left.write_bytes(b"not an image")
    second.right.unlink()
    outcome = run_plan(plan((VALIDATION, TEST)), Context({KITTI: broken}, tmp_path / "out"))
    assert "1 frame," in outcome.tables[VALIDATION.key].title
    missing = "\n".join(outcome.missing)
    assert "middlebury: no folder was given; add --data middlebury:PATH" in missing
    assert f"{second.name}: {second.right}" in missing
    assert f"sgbm, kitti2015, {first.name}: " in missing
    # Without ground truth a frame is none that can be measured.
    third.ground_truth.unlink()
    outcome = run_plan(plan(), Context({KITTI: broken}, tmp_path / "out"))
    assert f"{third.name}: no left image, or no ground truth" in "\n".join(outcome.missing)
    assert outcome.tables[VALIDATION.key].rows == ()
    nowhere = run_plan(plan(), Context({KITTI: tmp_path / "nowhere"}, tmp_path / "out"))
    assert nowhere.tables == {}
    assert "nowhere" in nowhere.missing[0]


def test_results_of_ones_own_are_a_row(kitti, context, tmp_path):
    folder = tmp_path / "mine"
    frames = find_frames(KITTI, kitti, "validation")
    for frame in frames[:2]:
        write_disparity(folder / f"{frame.name}.pfm", read_disparity(frame.ground_truth))
    third = folder / frames[2].name / "disparity.npy"
    third.parent.mkdir()
    np.save(third, read_disparity(frames[2].ground_truth))
    mine = Entry("mine", SETTINGS, f"{STORED}{folder}")
    entries = [Entry("census", SETTINGS, "census"), mine]
    outcome = run_plan(plan(entries=entries, times=("seconds",)), context)
    (table,) = outcome.tables.values()
    assert table.cell("mine", "out-3px-all") == 0
    assert table.cell("mine", "seconds") is None
    # Other results are measured again, and those of another size or none are named.
    third.unlink()
    np.save(third, np.ones((3, 4), np.float32))
    (folder / f"{frames[0].name}.pfm").unlink()
    problems = [FrameJob(KITTI, f, SETTINGS, mine.method) for f in frames]
    found = context.measure(problems)
    assert "expected a disparity of 000000_10" in found[0].problem
    assert found[1].scores["out-3px-all"] == 0
    assert "expected the size of the images, 128×64, got 4×3" in found[2].problem
    (table,) = run_plan(plan(entries=entries), context).tables.values()
    assert table.over == "1 frame"
    assert "mine is there for 1 frame of 3" in table.notes[-1]
    shutil.rmtree(folder)
    (table,) = run_plan(plan(entries=entries), context).tables.values()
    assert [row.name for row in table.rows] == ["census"]
    assert "3 frames" in table.title


@pytest.mark.parametrize("method", [BLOCK_MATCHING, ELAS])
def test_peers_give_whole_maps(kitti, method, context):
    if method == ELAS:
        pytest.importorskip("elas", reason="pyelas is not installed")
    frame = find_frames(KITTI, kitti)[0]
    (found,) = context.measure([FrameJob(KITTI, frame, SETTINGS, method)])
    assert found.problem == ""
    assert found.scores["density-all"] == 100
    assert found.scores["out-3px-all"] < 60


def test_a_clock_counts_iterations_and_not_what_is_between(monkeypatch):
    times = iter([10.0, 20.0, 20.5, 21.0, 90.0, 91.0])
    monkeypatch.setattr(frame_jobs.time, "process_time", lambda: next(times))
    clock = SweepClock()  # at 10
    for sweeps, segments in ((None, 0), (40, 100), (10, 100), (None, 0), (20, 250)):
        step = None if sweeps is None else Iteration(1.0, 1.0, sweeps, "gap", segments)
        clock(Snapshot(None, None, None, step))
    # 0.5 + 0.5 + 1 seconds, for 40 · 100 + 10 · 100 + 20 · 250 sweeps of a segment
    assert clock.scores() == {SWEEPS: 70, PER_SWEEP: pytest.approx(200.0)}


def test_sweeps_are_measured_if_there_are_any(kitti, context):
    frame = find_frames(KITTI, kitti)[0]
    quick = {"inference.iterations": "2", "refinement.rounds": "0"}
    quick |= {"inference.sweeps": "3", "inference.last_sweeps": "auto"}
    jobs = [
        FrameJob(KITTI, frame, SETTINGS.with_text({**quick, **more}))
        for more in ({}, {"inference.iterations": "0"})
    ]
    some, none = (found.scores for found in context.measure(jobs))
    assert some[SWEEPS] == 6
    assert some[PER_SWEEP] > 0
    assert none[SWEEPS] == 0
    assert PER_SWEEP not in none


def test_without_splits_all_frames_are_measured(kitti, tmp_path):
    whole = tmp_path / "whole"
    shutil.copytree(kitti, whole)
    (whole / "split.json").unlink()
    outcome = run_plan(plan(), Context({KITTI: whole}, tmp_path / "out"))
    assert outcome.tables[VALIDATION.key].over == "4 frames"
    assert "no split.json names these frames" in outcome.missing[0]
