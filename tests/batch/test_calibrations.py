"""Pairs with a calibration get depth and clouds; a bad one is told before the work begins."""

import json
import shutil
import warnings

import numpy as np
import pytest

from batch.results import result_files, summary
from slanted.batch.calibrations import calibration_beside, with_calibrations
from slanted.batch.pairs import Pair, find_pairs
from slanted.batch.run import run_batch
from slanted.cli import main
from slanted.errors import FileError, SlantedWarning
from slanted.io import Calibration, read_calibration

KITTI = (
    "P_rect_02: 100 0 {x} {shift} 0 100 32 0 0 0 1 0\n"
    "P_rect_03: 100 0 {x} -50 0 100 32 0 0 0 1 0\n"
    "S_rect_02: {width} 64\n"
)
QUICK = ("--max-disparity", "32", "--inference.particles", "4", "--workers", "1", "--quiet")


def kitti_file(path, *, x=64, shift=0, width=128):
    path.parent.mkdir(exist_ok=True)
    path.write_text(KITTI.format(x=x, shift=shift, width=width))
    return path


def run(*arguments):
    with pytest.raises(SystemExit) as exited:
        main([str(a) for a in arguments])
    return exited.value.code or 0


@pytest.fixture
def own_kitti(kitti, tmp_path):
    """Two pairs in KITTI's layout, to which calibrations can be added."""
    root = tmp_path / "kitti"
    for camera in ("image_2", "image_3"):
        (root / "training" / camera).mkdir(parents=True)
        for number in range(2):
            name = f"training/{camera}/00000{number}_10.png"
            shutil.copy(kitti / name, root / name)
    return root


def test_one_calibration_for_all_pairs(own_kitti, tmp_path, capsys):
    calib = kitti_file(tmp_path / "calib.txt")
    out = tmp_path / "out"
    assert run("batch", own_kitti, "-o", out, "--calib", calib, *QUICK, "--json") == 0
    assert json.loads(capsys.readouterr().out)["calibrated"] == 2
    for row in summary(out):
        folder = out / row["name"]
        disparity, depth = np.load(folder / "disparity.npy"), np.load(folder / "depth.npy")
        near = (disparity > 1) & np.isfinite(depth)
        assert near.any()
        np.testing.assert_allclose(depth[near], 100 * 0.5 / disparity[near], rtol=1e-5)
        assert (folder / "cloud.ply").read_bytes().startswith(b"ply\n")
        assert json.loads((folder / "run.json").read_text())["calibration"]["fx_pixels"] == 100
    code = run("batch", own_kitti, "-o", out, "--calib", calib, *QUICK, "--resume", "--json")
    assert code == 0
    assert json.loads(capsys.readouterr().out)["skipped"] == 2
    run("batch", own_kitti, "-o", out, "--fx", 90, "--baseline", 1, *QUICK, "--resume", "--json")
    assert json.loads(capsys.readouterr().out)["done"] == 2  # another calibration is another input


def test_numbers_put_the_principal_point_at_the_centre(own_kitti, tmp_path):
    out = tmp_path / "out"
    assert run("batch", own_kitti, "-o", out, "--fx", 90, "--baseline", 1, *QUICK) == 0
    record = json.loads((out / "training/000000_10/run.json").read_text())
    assert record["calibration"]["cx_pixels"] == 63.5


def test_each_pair_has_its_own(own_kitti, tmp_path, quick):
    one = kitti_file(own_kitti / "training/calib_cam_to_cam/000000.txt", shift=-10)
    pairs = find_pairs(own_kitti)
    found = with_calibrations(pairs)
    assert [pair.calibration for pair in found] == [read_calibration(one), None]
    assert found[0].calibration.baseline_meters == pytest.approx(0.4)
    run_batch(found, tmp_path / "out", quick, workers=1)
    depths = {name for name in result_files(tmp_path / "out") if name.endswith("depth.npy")}
    assert depths == {"training/000000_10/depth.npy"}
    assert run("batch", own_kitti, "-o", tmp_path / "none", "--no-calib", *QUICK) == 0
    assert not list((tmp_path / "none").rglob("depth.npy"))


def test_a_manifest_names_calibrations(own_kitti, tmp_path):
    kitti_file(own_kitti / "mine.txt", shift=-20)
    (own_kitti / "pairs.csv").write_text(
        "left,right,name,calib\n"
        "training/image_2/000000_10.png,training/image_3/000000_10.png,a,mine.txt\n"
        "training/image_2/000001_10.png,training/image_3/000001_10.png,b,\n"
    )
    first, second = with_calibrations(find_pairs(own_kitti / "pairs.csv"))
    assert first.calibration.baseline_meters == pytest.approx(0.3)
    assert second.calibration is None


def test_where_calibrations_are_looked_for(tmp_path):
    def made(name):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
        return tmp_path / name

    assert calibration_beside(tmp_path / "Art/im0.png") is None
    assert made("Art/calib.txt") == calibration_beside(tmp_path / "Art/im0.png")
    assert calibration_beside(tmp_path / "Art/left.png") is None
    assert made("2012/calib/000003.txt") == calibration_beside(
        tmp_path / "2012/colored_0/000003_10.png"
    )
    assert made("odometry/calib.txt") == calibration_beside(tmp_path / "odometry/image_2/07.png")
    # KITTI's files hold both pairs of cameras, and the colour one is read.
    assert calibration_beside(tmp_path / "odometry/image_0/07.png") is None


def test_a_pair_that_cannot_be_read_does_not_stop_the_others(tmp_path):
    pair = Pair("a", tmp_path / "none.png", tmp_path / "none.png")
    cameras = Calibration(1.0, 1.0, 0.0, 0.0, 1.0)
    assert with_calibrations([pair], lambda size: cameras) == [pair]


BAD = {
    "missing": (["--calib", "none.txt"], "none.txt: "),
    "no calibration": (["--calib", "text.txt"], "text.txt: "),
    "of other images": (["--calib", "wide.txt"], "expected the calibration of images of 128×64"),
    "half of the numbers": (["--fx", "7"], "--fx, --baseline: expected both"),
    "both": (["--no-calib", "--fx", "7", "--baseline", "1"], "--no-calib: means the opposite"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_calibrations_are_told_before_anything_is_written(
    case, own_kitti, tmp_path, capsys, monkeypatch
):
    arguments, message = BAD[case]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.txt").write_text("hello: world\n")
    kitti_file(tmp_path / "wide.txt", width=1242)
    assert run("batch", own_kitti, "-o", "out", *arguments, *QUICK) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("slanted: error: ")
    assert message in line
    assert not (tmp_path / "out").exists()


def test_a_manifest_with_a_missing_calibration(own_kitti):
    (own_kitti / "pairs.csv").write_text(
        "left,right,calib\ntraining/image_2/000000_10.png,training/image_3/000000_10.png,no.txt\n"
    )
    with pytest.raises(FileError, match=r"no\.txt: .*--no-calib"):
        with_calibrations(find_pairs(own_kitti / "pairs.csv"))


def test_a_bad_calibration_that_was_only_found_is_left_out_with_a_warning(own_kitti):
    files = own_kitti / "training/calib_cam_to_cam"
    kitti_file(files / "000000.txt")
    kitti_file(files / "000001.txt", width=1242)
    problem = r"000001\.txt: expected the calibration of images of 128×64.*; training/000001_10 is "
    with pytest.warns(SlantedWarning, match=problem) as told:
        first, second = with_calibrations(find_pairs(own_kitti))
    assert len(told) == 1
    assert first.calibration is not None
    assert second.calibration is None


def test_a_bad_calibration_of_a_whole_drive_is_told_once(own_kitti):
    (own_kitti / "training/calib.txt").write_text("hello: world\n")
    with pytest.warns(SlantedWarning, match=r"calib\.txt: .*; 2 pairs are") as told:
        found = with_calibrations(find_pairs(own_kitti))
    assert len(told) == 1
    assert [pair.calibration for pair in found] == [None, None]
    # Whoever names it is told before the work begins.
    (own_kitti / "pairs.csv").write_text(
        "left,right,calib\n"
        "training/image_2/000000_10.png,training/image_3/000000_10.png,training/calib.txt\n"
    )
    with pytest.raises(FileError, match=r"calib\.txt: .*--no-calib"):
        with_calibrations(find_pairs(own_kitti / "pairs.csv"))


def test_a_batch_goes_on_without_a_bad_calibration_that_was_found(own_kitti, tmp_path, capsys):
    (own_kitti / "training/calib.txt").write_text("hello: world\n")
    with warnings.catch_warnings():
        warnings.simplefilter("always", SlantedWarning)
        assert run("batch", own_kitti, "-o", tmp_path / "out", *QUICK, "--json") == 0
    out, err = capsys.readouterr()
    assert (json.loads(out)["done"], json.loads(out)["calibrated"]) == (2, 0)
    assert err.startswith("slanted: warning: ")
    assert "calib.txt: " in err
