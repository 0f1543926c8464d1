"""``slanted learn confidence``: what it writes, what it says of its origin, and bad input."""

import inspect
import json
import shutil

import cv2
import numpy as np
import pytest

from slanted import __version__
from slanted.cli import main
from slanted.cli.learn_confidence import command
from slanted.confidence.boosting import Growth
from slanted.confidence.forest import DEEPEST, MOST_TREES
from slanted.confidence.weights import SHIPPED, Weights
from slanted.evaluation.datasets import DATASETS, find_frames
from slanted.evaluation.datasets.licences import LICENCES
from slanted.io import read_image
from slanted.learning import confidence as learning
from slanted.pipeline import estimate
from slanted.settings import Settings

SMALL = ("--trees", "3", "--depth", "2", "--samples", "2000", "--quiet")


def run(*arguments, code=0):
    with pytest.raises(SystemExit) as exited:
        main(["learn", "confidence", *arguments])
    assert (exited.value.code or 0) == code


@pytest.fixture(scope="module")
def kitti(small_kitti):
    return small_kitti(train=2, more=1, validation=1)


@pytest.fixture(scope="module")
def learned(kitti, tmp_path_factory):
    """The file of a run on two splits."""
    output = tmp_path_factory.mktemp("learned") / "confidence.json"
    run(f"kitti2015:{kitti}:train+more", "-o", str(output), *SMALL, "--seed", "5")
    return output


def test_the_trees_can_be_used(learned, kitti):
    trees = Weights.load(learned)
    assert trees.matches.value.shape == (3, 4)
    assert trees.pixels.value.shape == (6, 8)  # twice as many, a level deeper
    frame = find_frames("kitti2015", kitti, "validation")[0]
    settings = Settings().with_text({"confidence.model": str(learned)})
    result = estimate(read_image(frame.left), read_image(frame.right), settings)
    assert 0 < result.confidence.min() < result.confidence.max() < 1
    assert (result.deviation > 0).all()


def test_the_origin_names_data_and_licences_but_no_folder(learned, kitti):
    origin = Weights.load(learned).origin
    assert origin["command"] == "slanted learn confidence kitti2015:train+more"
    assert origin["version"] == __version__
    (data,) = origin["datasets"]
    assert data["name"] == "kitti2015"
    assert data["splits"] == ["train", "more"]
    assert data["frames"] == ["000000_10", "000001_10", "000002_10"]
    assert data["licence"] == "KITTI 2015: CC BY-NC-SA 3.0"
    assert origin["rule"] == {"pixels": 3.0, "percent": 5.0}
    numbers = [origin[name] for name in ("samples_per_dataset", "trees", "depth", "seed", "limit")]
    assert numbers == [2000, 3, 2, 5, None]
    assert origin["settings"] == {}
    for folder in (kitti, learned.parent):
        assert str(folder) not in learned.read_text()


def test_a_repeated_run_writes_the_same_bytes(learned, kitti, tmp_path, monkeypatch):
    shutil.copytree(kitti, tmp_path / "moved:here")
    monkeypatch.chdir(tmp_path)
    run("kitti2015:moved:here:train+more", *SMALL, "--seed", "5", "--threads", "1")
    assert (tmp_path / "confidence.json").read_bytes() == learned.read_bytes()


def test_options_reach_the_plan(kitti, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(kitti, "moved:here")
    calls, forest = [], Weights.load(SHIPPED)

    def note(datasets, settings, plan, **named):
        calls.append((datasets, settings, plan))
        return forest

    monkeypatch.setattr(learning, "learn_confidence", note)
    changed = ("--set", "confidence.most_doubt=0.2", "--set", "confidence.model=/some/where.json")
    run(f"kitti2015:{kitti}", "kitti2012:moved:here:more", code=2)  # it has another layout
    assert "expected frames of kitti2012" in capsys.readouterr().err
    rule = ("--rule-pixels", "2", "--rule-percent", "10", "--limit", "1", "--json", "--quiet")
    run(f"kitti2015:{kitti}", "kitti2015:moved:here:all", *rule, *changed)
    ((datasets, settings, plan),) = calls
    assert [[f.name for f in each.frames] for each in datasets] == [["000000_10"]] * 2
    assert [each.match_rule for each in datasets] == [learning.KITTI_RULE] * 2
    assert settings.confidence.most_doubt == 0.2
    assert (plan.rule, plan.seed) == (learning.Rule(2.0, 0.1), 0)
    said = json.loads(capsys.readouterr().out)
    assert said["settings"] == {"confidence.most_doubt": 0.2}
    assert said["output"] == "confidence.json"


def test_other_datasets_than_kitti_have_the_stricter_rule_of_matches(kitti):
    from slanted.cli.learn_confidence import Chosen, _training_set

    frames = find_frames("kitti2015", kitti)
    rules = {
        name: _training_set(Chosen(name, ("all",), frames)).match_rule
        for name in ("kitti2012", "kitti2015", "middlebury", "middlebury2014")
    }
    assert list(rules.values()) == [learning.KITTI_RULE] * 2 + [learning.MATCH_RULE] * 2


def test_defaults_and_limits_are_those_of_the_library():
    params = {param.name: param for param in command.params}
    plan = inspect.signature(learning.learn_confidence).parameters["plan"].default
    defaults = [params[name].default for name in ("trees", "depth", "samples")]
    assert defaults == [Growth().trees, Growth().depth, plan.samples]
    assert params["rule_pixels"].default == plan.rule.pixels
    assert params["rule_percent"].default == 100 * plan.rule.share
    assert (params["trees"].type.max, params["depth"].type.max) == (MOST_TREES, DEEPEST)


def test_every_dataset_has_a_licence():
    assert set(LICENCES) == set(DATASETS)


def test_help_of_both_commands(capsys):
    run("--help")
    said = capsys.readouterr().out
    assert said.startswith("Usage: slanted learn confidence [OPTIONS] DATASET:PATH")
    assert "--rule-pixels" in said
    for arguments in (["learn", "--help"], ["--help"]):
        with pytest.raises(SystemExit):
            main(arguments)
        assert "learn confidence" in capsys.readouterr().out


BAD = {
    "no dataset": ([], "Missing argument"),
    "no folder": (["kitti2015"], "kitti2015:PATH:train+train_more, got 'kitti2015'"),
    "empty folder": (["kitti2015::train"], "expected a dataset, its folder"),
    "empty split": (["kitti2015:data:train+"], "got 'kitti2015:data:train+'"),
    "unknown dataset": (["kitti2099:data"], "dataset: expected one of kitti2012"),
    "missing folder": (["kitti2015:none"], "none: expected the folder of kitti2015"),
    "unknown split": (["kitti2015:data:trian"], 'got "trian"'),
    "unknown split by option": (["kitti2015:data", "--split", "x"], 'got "x"'),
    "frames twice": (["kitti2015:data", "kitti2015:data:all"], "kitti2015:all: expected each frame"),
    "one frame": (["kitti2015:data", "--limit", "1"], "frames: expected at least 2, got 1"),
    "no wrong disparity": (["kitti2015:data", "--rule-pixels", "999"], "right and wrong disparities"),
    "output not JSON": (["kitti2015:data", "-o", "x.toml"], "expected a name that ends in .json"),
    "output a folder": (["kitti2015:data", "-o", "data.json"], "data.json is a folder"),
    "no trees": (["kitti2015:data", "--trees", "0"], "'--trees': 0 is not in the range"),
    "too deep": (["kitti2015:data", "--depth", "9"], "'--depth': 9 is not in the range"),
    "rule not a number": (["kitti2015:data", "--rule-pixels", "nan"], "--rule-pixels: expected a n"),
    "other matcher": (["kitti2015:data", "--matching.method", "sgbm"], "use the matcher census"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_sentence_and_writes_nothing(case, kitti, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(kitti, "data")
    (tmp_path / "data.json").mkdir()
    before = sorted(tmp_path.rglob("*"))
    arguments, message = BAD[case]
    run(*SMALL, *arguments, code=2)
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert message in said[0]
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("folder", ["disp_occ_0", "image_3"])
def test_files_of_another_size_are_named(folder, kitti, tmp_path, capsys):
    shutil.copytree(kitti, tmp_path / "data")
    file = tmp_path / "data" / "training" / folder / "000001_10.png"
    cv2.imwrite(str(file), np.ascontiguousarray(cv2.imread(str(file), -1)[:-7]))
    if folder != "image_3":
        (tmp_path / "data" / "training" / "disp_noc_0" / "000001_10.png").unlink()
    output = tmp_path / "confidence.json"
    run(f"kitti2015:{tmp_path / 'data'}", "-o", str(output), *SMALL, code=2)
    error = capsys.readouterr().err
    assert f"{file}: expected the size of the left image, 128×64, got 128×57" in error
    assert not output.exists()
