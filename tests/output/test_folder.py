"""Folders of results: what a stopped run removes, and two runs into one folder."""

import json
import os
import signal
import subprocess
import sys

import pytest

from slanted import Result
from slanted.errors import FileError
from slanted.io.info import describe
from slanted.output.folder import check_result_folder, whole_folder
from slanted.pipeline import estimate
from slanted.result_folder import open_result
from slanted.synthetic import make_scene


@pytest.fixture(scope="module")
def result():
    scene = make_scene(96, 64, segments=40, seed=1)
    return estimate(scene.left, scene.right)


def test_an_interrupted_run_leaves_what_others_put_into_its_new_folder(tmp_path):
    folder = tmp_path / "out"

    def interrupted():
        with whole_folder(folder) as staging:
            (staging / "run.json").write_text("{}")
            (folder / "notes.txt").write_text("mine")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert {file.name for file in folder.iterdir()} == {"notes.txt"}


def test_an_interrupt_while_files_are_moved_leaves_one_result(tmp_path, monkeypatch):
    """It used to leave files of both and no record, and later runs were refused."""
    for number in range(1, 60):
        folder = tmp_path / f"{number}"
        with whole_folder(folder) as staging:
            for name in ("run.json", "disparity.npy", "disparity.pfm", "cloud.ply"):
                (staging / name).write_text("old")
        left = number

        def interrupting(*args, call=os.replace):
            nonlocal left
            left -= 1
            if left == 0:
                raise KeyboardInterrupt
            return call(*args)

        with monkeypatch.context() as patched:
            patched.setattr(os, "replace", interrupting)
            try:
                with whole_folder(folder) as staging:
                    for name in ("run.json", "disparity.npy", "disparity.pfm"):
                        (staging / name).write_text("new")
            except KeyboardInterrupt:
                pass
        found = {file.name: file.read_text() for file in folder.iterdir()}
        assert set(found.values()) in ({"old"}, {"new"})
        assert len(found) == (4 if "old" in found.values() else 3)
        if left > 0:
            return
    pytest.fail("it never came to its end")


@pytest.mark.parametrize("reader", [Result.load, open_result])
def test_readers_complete_what_a_killed_run_had_decided(tmp_path, result, reader):
    hidden = killed_while_moving(tmp_path, result)
    assert "was stopped" in describe(tmp_path)["meaning"]
    assert hidden.exists()
    reader(tmp_path)
    assert not hidden.exists()
    assert Result.load(tmp_path).energy == result.energy


def killed_while_moving(folder, result):
    """Leave a folder as a run that was killed before it could move all its files."""
    result.save(folder)
    hidden = folder / ".0123456789ab.replacing"
    hidden.mkdir()
    for name in ("run.json", "result.npz"):
        (folder / name).rename(hidden / name)
    (hidden / "stale.json").write_text(json.dumps({"stale": []}))
    return hidden


@pytest.mark.parametrize("first", [check_result_folder, lambda folder: None])
def test_the_next_run_may_use_a_folder_whose_last_run_was_killed(tmp_path, result, first):
    killed_while_moving(tmp_path, result)
    first(tmp_path)  # as the demo does
    result.save(tmp_path)
    assert Result.load(tmp_path).energy == result.energy
    assert not [path.name for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_files_that_appear_during_a_run_are_not_replaced(tmp_path):
    own = {"left.png": "mine", "error.png": "mine"}

    def run():
        with whole_folder(tmp_path / "out") as staging:
            for name, content in own.items():
                (tmp_path / "out" / name).write_text(content)
            (staging / "run.json").write_text("{}")

    with pytest.raises(FileError, match=r"would be replaced \(error\.png, left\.png\)"):
        run()
    assert {file.name: file.read_text() for file in (tmp_path / "out").iterdir()} == own


def test_a_second_run_into_a_folder_is_refused_while_the_first_writes(tmp_path, result):
    with whole_folder(tmp_path / "out"), pytest.raises(FileError, match="another run is writing"):
        result.save(tmp_path / "out")
    assert not (tmp_path / "out").exists()


SLOW_RUN = """
import sys, time
from pathlib import Path
from slanted.output.folder import check_result_folder, whole_folder
with whole_folder(Path(sys.argv[1])) as staging:
    (staging / "disparity.npy").write_text("half")
    print("begun", flush=True)
    time.sleep(600)
"""


def test_a_folder_can_be_used_after_a_run_was_killed(tmp_path, result):
    folder = tmp_path / "out"
    first = subprocess.Popen([sys.executable, "-c", SLOW_RUN, str(folder)], stdout=subprocess.PIPE)
    with first:
        assert first.stdout.readline() == b"begun\n"
        with pytest.raises(FileError, match="another run is writing"):
            result.save(folder)
        first.send_signal(signal.SIGKILL)
    result.save(folder)
    assert Result.load(folder).energy == result.energy
    assert not [path.name for path in folder.iterdir() if path.name.startswith(".")]
