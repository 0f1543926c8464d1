"""Bad input: one sentence, exit code 2, nothing written. One row a case.

The doors of Python, such as arrays and images of Pillow, have their rows in ``test_calls.py``.
"""

import struct

import cv2
import numpy as np
import pytest

from slanted.cli import main

KITTI_CALIB = "P_rect_02: 700 0 600 45 0 700 170 0 0 0 1 0\n"


@pytest.fixture(scope="module")
def pair():
    """A textured pair, ten pixels apart."""
    rng = np.random.default_rng(0)
    wide = cv2.GaussianBlur(rng.integers(0, 256, (160, 250, 3)).astype(np.uint8), (0, 0), 1.5)
    return wide[:, :240].copy(), wide[:, 10:].copy()


@pytest.fixture
def files(tmp_path, monkeypatch, pair):
    """A folder with good files, and one of each kind of bad ones; the tests run inside it."""
    monkeypatch.chdir(tmp_path)
    left, right = pair
    cv2.imwrite("left.png", left)
    cv2.imwrite("right.png", right)
    cv2.imwrite("small.png", right[:, :90])
    cv2.imwrite("tiny.png", right[:4, :4])
    cv2.imwrite("row.png", np.zeros((1, 64, 3), np.uint8))
    cv2.imwrite("deep.png", right.astype(np.uint16) * 200)
    cv2.imwrite("float.tiff", right.astype(np.float32))
    cv2.imwrite("black.png", left * 0)
    cv2.imwrite("white.png", left * 0 + 255)
    cv2.imwrite("low.png", np.roll(right, 25, axis=0))
    png = (tmp_path / "left.png").read_bytes()
    contents = {
        "truncated.png": png[: len(png) // 2],
        "cut_at_end.png": png[:-1],
        "empty.png": b"",
        "text.onnx": b"this is no model",
        "text.png": b"this is no picture",
        "bad_header.pfm": b"P7\n3 4\n-1\n" + bytes(48),
        "bad_size.pfm": b"Pf\nthree 4\n-1\n" + bytes(48),
        "short.pfm": b"Pf\n240 160\n-1\n" + bytes(48),
        "zero_scale.pfm": b"Pf\n240 160\n0\n" + bytes(153600),
        "colour.pfm": b"PF\n240 160\n-1\n" + bytes(460800),
        "objects.npy": b"\x93NUMPY\x01\x00v\x00{'descr': '|O', 'fortran_order': False}",
        "calib.txt": KITTI_CALIB.encode(),
        "sized.txt": b"cam0=[700 0 120; 0 700 80; 0 0 1]\ncam1=[700 0 120; 0 700 80; 0 0 1]\n"
        b"doffs=0\nbaseline=100\nwidth=1240\nheight=160\n",
        "no_calib.txt": b"hello: world\n",
        "raw.yml": b"%YAML:1.0\n---\nK1: [700, 0, 120, 0, 700, 80, 0, 0, 1]\n",
        "settings.toml": b"[matching]\nmetod = 'sgbm'\n",
        "broken.toml": b"[matching\n",
    }
    for name, data in contents.items():
        (tmp_path / name).write_bytes(data)
    good = np.full((160, 240), 10, np.float32)
    arrays = {
        "good": good,
        "other_size": good[:50],
        "negative": np.where(np.arange(240) == 3, -2, good),
        "minus_inf": np.where(np.arange(240) == 3, -np.inf, good),
        "all_nan": good * np.nan,
        "three_d": np.stack([good] * 3),
        "complex": good * 1j,
        "times16": good * 16 * 16,
    }
    for name, array in arrays.items():
        np.save(f"{name}.npy", array)
    cv2.imwrite("small_labels.png", good[:, :90].astype(np.uint8))
    cv2.imwrite("eight.png", good.astype(np.uint8))
    (tmp_path / "folder").mkdir()
    for name, image in (("videos", left), ("rights", right), ("odd", right[:, 1:])):
        (tmp_path / name).mkdir()
        cv2.imwrite(f"{name}/0.png", image)
    (tmp_path / "taken" / "disparity.npy").mkdir(parents=True)
    (tmp_path / "dataset" / "training").mkdir(parents=True)
    return tmp_path


RUN = ["run", "left.png", "right.png", "-o", "out"]
CASES = {
    "missing file": (["run", "none.png", "right.png"], "none.png: "),
    "missing right file": (["run", "left.png", "none.png"], "none.png: "),
    "truncated image": (["run", "truncated.png", "right.png"], "truncated.png: "),
    "image cut by one byte": (["run", "left.png", "cut_at_end.png"], "cut_at_end.png: "),
    "empty image": (["run", "empty.png", "right.png"], "empty.png: "),
    "not an image": (["run", "left.png", "text.png"], "text.png: "),
    "folder as image": (["run", "folder", "right.png"], "folder: "),
    "sizes differ": (["run", "left.png", "small.png"], "small.png: expected the size of the left"),
    "too small": (["run", "tiny.png", "tiny.png"], "tiny.png: expected at least 8×8 pixels"),
    "a row": (["run", "row.png", "row.png"], "row.png: expected at least 8×8 pixels, got 64×1"),
    "bit depths differ": (["run", "left.png", "deep.png"], "deep.png: expected the bit depth"),
    "float image": (["run", "left.png", "float.tiff"], "float.tiff: "),
    "not rectified": (["run", "left.png", "low.png"], "left.png, low.png: expected a rectified pair, whose rows agree, got a vertical offset of 25"),
    "swapped": (["run", "right.png", "left.png"], "right.png, left.png: 100% of"),
    "swapped, matching alone": (["run", "right.png", "left.png", "--stop-after", "matching"], "right.png, left.png: 100% of"),
    "swapped, to view": (["view", "right.png", "left.png", "--port", "0", "--no-browser"], "right.png, left.png: 100% of"),
    "nothing to match": (["run", "black.png", "white.png"], "black.png, white.png: no pixel could be matched"),
    "range beyond the width": ([*RUN, "--max-disparity", "300"], "matching.max_disparity: expected"),
    "range not a number": ([*RUN, "--max-disparity", "many"], "matching.max_disparity: expected"),
    "range ends before it starts": ([*RUN, "--max-disparity", "-3"], "matching.max_disparity: exp"),
    "unknown setting": ([*RUN, "--set", "matching.metod=sgbm"], "did you mean matching.method"),
    "set without value": ([*RUN, "--set", "seed"], "--set: expected key=value, got 'seed'"),
    "unknown choice": ([*RUN, "--matching.method", "magic"], "matching.method: expected one of"),
    "setting out of range": ([*RUN, "--set", "threads=0"], "threads: expected a whole number"),
    "unknown preset": ([*RUN, "--preset", "quick"], "preset: expected one of best, default, fast, network, paper"),
    "preset misspelt": ([*RUN, "--preset", "fasst"], "got 'fasst'; did you mean fast?"),
    "setting without its section": ([*RUN, "--set", "count=300"], "count: unknown setting; did you mean segmentation.count?"),
    "settings file missing": ([*RUN, "--settings", "none.toml"], "none.toml: expected a file"),
    "settings file broken": ([*RUN, "--settings", "broken.toml"], "broken.toml: expected settings"),
    "settings file unknown": ([*RUN, "--settings", "settings.toml"], "settings.toml: matching.metod"),
    "unknown option": ([*RUN, "--colour"], "No such option"),
    "unknown command": (["walk"], "No such command"),
    "missing argument": (["run", "left.png"], "Missing argument 'RIGHT'"),
    "network missing": ([*RUN, "--network", "none.onnx"], "none.onnx: expected a file"),
    "network beside a disparity": ([*RUN, "--network", "none.onnx", "--disparity", "left.png"], "--disparity: takes the place of the network"),
    "batch with a network that is missing": (["batch", "videos", "-o", "results", "--network", "none.onnx"], "none.onnx: expected a file"),
    "live with a network that is missing": (["live", "videos", "rights", "--network", "none.onnx", "--record", "recorded", "--no-view"], "none.onnx: expected a file"),
    "network that is an image": ([*RUN, "--network", "left.png"], "left.png: expected an ONNX model"),
    "network without a file": ([*RUN, "--preset", "network"], "matching.network.model: expected the ONNX file of a network"),
    "disparity missing": ([*RUN, "--disparity", "none.pfm"], "none.pfm: "),
    "disparity of other size": ([*RUN, "--disparity", "other_size.npy"], "other_size.npy: expected the size"),
    "disparity negative": ([*RUN, "--disparity", "negative.npy"], "negative.npy: "),
    "disparity minus infinity": ([*RUN, "--disparity", "minus_inf.npy"], "minus_inf.npy: "),
    "disparity all unknown": ([*RUN, "--disparity", "all_nan.npy"], "all_nan.npy: "),
    "disparity of three axes": ([*RUN, "--disparity", "three_d.npy"], "three_d.npy: "),
    "disparity complex": ([*RUN, "--disparity", "complex.npy"], "complex.npy: "),
    "disparity of objects": ([*RUN, "--disparity", "objects.npy"], "objects.npy: "),
    "pfm bad header": ([*RUN, "--disparity", "bad_header.pfm"], "bad_header.pfm: "),
    "pfm bad size": ([*RUN, "--disparity", "bad_size.pfm"], "bad_size.pfm: "),
    "pfm short": ([*RUN, "--disparity", "short.pfm"], "short.pfm: "),
    "pfm zero scale": ([*RUN, "--disparity", "zero_scale.pfm"], "zero_scale.pfm: "),
    "pfm colour": ([*RUN, "--disparity", "colour.pfm"], "colour.pfm: "),
    "colour image as disparity": ([*RUN, "--disparity", "left.png"], "left.png: "),
    "mask of other size": ([*RUN, "--disparity", "good.npy", "--valid", "small.png"], "small.png: expected the siz"),
    "calibration half": ([*RUN, "--calib", "calib.txt"], "P_rect_03"),
    "calibration of no kind": ([*RUN, "--calib", "no_calib.txt"], "no_calib.txt: "),
    "calibration missing": ([*RUN, "--calib", "none.txt"], "none.txt: "),
    "calibration twice": ([*RUN, "--calib", "calib.txt", "--fx", "7"], "--calib: give either"),
    "focal length alone": ([*RUN, "--fx", "700"], "--fx, --baseline: expected both"),
    "baseline negative": ([*RUN, "--fx", "700", "--baseline", "-1"], "baseline_meters"),
    "output is a file": (["run", "left.png", "right.png", "-o", "left.png"], "left.png: expected a fo"),
    "output below a file": (["run", "left.png", "right.png", "-o", "left.png/out"], "is a file"),
    "evaluate unknown": (["evaluate", "kitti2099", "folder"], "kitti2099: expected a disparity map"),
    "evaluate sizes": (["evaluate", "good.npy", "other_size.npy"], "ground_truth: expected"),
    "evaluate empty dataset": (["evaluate", "kitti2015", "dataset"], "dataset"),
    "evaluate missing dataset": (["evaluate", "kitti2015", "none"], "none: "),
    "evaluate missing truth": (["evaluate", "good.npy", "none.npy"], "none.npy: "),
    "evaluate 8 bit without scale": (["evaluate", "good.npy", "eight.png"], "give the scale with --scale"),
    "evaluate map with split": (["evaluate", "good.npy", "good.npy", "--split", "a"], "--split: means"),
    "evaluate dataset with confidence": (["evaluate", "kitti2015", "dataset", "--confidence", "a"], "--confidence: means"),
    "evaluate missing confidence": (["evaluate", "good.npy", "good.npy", "--confidence", "none.npy"], "none.npy: "),
    "evaluate what is no confidence": (["evaluate", "good.npy", "good.npy", "--confidence", "good.npy"], "good.npy: expected a confidence"),
    "threshold beyond 1": (["run", "left.png", "right.png", "--min-confidence", "2"], "confidence.min: expected a number from 0.0 to 1.0"),
    "threshold without a model": (["run", "left.png", "right.png", "--min-confidence", "0.5", "--set", "confidence.model=none"], "confidence.min: expected 0, since there is no confidence without a model, got 0.5; choose another confidence.model, or leave out the threshold"),
    "no file of trees": (["run", "left.png", "right.png", "--set", "confidence.model=lost.json"], "lost.json: "),
    "a file that is not one of trees": (["run", "left.png", "right.png", "--set", "confidence.model=left.png"], "left.png: expected trees of confidence"),
    "export threshold beyond 1": (["export", "folder", "--min-confidence", "2"], "--min-confidence"),
    "evaluate dataset with noc": (["evaluate", "kitti2015", "dataset", "--noc", "a"], "--noc: means"),
    "name too long": (["run", "left.png", "right.png", "-o", "x" * 300], "cannot be a folder"),
    "evaluate name too long": (["evaluate", "x" * 300, "good.npy"], "expected a disparity map"),
    "segments of other size": ([*RUN, "--segments", "small_labels.png"], "small_labels.png: expect"),
    "segments not whole": ([*RUN, "--segments", "good.npy"], "good.npy: expected a label image"),
    "segments in colour": ([*RUN, "--segments", "left.png"], "left.png: expected a label image"),
    "no segments": ([*RUN, "--segmentation.count", "0"], "segmentation.count: expected"),
    "contours missing": (["segment", "left.png", "--segmentation.method", "ucm", "--segmentation.ucm.contours", "none.png"], "none.png: "),
    "contours of other size": (["segment", "left.png", "--segmentation.method", "ucm", "--segmentation.ucm.contours", "small.png"], "small.png: expected contours"),
    "contours of no model": (["segment", "left.png", "--segmentation.method", "ucm", "--segmentation.ucm.contours", "text.onnx"], "text.onnx: OpenCV cannot run"),
    "mask without disparity": ([*RUN, "--valid", "left.png"], "--valid: means nothing without"),
    "disparity in sixteenths": ([*RUN, "--disparity", "times16.npy"], "divide by the format's scale"),
    "path costs overflow": ([*RUN, "--matching.method", "sgbm", "--set", "matching.sgbm.block_size=15"], "block_size: expected"),
    "p2 not above p1": ([*RUN, "--matching.method", "sgbm", "--set", "matching.sgbm.p1=4000"], "matching.sgbm.p2: expected more"),
    "calibration of other size": ([*RUN, "--calib", "sized.txt"], "sized.txt: expected the calibrat"),
    "right calibration alone": ([*RUN, "--calib-right", "calib.txt"], "--calib-right: means nothing"),
    "output file is a folder": (["run", "left.png", "right.png", "-o", "taken"], "disparity.npy: expe"),
    "info of nothing": (["info", "none.png"], "none.png: "),
    "info of text": (["info", "text.png"], "text.png: "),
    "live of nothing": (["live", "none.avi", "none2.avi", "--no-view"], "none.avi: expected the number of a camera, a video, a folder of images"),
    "live of three": (["live", "1", "2", "3"], "SOURCE: expected one or two, got 3"),
    "live of one twice": (["live", "left.avi", "left.avi", "--no-view"], "SOURCE: expected two different ones, got left.avi twice"),
    "live of no camera": (["live", "98", "99", "--no-view"], "camera 98: expected images, but it cannot be opened"),
    "live of text": (["live", "no_calib.txt", "--no-view"], "no_calib.txt: expected a video that OpenCV can read"),
    "live of an image": (["live", "left.png", "right.png", "--no-view"], "left.png: is one image"),
    "live of no address": (["live", "http://me:secret@127.0.0.1:1/", "--no-view"], "http://…@127.0.0.1:1/: expected images"),
    "live into a file": (["live", "videos", "--record", "left.png", "--no-view"], "left.png: expected a folder to write to"),
    "live with a size of no kind": (["live", "0", "--size", "large", "--no-view"], "--size: expected WIDTHxHEIGHT as in 1280x720, got 'large'"),
    "live of odd width": (["live", "odd", "--no-view"], "odd, image 0: expected two views side-by-side, so an even width, got 239×160"),
    "live of two sizes": (["live", "videos", "odd", "--no-view"], "odd, image 0: expected the size of the left image, 240×160, got 239×160"),
    "live with a calibration of other size": (["live", "videos", "rights", "--calib", "sized.txt", "--no-view", "--record", "recorded"], "sized.txt: expected the calibration of images of 240×160"),
    "live with half a calibration": (["live", "videos", "rights", "--calib", "raw.yml", "--no-view"], "raw.yml: expected R and T of cv2.stereoCalibrate"),
    "live of a camera and a file": (["live", "videos", "/dev/null", "--no-view"], "camera /dev/null: expected images"),
    "demo to a file": (["demo", "-o", "left.png"], "left.png: expected a folder"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_bad_input_is_one_sentence_with_exit_code_2(case, files, capfd):
    arguments, message = CASES[case]
    if arguments[0] == "view":
        pytest.importorskip("starlette", reason="the viewer is not installed")
    before = sorted(files.rglob("*"))
    with pytest.raises(SystemExit) as exited:
        main(arguments)
    stderr = capfd.readouterr().err
    said = [line for line in stderr.splitlines() if line.startswith("slanted: error: ")]
    assert exited.value.code == 2
    assert len(said) == 1, stderr
    assert message in said[0]
    # A stream tells of a pair when it comes, and of why there was no result when it ends.
    said += [said[0].replace("error: ", "")] * (arguments[0] == "live")
    others = [line for line in stderr.splitlines() if line not in said]
    stages = {"first look", "matching", "evidence", "segmentation", "regions", "inference"}
    stages |= {"refinement", "drawing", "confidence"}
    assert set(others) <= stages
    assert sorted(files.rglob("*")) == before, "something was written"


def test_there_are_at_least_thirty_cases():
    assert len(CASES) >= 30


def test_a_kitti_png_of_256_pixels_is_refused_when_written(tmp_path):
    from slanted.errors import SlantedError
    from slanted.io import write_disparity

    with pytest.raises(SlantedError, match="256"):
        write_disparity(tmp_path / "d.png", np.full((2, 3), 256, np.float32))
    assert not list(tmp_path.iterdir())


def test_output_that_turns_unwritable_leaves_nothing(files, capfd, monkeypatch):
    """A full disk in the middle of a run: no half-written file."""
    import slanted.io.files as module

    calls = iter([None, None, OSError(28, "No space left on device")])
    replace = module.os.replace

    def full_after_two(*paths):
        if error := next(calls, None):
            raise error
        replace(*paths)

    monkeypatch.setattr(module.os, "replace", full_after_two)
    with pytest.raises(SystemExit) as exited:
        main(RUN)
    assert exited.value.code == 2
    assert "no space left" in capfd.readouterr().err
    assert not (files / "out").exists()


def test_struct_of_the_fixture_is_sound(files):
    """The good files of the table do run, so that a case fails for its own reason."""
    with pytest.raises(SystemExit) as exited:
        main([*RUN, "--quiet"])
    assert exited.value.code in (0, None)
    width, height = struct.unpack(">II", (files / "out/disparity.png").read_bytes()[16:24])
    assert (width, height) == (240, 160)
