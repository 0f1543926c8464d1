"""Experiments: measured once, gone on with, written whole, and honest about what is missing."""

import csv
import io
import json
from dataclasses import replace

import pytest

from slanted.cli import main
from slanted.evaluation.datasets import find_frames
from slanted.experiments import measurements
from slanted.experiments.measurements import Job, Store, measure_all
from slanted.experiments.plans import KITTI, METRICS, MIDDLEBURY, PLANS, Entry, Plan
from slanted.experiments.run import run_experiment
from slanted.experiments.tables import Row, Table
from slanted.settings import Settings
from tuning.pairs import write_kitti

SETTINGS = Settings().with_text({"segmentation.count": "40", "matching.max_disparity": "32"})


@pytest.fixture(scope="module")
def kitti(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kitti")
    write_kitti(folder, count=3)
    names = [frame.name for frame in find_frames(KITTI, folder)]
    (folder / "split.json").write_text(json.dumps({"validation": names, "train": names[:1]}))
    return folder


def plan(datasets=(KITTI,)):
    figures = {KITTI: tuple(range(8))}
    entries = Entry("sgbm", SETTINGS, "sgbm", figures), Entry("census", SETTINGS, "census")
    return Plan("ours", "Shows something.", datasets, entries)


def test_a_table_is_the_same_in_every_format():
    table = Table(
        "T", ("a", "b"), (Row("x", (1.234, None)), Row("y", (float("nan"), 2.0))), ("N.",)
    )
    assert table.markdown() == (
        "**T**\n\n|  | a | b |\n|---|---|---|\n| x | 1.23 | – |\n| y | – | 2.00 |\n\nN.\n"
    )
    assert list(csv.reader(io.StringIO(table.csv()))) == [
        ["", "a", "b"], ["x", "1.234", ""], ["y", "nan", "2.0"],
    ]  # fmt: skip
    assert table.as_dict()["rows"]["x"] == {"a": 1.234, "b": None}


def test_tables_hold_means_and_the_papers_figures(kitti, tmp_path):
    outcome = run_experiment(plan(), {KITTI: kitti}, tmp_path)
    (table,) = outcome.tables
    assert outcome.missing == ()
    assert [row.name for row in table.rows] == ["sgbm", "sgbm, in the paper", "census"]
    assert table.columns == (*METRICS[KITTI], "seconds")
    assert table.rows[1].cells == (*range(8), None)
    assert "KITTI 2012" in table.notes[0]
    assert "3 frames" in table.title
    written = {path.name for path in outcome.write(tmp_path)}
    assert written == {"ours.md", "ours.json", "ours-kitti2015.csv"}
    content = json.loads((tmp_path / "ours.json").read_text())
    assert content["tables"][0]["rows"]["census"]["out-3px-all"] == table.rows[2].cells[3]


def test_what_was_measured_is_not_measured_again(kitti, tmp_path, monkeypatch):
    calls = []
    true_measure = measurements.measure

    def counted(job):
        calls.append(job.frame.name)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return true_measure(job)

    monkeypatch.setattr(measurements, "measure", counted)
    with pytest.raises(KeyboardInterrupt):
        run_experiment(plan(), {KITTI: kitti}, tmp_path)
    first = run_experiment(plan(), {KITTI: kitti}, tmp_path)
    assert len(calls) == 3 + 1 + 3
    again = run_experiment(plan(), {KITTI: kitti}, tmp_path)
    assert len(calls) == 7
    assert again == first
    # A file that is not whole is measured again.
    next(iter((tmp_path / "measurements").iterdir())).write_text("{")
    run_experiment(plan(), {KITTI: kitti}, tmp_path)
    assert len(calls) == 8


def test_measurements_are_known_by_what_they_depend_on(kitti):
    frame, other = find_frames(KITTI, kitti)[:2]
    job = Job(KITTI, frame, "sgbm", SETTINGS)
    same = replace(job, settings=replace(SETTINGS, threads=3))
    assert same.key == job.key
    changed = [
        replace(job, frame=other), replace(job, method="census"), replace(job, dataset="kitti2012"),
        replace(job, settings=replace(SETTINGS, seed=1)),
    ]  # fmt: skip
    assert len({job.key, *(j.key for j in changed)}) == 5


def test_processes_give_what_one_does(kitti, tmp_path):
    jobs = [Job(KITTI, frame, "sgbm", SETTINGS) for frame in find_frames(KITTI, kitti)]
    lines = []
    alone = measure_all(jobs, Store(tmp_path / "a"), 1, lines.append)
    both = measure_all(jobs, Store(tmp_path / "b"), 2)
    assert len(lines) == 3
    for key, measured in alone.items():
        ours, theirs = ({**m.scores, "seconds": 0} for m in (measured, both[key]))
        assert ours == theirs


def test_what_is_missing_is_named_and_the_rest_computed(kitti, tmp_path):
    import shutil

    broken = tmp_path / "broken"
    shutil.copytree(kitti, broken)
    bad = find_frames(KITTI, broken)[1]
    bad.left.write_bytes(b"not an image")
    outcome = run_experiment(plan((KITTI, MIDDLEBURY)), {KITTI: broken}, tmp_path / "out")
    assert "2 frames" in outcome.tables[0].title
    text = outcome.markdown()
    assert "- middlebury: no folder was given" in text
    assert bad.name in text
    assert bad.left.name in text
    nowhere = run_experiment(plan(), {KITTI: tmp_path / "nowhere"}, tmp_path / "out")
    assert nowhere.tables == ()
    assert "nowhere" in nowhere.missing[0]


def test_every_plan_has_settings_and_figures_that_fit():
    for name, make in PLANS.items():
        made = make()
        assert made.name == name
        assert len({entry.name for entry in made.entries}) == len(made.entries) > 1
        for entry in made.entries:
            for dataset, figures in entry.paper.items():
                assert len(figures) == len(METRICS[dataset])


def test_the_command_writes_tables(kitti, tmp_path, monkeypatch, capsys):
    from slanted.cli.experiment import NAMES
    from slanted.experiments import plans

    assert tuple(PLANS) == NAMES
    monkeypatch.setitem(plans.PLANS, "particles", plan)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(["experiment", "particles", "--data", f"kitti2015:{kitti}", "--limit", "1"])
    assert not ended.value.code
    assert "| census |" in capsys.readouterr().out
    assert (tmp_path / "slanted-experiments" / "ours.md").exists()


@pytest.mark.parametrize("data", [[], ["--data", "kitti2015"], ["--data", "moon:here"]])
def test_the_command_asks_for_data(data, monkeypatch, capsys):
    monkeypatch.delenv("SLANTED_DATA", raising=False)
    with pytest.raises(SystemExit) as ended:
        main(["experiment", "particles", *data])
    assert ended.value.code == 2
    assert "--data: expected DATASET:PATH" in capsys.readouterr().err
