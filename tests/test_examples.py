"""Every program under examples/ runs, says what its page says, and gives what it promises."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import slanted.matching
from slanted.boundary_label import BoundaryLabel

EXAMPLES = Path(__file__).parents[1] / "examples"
SCRIPTS = sorted(EXAMPLES.glob("[0-9][0-9]_*.py"))


@pytest.fixture
def run(tmp_path, monkeypatch, capsys, own_matchers):
    """Run an example in a folder of its own; return its variables and what it printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))

    def run(name, *arguments):
        monkeypatch.setattr(sys, "argv", [name, *map(str, arguments)])
        names = runpy.run_path(str(EXAMPLES / name), run_name="__main__")
        return names, capsys.readouterr().out

    return run


def test_all_are_tested_and_listed():
    tested = Path(__file__).read_text("utf-8")
    listed = (EXAMPLES.parent / "docs" / "examples.md").read_text("utf-8")
    assert len(SCRIPTS) >= 8
    for script in SCRIPTS:
        assert f'run("{script.name}"' in tested
        assert f"[{script.name}](../examples/{script.name})" in listed


def test_first_disparity(run, tmp_path):
    names, said = run("01_first_disparity.py")
    assert "320×240 pixels" in said
    kept = slanted.Result.load(tmp_path / "first-disparity")
    assert kept.disparity.tobytes() == names["result"].disparity.tobytes()


def test_first_disparity_of_files(run, tmp_path):
    scene = slanted.synthetic.make_scene(120, 90, seed=3)
    for name, image in (("l.png", scene.left), ("r.png", scene.right)):
        slanted.write_image(tmp_path / name, image)
    _, said = run("01_first_disparity.py", tmp_path / "l.png", tmp_path / "r.png")
    assert "120×90 pixels" in said


def test_own_disparity(run):
    names, _ = run("02_own_disparity.py")
    off = {
        name: np.abs(disparity - names["scene"].disparity) > 3
        for name, disparity in (("sgbm", names["filled"]), ("ours", names["result"].disparity))
    }
    assert off["ours"].mean() < off["sgbm"].mean()
    assert np.nanmax(names["mine"]) < 64  # pixels, not sixteenths


def test_own_segments(run):
    names, said = run("03_own_segments.py")
    assert names["on_squares"].regions.count == 300
    assert "squares: 300 segments" in said


def test_settings(run):
    names, said = run("04_settings.py")
    assert names["result"].settings.segmentation.count == 200
    assert names["same"].disparity.tobytes() == names["result"].disparity.tobytes()
    assert names["brief"].settings.segmentation.count == 200
    assert "did you mean segmentation.count?" in said


def test_boundary_labels(run):
    names, said = run("05_boundary_labels.py")
    assert names["front"] > names["back"]
    assert all(label.name.lower() in said for label in BoundaryLabel)
    assert names["agreement"] > 0.9


def test_cloud_and_mesh(run, tmp_path):
    trimesh = pytest.importorskip("trimesh")
    names, _ = run("06_cloud_and_mesh.py")
    mesh = trimesh.load(tmp_path / "mesh.ply")
    assert len(mesh.faces) == len(names["faces"])
    assert mesh.bounds[0][2] == pytest.approx(names["depth"].min(), rel=0.05)
    assert (tmp_path / "mesh.glb").stat().st_size > 10_000


def test_batch(run):
    _, said = run("07_batch.py")
    assert "first: 3 done, 0 skipped, 0 failed\nagain: 0 done, 3 skipped, 0 failed\n" in said


def test_video(run):
    _, said = run("08_video.py")
    assert said.count("told") == 4


def test_stream(run):
    names, said = run("15_stream.py")
    assert said.count("by itself") == 2
    assert said.count("from the last one") == 4
    state = names["camera"].state
    assert state.frames + state.dropped == 6
    assert 1 <= state.frames <= 3


def test_kitti_layout(run):
    names, said = run("09_kitti_layout.py")
    assert [frame.name for frame in names["frames"]] == ["000001_10"]
    assert names["mean"]["out-3px-noc"] < 5
    assert "slanted" in said


def test_own_matcher(run):
    _, said = run("10_own_matcher.py")
    assert said.startswith("sad ")
    assert "sad" in slanted.matching.matcher_names()


def test_own_potential(run):
    _, said = run("11_own_potential.py")
    wrong = [float(line.split(":")[1].split("%")[0]) for line in said.splitlines()]
    assert wrong[2] < wrong[1] < wrong[0]


def test_own_camera(run, tmp_path):
    names, _ = run("12_own_camera.py")
    cameras = names["virtual_cameras"] = sys.modules["virtual_cameras"]
    true_baseline = float(np.linalg.norm(cameras.RIGHT.position - cameras.LEFT.position))
    assert names["baseline"] == pytest.approx(true_baseline, rel=0.01)
    assert names["result"].calibration.baseline_meters == pytest.approx(true_baseline, rel=0.01)
    for found, camera in (
        (names["matrix_left"], cameras.LEFT),
        (names["matrix_right"], cameras.RIGHT),
    ):
        assert np.abs(found - camera.matrix).max() < 6  # pixels, of focal lengths and centres
    assert max(names["rms_left"], names["rms_right"], names["rms"]) < 0.2
    assert names["offset"] < 0.5
    # The wall: the upper middle of the picture. The rig may turn when it is rectified, so the depth
    # is that along the new axis; the wall stays flat, 3 m away to within 2 %.
    wall = names["depth"][40:120, 260:420]
    assert np.median(wall) == pytest.approx(3.0, rel=0.02)
    assert np.abs(wall / np.median(wall) - 1).max() < 0.06
    assert (tmp_path / "own-camera" / "mesh.glb").stat().st_size > 10_000


def test_typed(run):
    _, said = run("13_typed.py")
    assert "320×240 pixels" in said
    assert "did you mean fast?" in said


def test_types_are_strict_for_users(tmp_path):
    """Against the installed package, without this project's own settings of mypy."""
    pytest.importorskip("mypy")
    wrong = tmp_path / "wrong.py"
    wrong.write_text(
        "import slanted\n"
        "slanted.estimate('l.png', 'r.png', max_disparity='many')\n"
        "slanted.estimate('l.png', 'r.png', chanels='bgr')\n"
        "slanted.estimate(3, 'r.png')\n"
        "slanted.Result.load('out').depth().no_such\n"
    )
    # Where slanted is not installed but on the path, mypy must be told, too.
    environment = {**os.environ, "MYPYPATH": os.environ.get("PYTHONPATH", "")}
    options = ["--strict", "--config-file=", f"--cache-dir={tmp_path / 'cache'}"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, EXAMPLES / "13_typed.py", wrong],
        capture_output=True, text=True, cwd=tmp_path, env=environment, check=False,
    )  # fmt: skip
    faults = [line for line in done.stdout.splitlines() if "error:" in line]
    assert [line.partition(": error")[0] for line in faults] == [
        f"wrong.py:{line}" for line in (2, 3, 4, 5)
    ], done.stdout + done.stderr


def test_in_place_of_sgbm(run):
    names, said = run("14_in_place_of_sgbm.py")
    assert names["wrong"]["slanted"] < names["wrong"]["SGBM"]
    assert 0.01 < names["holes"].mean() < 0.9
    assert "slanted: 100 % known" in said
