"""What commands say of compiling, and ``slanted warmup``."""

import json
import threading

import cv2
import numpy as np
import pytest

from slanted.cli import main, progress, warmup
from slanted.runtime import compilation
from slanted.runtime.kernel_list import Specialisation, listed

TWO = listed()[:2]


@pytest.fixture
def cold(tmp_path, monkeypatch):
    """Two kernels that are not in the cache, as far as commands can tell."""
    kept = tmp_path / "kept"
    kept.mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(compilation, "cache_folder", lambda: kept)
    monkeypatch.setattr(compilation, "listed", lambda: TWO)
    monkeypatch.setattr(compilation, "_start_helper", lambda: None)
    monkeypatch.setattr(Specialisation, "is_kept", lambda _: False)
    monkeypatch.setattr(warmup, "small_runs", lambda progress: progress("small runs"))
    wide = np.random.default_rng(0).integers(0, 256, (60, 110, 3)).astype(np.uint8)
    cv2.imwrite("left.png", wide[:, :100])
    cv2.imwrite("right.png", wide[:, 10:])


def run(*arguments):
    with pytest.raises(SystemExit) as exited:
        main(arguments)
    assert exited.value.code in (0, None)


MATCH = ("run", "left.png", "right.png", "--stop-after", "matching")


@pytest.mark.usefixtures("cold")
def test_the_first_run_says_that_it_compiles_and_the_second_does_not(capfd):
    run(*MATCH)
    assert "compiling kernels, once: 2 of 2" in capfd.readouterr().err.splitlines()
    run(*MATCH, "-o", "again")
    assert "compiling" not in capfd.readouterr().err


@pytest.mark.usefixtures("cold")
def test_a_log_moves_on_while_a_kernel_takes_long(capfd, monkeypatch):
    """One that takes until the third line of the log."""
    told = threading.Semaphore(0)
    monkeypatch.setattr(progress, "EVERY_SECONDS", 0.01)
    monkeypatch.setattr(Specialisation, "compile", lambda _: [told.acquire() for _ in range(3)])

    class Watched(progress.Report):
        def progress(self, text):
            super().progress(text)
            told.release()

    progress.compile_listed(Watched(quiet=False, as_json=False))
    lines = capfd.readouterr().err.splitlines()
    assert set(lines) == {f"compiling kernels, once: {done} of 2" for done in range(3)}
    assert lines.count("compiling kernels, once: 0 of 2") >= 3


@pytest.mark.usefixtures("cold")
def test_quiet_is_quiet(capfd):
    run(*MATCH, "--quiet")
    assert capfd.readouterr() == ("", "")


@pytest.mark.usefixtures("cold")
def test_bad_input_is_told_before_anything_is_compiled(capfd):
    with pytest.raises(SystemExit) as exited:
        main(["run", "left.png", "none.png"])
    assert exited.value.code == 2
    assert "compiling" not in capfd.readouterr().err


@pytest.mark.usefixtures("cold")
def test_where_nothing_may_be_written_runs_say_so_and_work(capfd, monkeypatch):
    monkeypatch.setattr(compilation, "cache_folder", lambda: None)
    run(*MATCH)
    assert "set NUMBA_CACHE_DIR" in capfd.readouterr().err


@pytest.mark.usefixtures("cold")
def test_warmup_tells_what_it_did_and_where(capfd, tmp_path, monkeypatch):
    run("warmup", "--json")
    out, err = capfd.readouterr()
    told = json.loads(out)
    assert told["kernels"] == 2
    assert told["folder"] == str(tmp_path)
    assert err.splitlines()[-1] == "small runs"
    run("warmup")
    assert f"kept in {tmp_path}" in capfd.readouterr().out
    monkeypatch.setattr(compilation, "cache_folder", lambda: None)
    run("warmup")
    assert "nothing is kept" in capfd.readouterr().out
