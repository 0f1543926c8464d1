"""A bounded run of the fuzzers (fuzz/), and every input they ever found."""

import io
import json
import time
import zipfile
from random import Random

import numpy as np
import pytest

from fuzz.command import main
from fuzz.engine import fuzz
from fuzz.mutate import VALUES, mutate
from fuzz.target import Finding, Target, attempt, scratch
from fuzz.targets import TARGETS
from slanted.errors import FileError, InputError, SlantedError

RUNS = 120
KITTI = b"P0: 700 0 600 0 0 700 170 0 0 0 1 0\nP1: 700 0 600 -380 0 700 170 0 0 0 1 0\n"
ROS = b"camera_name: left\nP: [5, 0, 3, 0, 0, 5, 2, 0, 0, 0, 1, 0]\n"


@pytest.mark.parametrize("name", TARGETS)
def test_a_bounded_run_finds_nothing(name):
    outcome = fuzz(TARGETS[name], RUNS, seconds=60, guided=False)
    assert not outcome.findings
    assert outcome.executions > 0


@pytest.mark.parametrize("name", TARGETS)
def test_a_target_reaches_what_it_is_for(name):
    """At least one seed is read to the end: otherwise only refusals would be fuzzed."""
    target = TARGETS[name]
    refused = []
    for data in target.seeds():
        try:
            target.read(scratch(), data)
        except SlantedError as error:
            refused.append(str(error))
    assert len(refused) < len(target.seeds()), refused


def npz_of_one_member(data, **options):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", **options) as archive:
        archive.writestr("segments.npy", data)
    return stream.getvalue()


def npy_header(text):
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


FOUND = {
    "npy: a confidence beyond float32": (
        "npy",
        npy_header("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1), }\n")
        + np.float64(1e300).tobytes(),
    ),
    "yaml: brackets take minutes": ("calibration", ROS + b"D: " + b"[" * 2000),
    "yaml: an empty int": ("calibration", ROS + b"D: !!int ''\n"),
    "yaml: no bool": ("calibration", ROS + b"D: !!bool x\n"),
    "yaml: no time": ("calibration", ROS + b"D: !!timestamp x\n"),
    "yaml: an int beyond float": ("calibration", ROS.replace(b"[5,", b"[" + b"9" * 400 + b",")),
    "calibration: an infinite size": ("calibration", KITTI + b"S_rect_02: inf 5\n"),
    "calibration: a size that is none": ("calibration", KITTI + b"S_rect_02: nan 5\n"),
    "calibration: 0 / 0": ("calibration", KITTI.replace(b"700 0 600 0", b"inf 0 600 inf")),
    "toml: brackets": ("settings", b"seed = " + b"[" * 5000),
    "toml: a number of 5000 digits": ("settings", b"seed = " + b"9" * 5000),
    "toml: a key that clears the screen": ("settings", b'"\\u001b[2J" = 1\n'),
    "toml: a key of 20,000 letters": ("settings", b"a" * 20_000 + b" = 1\n"),
    "toml: learned is no table": ("settings", b"learned = 3\n"),
    "space: brackets": ("space", b"seed = " + b"[" * 5000),
    "manifest: a name of 5000 digits": ("manifest", b"left,right,name\na,b," + b"9" * 5000),
    "manifest: a null": ("manifest", b"left,right\na\0b.png,b.png\n"),
    "manifest: long names of what is not printed": (
        "manifest",
        b"left,right\n" + (b"\x18" * 250 + b".png,b.png\n") * 2,
    ),
    "tiff: a directory beyond all places": ("tiff", b"II+\0\x08\0\0\0" + b"\xff" * 8),
    "float-tiff: the same": ("float-tiff", b"MM\0+\0\x08\0\0" + b"\xff" * 8),
    "pnm: a number of 40 digits": ("pnm", b"P2\n2 1\n255\n3 " + b"9" * 40),
    "pnm: one long word among many": ("pnm", b"P2\n999 99\n9\n" + b"1 " * 98_901 + b"1" * 49_000),
    "npy: nothing times an absurd length": (
        "npy",
        npy_header(f"{{'descr': '<f4', 'fortran_order': False, 'shape': {(0, 10**30)}}}"),
    ),
    "npy: 70 axes": (
        "npy",
        npy_header(f"{{'descr': '<f4', 'fortran_order': False, 'shape': {(0,) * 70}}}"),
    ),
    "npy: a header that NumPy warns about": (
        "npy",
        npy_header("{'descr': '<f4', 'fortran_order': False, 'shape': (1L,)}") + bytes(4),
    ),
    "checkpoint: a file elsewhere": ("checkpoint", b'{"messages": "../../../etc/passwd"}'),
    "checkpoint: brackets": ("checkpoint", b"[" * 50_000),
    "npz: bzip2": ("npz", npz_of_one_member(b"x", compression=zipfile.ZIP_BZIP2)),
    "batch summary: a name too long": (
        "batch-summary",
        b'{"status": "", "name": "' + b"9" * 300 + b'"}',
    ),
    "batch summary: a number too large": (
        "batch-summary",
        b'{"status": "", "name": "a", "width": 1' + b"0" * 400 + b"}",
    ),
    "batch record: brackets": ("batch-record", b"[" * 50_000),
}


@pytest.mark.parametrize("case", FOUND)
def test_what_was_found_once(case):
    name, data = FOUND[case]
    attempt(TARGETS[name], data)


def test_changes_of_trees_leave_their_words_alone():
    before, draw, data = repr(VALUES), Random(1), b'{"a": [1]}'
    for _ in range(300):
        data = mutate(b'{"a": [1, [2]]}' if len(data) > 99 else data, b"", (), draw)
    assert repr(VALUES) == before


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (KeyError("x"), "KeyError"),
        (MemoryError(), "MemoryError"),
        (RecursionError(), "RecursionError"),
        (UserWarning("w"), "UserWarning"),
        (AssertionError("false"), "AssertionError"),
    ],
)
def test_untyped_errors_are_findings(error, words):
    def read(folder, data):
        raise error

    with pytest.raises(Finding, match=words):
        attempt(Target("broken", read, list), b"")


def test_hangs_and_memory_are_findings(monkeypatch):
    def hang(folder, data):
        while True:
            pass

    with pytest.raises(Finding, match="MemoryError"):  # first, while there is time for it
        attempt(Target("large", lambda *_: np.ones(2**30), list), b"")
    monkeypatch.setattr("fuzz.target.SECONDS", 0.2)
    with pytest.raises(Finding, match=r"took more than 0\.2 s$"):
        attempt(Target("slow", hang, list), b"")
    monkeypatch.setattr("fuzz.target.WAITING_SECONDS", 0.2)
    with pytest.raises(Finding, match=r"took more than 0\.2 s by the clock"):
        attempt(Target("waiting", lambda *_: time.sleep(5), list), b"")


def test_coverage_guides_the_search():
    """A word of three letters, each of which reaches a further line of slanted, is found."""
    from slanted.io import pfm

    def read(folder, data):
        pfm.decode(folder, data)
        raise KeyError

    target = Target("pfm", read, lambda: [b"Pf\n1 1\n"], (b"-1.0\n", b"\0\0\0\0"))
    outcome = fuzz(target, 50_000, seconds=120, until_found=True)
    assert any("KeyError" in finding for finding in outcome.findings)
    assert outcome.kept > 1


def test_messages_stay_one_printable_line():
    assert str(InputError("a\x1b[2J\nb")) == "a\\x1b[2J\\nb"
    for letter, shown in (("x", "xxx"), ("\x1b", r"\x1b\x1b"), ("\U000e0001", r"\U000e0001")):
        for count in (900, 10**6):
            long = str(FileError("file", letter * count))
            assert long.startswith(f"file: {shown}")
            assert len(long) < 1100
            assert ("…" in long) == (count > 900 or letter != "x")


def test_greedy_targets_are_findings():
    """Whether memory is taken for a moment, or an error hides that there was none left."""

    def greedy(folder, data):
        np.ones(60_000_000)  # freed at once

    def hiding(folder, data):
        try:
            np.ones(2**30)
        except MemoryError as error:
            raise FileError("a", "is damaged") from error

    assert attempt(Target("modest", lambda *_: np.ones(10_000_000), list), b"").megabytes > 70
    with pytest.raises(Finding, match=r"took more than 400 MB \(4\d\d\)"):
        attempt(Target("greedy", greedy, list), b"")
    with pytest.raises(Finding, match="ran out of memory"):
        attempt(Target("hiding", hiding, list), b"")
    outcome = fuzz(Target("greedy", greedy, lambda: []), 3, seconds=60, corpus=[b"a"])
    assert next(iter(outcome.findings)).startswith("took more than 400 MB")


def test_executions_are_counted_over_restarts(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("fuzz.command.ROUND_RUNS", 15)
    log = tmp_path / "log.jsonl"
    for wanted, rounds in ((20, 2), (20, 2), (50, 4)):
        arguments = ["fuzz", "pfm", "--executions", str(wanted), "--log", str(log)]
        monkeypatch.setattr("sys.argv", [*arguments, "--findings", str(tmp_path)])
        assert main() == 0
        rows = [json.loads(line) for line in log.read_text().splitlines()]
        assert [row["executions"] for row in rows] == [15] * rounds
        assert capsys.readouterr().out.endswith(f"{15 * rounds} executions, log in {log}\n")
    assert all(row["most_megabytes"] < 50 for row in rows)
