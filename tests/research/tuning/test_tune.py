"""The tuner on tiny pairs: scores as of ``slanted evaluate``, the same whatever happens."""

import csv
import json

import pytest

from killing import kill_midway
from slanted.cli import main
from slanted.errors import InputError
from slanted.evaluation.datasets import find_frames
from slanted.research.methods import evaluate_frames
from slanted.research.tuning import measure as measuring
from slanted.research.tuning.objective import Target
from slanted.research.tuning.search import Schedule, tune
from slanted.research.tuning.search_space import parse_space
from slanted.settings import Settings

FAST = ("--set", "inference.iterations=2", "--set", "inference.particles=6")
VARY = ("--vary", "model.truncation=1:8:log", "--vary", "segmentation.count=20,30,40")
SEARCH = (*FAST, *VARY, "--candidates", "6", "--rungs", "2", "--quiet")


@pytest.fixture(scope="module")
def kitti(small_kitti):
    return small_kitti(train=3, validation=1)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments):
    with pytest.raises(SystemExit) as exited:
        main(arguments)
    assert exited.value.code in (0, None)


def rows(path):
    """A log without the column of times, sorted."""
    with path.open(newline="") as file:
        return sorted(
            tuple(v for k, v in row.items() if k != "seconds") for row in csv.DictReader(file)
        )


@pytest.mark.parametrize(
    "texts",
    [
        {},
        {"matching.max_disparity": "70"},
        {"matching.method": "sgbm", "segmentation.method": "slic+ucm"},
        {"segmentation.method": "ucm"},  # numbered in another order than given segments are
        {"model.weights.seg": "0.01", "inference.proposals": "paper"},  # planes leave the range
    ],
)
def test_scores_are_those_of_evaluate(kitti, texts):
    settings = Settings().with_text({"inference.iterations": "2", **texts})
    frames = find_frames("kitti2015", kitti, "train", 2)
    expected = evaluate_frames(frames, "slanted", settings)["per_frame"]
    for frame, row in zip(frames, expected, strict=True):
        for _ in range(2):  # matched anew, and kept
            measured = measuring.measure(frame, settings)
            assert {"frame": frame.name, **measured.scores} == {
                k: v for k, v in row.items() if k != "seconds"
            }
            assert 0 < measured.seconds < 60


def test_what_does_not_vary_is_computed_once(kitti, monkeypatch, tmp_path):
    import slanted.matching.finer
    import slanted.segmentation

    measuring.forget()
    calls = {"find_finer": 0, "segment": 0}

    def counted(module, name):
        function = getattr(module, name)

        def wrapper(*arguments, **options):
            calls[name] += 1
            return function(*arguments, **options)

        monkeypatch.setattr(module, name, wrapper)

    counted(slanted.matching.finer, "find_finer")
    counted(slanted.segmentation, "segment")
    start = Settings().with_text({"inference.iterations": "1"})
    target = Target("kitti2015", tuple(find_frames("kitti2015", kitti, "train", 2)))
    space = parse_space({"model.truncation": "1:9"}, start)
    tune([target], space, start, tmp_path / "model.csv", schedule=Schedule(4))
    assert calls == {"find_finer": 2, "segment": 2}
    space = parse_space({"segmentation.count": "20,40"}, start)
    tune([target], space, start, tmp_path / "count.csv", schedule=Schedule(3, rungs=1))
    assert calls == {"find_finer": 4, "segment": 8}


def test_the_command_writes_settings_log_and_table(kitti, folder, capsys):
    run("tune", f"kitti2015:{kitti}", *SEARCH, "--workers", "1")
    out = capsys.readouterr().out
    assert "best score" in out
    assert "wrote slanted-tuned.toml and slanted-tuned.csv" in out
    text = (folder / "slanted-tuned.toml").read_text()
    assert text.startswith("# Found by slanted ")
    assert f"# slanted tune kitti2015:{kitti} --set inference.iterations=2" in text
    assert "# Split train: kitti2015, out-3px, weight 1." in text
    assert "# On 3 pairs: score " in text
    run("tune", f"kitti2015:{kitti}", *SEARCH, "--json", "--workers", "1")
    data = json.loads(capsys.readouterr().out)
    assert [rung["measured"] for rung in data["rungs"]] == [0, 0]
    assert data["resumed"] == len(rows(folder / "slanted-tuned.csv"))
    assert data["winner"]["score"] <= data["start"]["score"]
    # The file gives the winner's settings, and these its score.
    found = Settings.load("slanted-tuned.toml")
    assert found.model.truncation == data["winner"]["values"]["model.truncation"]
    assert found.inference.particles == 6
    run(
        "evaluate", "kitti2015", str(kitti), "--split", "train", "--json", "--quiet",
        "--settings", "slanted-tuned.toml",
    )  # fmt: skip
    mean = json.loads(capsys.readouterr().out)["mean"]
    both = (mean["out-3px-noc"] + mean["out-3px-all"]) / 2
    assert both == pytest.approx(data["winner"]["score"], rel=1e-12)


def test_killed_and_resumed_with_two_workers_is_as_one_that_ran_through(kitti, folder, capsys):
    command = ("tune", f"kitti2015:{kitti}", *SEARCH, "--json", "--candidates", "20")
    run(*command, "--workers", "1", "-o", "whole.toml")
    whole = json.loads(capsys.readouterr().out)
    log = folder / "cut.csv"
    parallel = (*command, "--workers", "2", "-o", "cut.toml")

    def is_midway():
        return log.exists() and log.read_bytes().count(b"\n") >= 4

    def clean():
        for ending in (".toml", ".csv"):
            log.with_suffix(ending).unlink()

    assert kill_midway(parallel, is_midway, clean) == b""
    done = len(rows(log))
    assert 2 <= done < len(rows(folder / "whole.csv"))
    run(*parallel)
    resumed = json.loads(capsys.readouterr().out)
    assert resumed["resumed"] == done
    assert rows(log) == rows(folder / "whole.csv")
    for standing in ("winner", "start"):
        for key in ("candidate", "score", "means", "values"):
            assert resumed[standing][key] == whole[standing][key]


def test_several_datasets_splits_and_metrics(kitti, folder, capsys):
    (folder / "other" / "training").mkdir(parents=True)
    for source, target in (
        ("image_2", "colored_0"), ("image_3", "colored_1"), ("disp_occ_0", "disp_occ"),
    ):  # fmt: skip
        (folder / "other" / "training" / target).symlink_to(kitti / "training" / source)
    run(
        "tune", f"kitti2015:{kitti}", "kitti2012:other", *FAST, *VARY, "--candidates", "2",
        "--split", "all", "--limit", "1", "--metric", "D1-all", "--metric", "kitti2012=epe",
        "--weight", "kitti2012=3", "--workers", "1", "--json", "--quiet",
    )  # fmt: skip
    data = json.loads(capsys.readouterr().out)
    means = data["start"]["means"]
    assert data["start"]["score"] == pytest.approx(
        (means["kitti2015"] + 3 * means["kitti2012"]) / 4
    )
    assert "kitti2012, epe, weight 3" in (folder / "slanted-tuned.toml").read_text()


def test_a_candidate_that_a_pair_does_not_allow_is_logged_and_loses(kitti, tmp_path):
    start = Settings().with_text({"inference.iterations": "1", "matching.method": "sgbm"})
    target = Target("kitti2015", tuple(find_frames("kitti2015", kitti, "train", 1)))
    space = parse_space({"model.pixel_weights": "true,false"}, start)  # sgbm has no confidence
    tuning = tune([target], space, start, tmp_path / "log.csv", schedule=Schedule(3))
    assert tuning.winner is tuning.start
    assert "model.pixel_weights: expected a matcher" in (tmp_path / "log.csv").read_text()
    broken = start.with_text({"model.pixel_weights": "true"})
    with pytest.raises(InputError, match=r"kitti2015/000000_10: model.pixel_weights"):
        tune([target], space, broken, tmp_path / "other.csv", schedule=Schedule(3))


BAD = {
    "no folder": (["kitti2015"], "as in kitti2015:PATH, got 'kitti2015'"),
    "unknown dataset": (["kitty:KITTI"], "kitty: expected a dataset, one of kitti2012"),
    "dataset twice": (["kitti2015:KITTI", "kitti2015:KITTI"], "each dataset once"),
    "missing folder": (["kitti2015:nowhere"], "nowhere: expected the folder of kitti2015"),
    "no ground truth": (["kitti2015:empty"], "empty: expected frames of kitti2015 with ground truth"),
    "unknown split": (["kitti2015:KITTI", "--split", "test"], "split: expected one of"),
    "unknown setting": (["kitti2015:KITTI", "--vary", "model.kapa=1:2"], "did you mean model.kappa?"),
    "inverted range": (["kitti2015:KITTI", "--vary", "model.kappa=2:1"], "model.kappa: expected a range"),
    "no range": (["kitti2015:KITTI", "--vary", "model.kappa"], "--vary: expected key=value"),
    "setting twice": (["kitti2015:KITTI", "--vary", "model.kappa=1:2", "--vary", "model.kappa=1:3"], "once, got it twice"),
    "missing space": (["kitti2015:KITTI", "--space", "none.toml"], "none.toml: "),
    "unknown metric": (["kitti2015:KITTI", "--metric", "bad"], "metric: expected one of"),
    "two metrics": (["kitti2015:KITTI", "--metric", "D1", "--metric", "epe"], "--metric: expected one"),
    "metric of another": (["kitti2015:KITTI", "--metric", "middlebury=D1"], "none of the datasets"),
    "weight of no number": (["kitti2015:KITTI", "--weight", "kitti2015=big"], "--weight: expected a number"),
    "negative weight": (["kitti2015:KITTI", "--weight", "kitti2015=-1"], "weight: expected a number above 0"),
    "eta of one": (["kitti2015:KITTI", "--eta", "1"], "rungs, eta: expected"),
    "change of too many": (["kitti2015:KITTI", "--vary", "model.kappa=1:2", "--change", "2"], "change: expected 1 to 1"),
    "output of no settings": (["kitti2015:KITTI", "-o", "tuned.csv"], "--output: expected a name that ends in .toml"),
    "log of another kind": (["kitti2015:KITTI", "--log", "text.csv"], "text.csv: expected the log of this search"),
    "log in a file": (["kitti2015:KITTI", "--log", "text.csv/log.csv"], "is a file"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_sentence_with_exit_code_2(case, kitti, folder, capsys):
    (folder / "empty" / "training").mkdir(parents=True)
    (folder / "text.csv").write_text("hello\n")
    arguments, message = BAD[case]
    before = sorted(folder.rglob("*"))
    with pytest.raises(SystemExit) as exited:
        main(["tune", *(argument.replace("KITTI", str(kitti)) for argument in arguments)])
    said = capsys.readouterr().err.splitlines()
    assert exited.value.code == 2
    assert len(said) == 1, said
    assert said[0].startswith("slanted: error: ")
    assert message in said[0]
    assert sorted(folder.rglob("*")) == before, "something was written"
