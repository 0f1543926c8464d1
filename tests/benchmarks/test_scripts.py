"""Every benchmark runs, if only for seconds on made-up data, and has the options it documents."""

import inspect
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="benchmarks are not shipped")
SCRIPTS = sorted(file.stem for file in FOLDER.glob("*.py") if file.stem != "common")
PAGES = [*FOLDER.parent.glob("*.md"), *FOLDER.parent.glob("docs/*.md"), FOLDER / "README.md"]
NEEDS = {
    "kernel_coverage": "coverage",
    "viewer_speed": "playwright",
    "viewer_strip": "playwright",
    "batch_throughput": "dask",
    "recordings": "rosbags",
}
APART = ("mutants",)
"""Scripts that must run before Numba is imported."""


@pytest.fixture(autouse=True)
def _importable(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    yield
    for name in {file.stem for file in FOLDER.glob("*.py")} & set(sys.modules):
        del sys.modules[name]


@pytest.fixture
def run(monkeypatch, tmp_path, capsys):
    """Run a script in this process, which has everything imported; return what it printed."""
    monkeypatch.chdir(tmp_path)

    def run(name, *arguments):
        file = str(FOLDER / f"{name}.py")
        monkeypatch.setattr(sys, "argv", [file, *arguments])
        try:
            runpy.run_path(file, run_name="__main__")
        except SystemExit as ended:
            assert not ended.code, ended.code
        return capsys.readouterr().out

    return run


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_script_works(name, run):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    if NEEDS.get(name) == "playwright" and not shutil.which("chromium"):
        assert "SLANTED_NEEDS_BROWSER" not in os.environ
        pytest.skip("there is no chromium")
    if name in APART:
        command = [sys.executable, str(FOLDER / f"{name}.py"), "--smoke"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    else:
        run(name, "--smoke")


@pytest.mark.parametrize("name", [name for name in SCRIPTS if name not in APART])
def test_options_are_as_documented(name, run):
    described = run(name, "--help")
    usage, text = described.split("\n\n", 1)
    commands = re.findall(rf"python benchmarks/{name}\.py[^`\n]*(?:\n    .*)?", text)
    for page in PAGES:
        commands += re.findall(rf"benchmarks/{name}\.py[^`\n]*", page.read_text("utf-8"))
    for option in re.findall(r"--[\w-]+", " ".join(commands)):
        assert option in usage, f"{name}: {option}"


def test_every_script_is_listed_and_every_name_is_a_script():
    listed = (FOLDER / "README.md").read_text("utf-8")
    assert re.findall(r"^\| `(\w+)\.py` \|", listed, re.MULTILINE)
    for name in SCRIPTS:
        assert f"| `{name}.py` |" in listed
    for page in PAGES:
        for name in re.findall(r"benchmarks/(\w+)\.py", page.read_text("utf-8")):
            assert name in SCRIPTS, f"{page.name}: {name}"


def write(folder, name, results):
    origin = {"date": "today", "commit": "abc", "Python": "3", "machine": "m", "benchmark": name}
    (folder / f"{name}.json").write_text(json.dumps({**origin, "results": results}))


def test_the_page_has_what_was_measured_and_names_what_was_not(tmp_path):
    from performance_page import SECTIONS, page

    times = {"wall": 12.3456, "cpu": 0.25}
    write(tmp_path, "startup", {"first run": times})
    text = page(tmp_path)
    assert "| first run | 12.3 | 0.25 |" in text
    assert "commit abc" in text
    missing = [
        name for name in SECTIONS if f"Not measured yet: `python benchmarks/{name}.py`" in text
    ]
    assert sorted([*missing, "startup"]) == sorted(SECTIONS)


def test_the_page_has_a_table_for_every_benchmark(tmp_path):
    from performance_page import page

    stages = {"matching": 0.5, "inference": 1.25}
    row = {"frames": 20, "seconds": 1.0, "ratio": 2.0, "least": 1.5, "most": 2.5}
    fast = {**row, "cold seconds": 3.0, "stages": stages}
    apart = {"cores apart, ns": {"median": 50.0, "least": 40.0, "most": 60.0}}
    timed = {"KITTI: SGBM HH": {**row, "stages": {}}, "KITTI: fast": fast}
    write(tmp_path, "speed", {**apart, **timed})
    write(tmp_path, "core_distance", {"near": {"runs": 7, "ns": 55.0, "seconds": 0.25}})
    peaks = {"peak MiB": 300.0, "stages MiB": {"matching": 250.0}}
    write(tmp_path, "memory", {"imports MiB": 150.0, "KITTI": peaks})
    point = {"value": 500, "segments": 480, "seconds": 1.5, "stages": stages}
    write(tmp_path, "scaling", {"segments": {"rows": [point], "exponents": {"seconds": 0.875}}})
    errors = {"out-3px-noc": 3.5, "out-3px-all": 4.25, "D1-all": 4.5}
    ours = {"fast": {"ratio": 0.75, "seconds": 0.3, **errors}}
    peers = {"SPS": {"ratio": None, **errors}}
    write(tmp_path, "accuracy_per_second", {"points": ours, "peers": peers})
    kernel = {"calls": 1, "seconds": 0.1, "MB": 5.0, "GB/s": 0.05, "Mlane": None, "Glane/s": None}
    machine = {"bandwidth GB/s": 9.5, "Glane/s": 40.0, "run seconds": 1.0}
    machine |= {"seconds in kernels": 0.9, "kernels": {"a.b": {**kernel, "percent of roof": 12.5}}}
    write(tmp_path, "roofline", machine)
    text = page(tmp_path)
    for line in (
        "| KITTI: SGBM HH | 20 | 1 | 2 | 1.5 | 2.5 | – |",
        "| KITTI: fast | 20 | 1 | 2 | 1.5 | 2.5 | 3 |",
        "| inference | 1.25 |",
        "after 50 ns (40 to 60)",
        "| near | 7 | 55 | 0.25 |",
        "| KITTI | 300 | 250 |",
        "| segments | 0.875 | – | – | – |",
        "| fast | 0.75 | 0.3 | 3.5 | 4.25 | 4.5 |",
        "| SPS | – | – | 3.5 | 4.25 | 4.5 |",
        "| `a.b` | 1 | 0.1 | 5 | 0.05 | – | – | 12.5 |",
    ):
        assert line in text


def test_exponents_are_those_of_powers():
    from common import exponent

    sizes = [1.0, 2.0, 5.0, 9.0]
    assert exponent(sizes, [3 * size**1.5 for size in sizes]) == pytest.approx(1.5)
    assert np.isnan(exponent([1.0], [1.0]))


def test_kernels_are_counted_and_put_back():
    from roofline import against_roof, timed_kernels
    from slanted.matching import interpolation

    kernel = interpolation._fill_rows
    matched = np.full((6, 8), np.nan, np.float32)
    matched[:, 3] = 5
    with timed_kernels() as tally:
        interpolation.interpolate_background(matched)
    assert interpolation._fill_rows is kernel
    row = tally["interpolation._fill_rows"]
    assert row["calls"] >= 1
    assert row["bytes"] >= matched.nbytes
    assert against_roof({**row, "bytes": 50.0}, 2.0, 100.0, 1.0)["percent of roof"] == 25


def test_formulas_are_of_kernels_that_a_run_calls():
    from roofline import OPERATIONS, UNKNOWN, WHOLE
    from slanted.runtime.kernel_list import listed

    called = {".".join(entry.kernel.split(".")[-2:]): entry.dispatcher for entry in listed()}
    assert {*OPERATIONS, *WHOLE, *UNKNOWN} <= set(called)
    for kernel, whole in WHOLE.items():
        assert whole in inspect.signature(called[kernel].py_func).parameters


def test_calls_for_parts_of_a_table_count_it_once():
    from roofline import WHOLE, _bytes

    whole = WHOLE["block_kernels.update_block"]
    table = np.zeros((9, 4))
    nodes = [np.arange(0, 2), np.arange(2, 5), np.arange(5, 9)]
    counted = sum(_bytes({"nodes": part, whole: table}, None, whole) for part in nodes)
    assert counted == table.nbytes + sum(part.nbytes for part in nodes)


def test_peers_are_read_for_the_same_frames(tmp_path, monkeypatch):
    import accuracy_per_second as script

    (tmp_path / "peers").mkdir()
    head = "method,frame,split,out-3px-noc,out-3px-all,D1-all\n"
    lines = (
        "SPS-Stereo,000001_10,v,1,2,3\nSPS-Stereo,000002_10,v,3,4,5\nSPS-Stereo,000009_10,v,9,9,9\n"
    )
    (tmp_path / "peers" / "kitti2015.csv").write_text(head + lines)
    (tmp_path / "peers" / "README.md").write_text("cv2 SGBM HH 0.5 s / 1 MB; SPS-Stereo 1.5 s")
    monkeypatch.setattr(script, "data_folder", lambda: tmp_path / "data")

    class Frame:
        def __init__(self, name):
            self.left = Path(f"image_2/{name}.png")

    found = script.peers([Frame("000001_10"), Frame("000002_10")])
    expected = {"ratio": 3.0, "out-3px-noc": 2.0, "out-3px-all": 3.0, "D1-all": 4.0}
    assert found == {"SPS-Stereo": expected}


def test_lines_of_kernels_are_those_inside_them(tmp_path):
    from kernel_coverage import kernel_lines

    source = tmp_path / "some_kernels.py"
    source.write_text(
        "from slanted.runtime.kernel import kernel\n"
        "@kernel\ndef one(x):\n    return x\n"  # line 4
        "def plain(x):\n    return x\n"
        "@kernel(inline='always')\ndef two(\n    x,\n):\n    x += 1\n    return x\n"  # 11 and 12
    )
    assert kernel_lines(source) == {4, 11, 12}
