"""The commands do what their help says."""

import dataclasses
import json
import subprocess
import sys
import warnings

import cv2
import numpy as np
import pytest

from slanted.cli import main
from slanted.cli.options import load_calibration
from slanted.errors import FileError, SlantedWarning
from slanted.evaluation.metrics import evaluate
from slanted.evaluation.motorcycle import load_motorcycle
from slanted.images.given import image_from_user
from slanted.io import read_disparity, read_image
from slanted.output.folder import whole_folder
from slanted.pipeline import estimate
from slanted.settings import Settings

STAGES = [
    *("first look", "matching", "segmentation", "evidence", "regions", "inference"),
    *("evidence", "refinement", "regions", "inference", "drawing", "confidence"),
]
LEFT, RIGHT, TRUTH = load_motorcycle()
ESTIMATED = {}
"""Results of `sure_estimate`, of whose figures tests ask several things."""


@pytest.fixture
def pair(tmp_path, monkeypatch):
    """The left half of Motorcycle as files, in the current folder."""
    monkeypatch.chdir(tmp_path)
    for name, image in (("left.png", LEFT), ("right.png", RIGHT)):
        cv2.imwrite(name, np.ascontiguousarray(image[:240, :360, ::-1]))
    return tmp_path


def run(*arguments, code=0):
    with pytest.raises(SystemExit) as exited:
        main(arguments)
    assert (exited.value.code or 0) == code


def test_run_writes_what_it_says(pair, capsys):
    run(
        "run",
        "left.png",
        "right.png",
        "-o",
        "out",
        "--json",
        "--max-disparity",
        "64",
        "--seed",
        "3",
    )
    outcome = json.loads(capsys.readouterr().out)
    assert (outcome["width"], outcome["height"]) == (360, 240)
    assert outcome["seconds"]["total"] > 0
    assert sorted(outcome["files"]) == sorted(p.name for p in (pair / "out").iterdir())
    maps = [
        read_disparity(pair / "out" / f"disparity.{suffix}") for suffix in ("pfm", "npy", "png")
    ]
    np.testing.assert_array_equal(maps[0], maps[1])
    np.testing.assert_allclose(maps[0], maps[2], atol=1 / 512)
    saved = Settings.load(pair / "out" / "settings.toml")
    assert (saved.seed, saved.matching.max_disparity) == (3, 64)
    picture = read_image(pair / "out" / "disparity_colour.png")
    assert picture.shape[1:] == (360, 3)
    assert picture.shape[0] > 240  # the legend lies below
    np.testing.assert_array_equal(read_image(pair / "out" / "right.png"), RIGHT[:240, :360])


def test_run_with_calibration_adds_depth_in_metres(pair):
    run("run", "left.png", "right.png", "-o", "out", "--quiet", "--fx", "500", "--baseline", "0.2")
    disparity, depth = np.load("out/disparity.npy"), np.load("out/depth.npy")
    near = disparity > 1
    np.testing.assert_allclose(depth[near], 100 / disparity[near], rtol=1e-6)
    head = (pair / "out/cloud.ply").read_bytes()[:200]
    assert head.startswith(b"ply\nformat binary_little_endian")


@pytest.mark.parametrize("centre", [(300, 120), (180, 230)])
def test_a_calibration_of_other_images_is_doubted(pair, centre):
    x, y = centre
    (pair / "calib.txt").write_text(f"P0: 500 0 {x} 0 0 500 {y} 0 0 0 1 0\n"
                                    f"P1: 500 0 {x} -60 0 500 {y} 0 0 0 1 0\n")  # fmt: skip
    with pytest.warns(SlantedWarning, match=rf"calib\.txt: its principal point \({x}, {y}\)"):
        load_calibration(
            (240, 360), calib=pair / "calib.txt", calib_right=None, baseline_unit=None,
            fx=None, baseline=None,
        )  # fmt: skip


def test_run_can_stop_after_matching(pair, capsys):
    run(
        "run", "left.png", "right.png", "-o", "out", "--stop-after", "matching", "--json", "--quiet"
    )
    outcome = json.loads(capsys.readouterr().out)
    assert set(outcome["seconds"]) == {"first look", "matching"}
    sparse, filled = np.load("out/disparity.npy"), np.load("out/disparity_filled.npy")
    known = np.isfinite(sparse)
    assert 0.5 < known.mean() < 1
    assert np.isfinite(filled).all()
    np.testing.assert_array_equal(filled[known], sparse[known])
    assert not (pair / "out/segments.npy").exists()
    with pytest.raises(SystemExit):
        main(["run", "left.png", "right.png", "--stop-after", "matching", "--fx", "7"])
    assert "--fx: means nothing without the stages after matching" in capsys.readouterr().err


def test_a_second_run_leaves_nothing_of_the_first(pair):
    arguments = ["run", "left.png", "right.png", "-o", "out", "--quiet"]
    run(*arguments, "--fx", "500", "--baseline", "0.2")
    assert (pair / "out/cloud.ply").exists()
    run(*arguments)
    assert not (pair / "out/cloud.ply").exists()
    assert not (pair / "out/depth.npy").exists()
    record = json.loads((pair / "out/run.json").read_text())
    assert record["inputs"] == {"left": "left.png", "right": "right.png"}
    assert record["searched"]["low"] == 0 < record["searched"]["high"]


def test_files_that_no_run_wrote_are_never_replaced(pair, capsys):
    own = {name: f"my {name}".encode() for name in ("depth.npy", "mesh.ply", "ground_truth.pfm")}
    for name, content in own.items():
        (pair / name).write_bytes(content)
    before = {file: file.read_bytes() for file in pair.iterdir() if file.is_file()}
    run("run", "left.png", "right.png", "-o", ".", code=2)
    said = capsys.readouterr().err
    assert "expected a new folder or that of an earlier result" in said
    assert "name another folder" in said
    with pytest.raises(FileError, match="name another folder"), whole_folder(pair):
        pytest.fail("a folder with the user's own files was taken")
    run("segment", "left.png", "-o", ".")
    assert {file: file.read_bytes() for file in before} == before
    run("run", "left.png", "right.png", "-o", "out", "--quiet")
    run("segment", "left.png", "-o", "out", code=2)
    assert "got that of a result" in capsys.readouterr().err


def test_a_ground_truth_of_the_users_own_stays_beside_a_new_result(tmp_path):
    def write():
        with whole_folder(tmp_path) as staging:
            (staging / "run.json").write_text("{}")

    write()
    for name in ("ground_truth.pfm", "depth.npy"):
        (tmp_path / name).touch()
    write()
    assert (tmp_path / "ground_truth.pfm").exists()
    assert not (tmp_path / "depth.npy").exists()
    (tmp_path / "ground_truth_colour.png").touch()  # the demo's, of another pair
    write()
    assert not (tmp_path / "ground_truth.pfm").exists()


def test_a_pair_with_negative_disparities(pair, capsys):
    settings = ["--set", "matching.min_disparity=-80", "--set", "matching.max_disparity=-1"]
    run("run", "right.png", "left.png", "-o", "out", "--quiet", *settings)
    assert np.load("out/disparity.npy").max() < 0
    run("evaluate", "out/disparity.npy", "out/disparity.pfm", *settings[:2])
    assert "0.00" in capsys.readouterr().out


def test_run_takes_a_disparity_of_the_users_own(pair, capsys):
    own = np.full((240, 360), np.nan, np.float32)
    own[:, ::7] = 20
    own[0, 0] = 99
    valid = np.full((240, 360), 255, np.uint8)
    valid[0, 0] = 0
    np.save("own.npy", own)
    cv2.imwrite("valid.png", valid)
    given = ("--disparity", "own.npy", "--valid", "valid.png", "--set", "model.weights.pho=0")
    unchecked = ("--set", "rectification.check=off")  # it is not that of the pair
    run("run", "left.png", "right.png", *given, *unchecked, "--quiet")
    assert (np.load("slanted-out/disparity.npy") == 20).all()
    assert capsys.readouterr() == ("", "")


def test_every_setting_is_an_option(pair, capsys):
    run("settings", "--matching.sgbm.block-size", "7", "--set", "seed=5", "--preset", "paper")
    text = capsys.readouterr().out
    assert "block_size = 7" in text
    assert "seed = 5" in text
    (pair / "mine.toml").write_text(text)
    run("settings", "--settings", "mine.toml", "--seed", "6")
    assert capsys.readouterr().out == text.replace("seed = 5", "seed = 6")


def test_a_preset_may_have_a_plus_in_its_name(pair, capsys):
    run("settings", "--preset", "paper+")
    text = capsys.readouterr().out
    assert 'proposals = "mixture"' in text
    assert Settings.preset("paper+").to_toml(documented=True) == text
    run("run", "left.png", "right.png", "--preset", "paper+", "--quiet")
    assert Settings.load("slanted-out/settings.toml") == Settings.preset("paper+")


def test_without_a_terminal_progress_is_plain_lines_on_stderr(pair, capsys):
    run("run", "left.png", "right.png")
    out, err = capsys.readouterr()
    assert err.splitlines() == STAGES
    labels = [line.split("  ")[0] for line in out.splitlines()]
    assert labels == [
        *("size", "disparity", "matched", "segments", "boundaries", "confidence", "energy"),
        *("time", "wrote"),
    ]
    assert "360×240 px" in out
    assert " % above the optimum over the last particles" in out
    assert "\x1b" not in out + err


@pytest.fixture
def _warnings_are_shown():
    """All of them, each time; elsewhere pytest turns them into errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", SlantedWarning)
        yield


@pytest.mark.usefixtures("_warnings_are_shown")
def test_warnings_are_one_line(pair, capsys):
    cv2.imwrite("low.png", np.roll(cv2.imread("right.png"), 3, axis=0))
    run("run", "left.png", "low.png", "--quiet", "--set", "rectification.correct=off")
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("slanted: warning: the pair is not well rectified: vertical offset")
    assert second.startswith("slanted: warning: the result is doubtful: only")


@pytest.mark.usefixtures("_warnings_are_shown")
def test_a_pair_of_colour_and_grey_is_run_and_told_once(pair, capsys):
    cv2.imwrite("grey.png", cv2.imread("right.png", cv2.IMREAD_GRAYSCALE))
    run("run", "left.png", "grey.png", "--quiet")
    assert capsys.readouterr().err == (
        "slanted: warning: left.png: is in colour, but grey.png is grey, so both are used as grey; "
        "give both in colour if you have them\n"
    )
    assert (pair / "slanted-out/run.json").exists()


def test_evaluate_a_map(tmp_path, capsys):
    np.save(tmp_path / "truth.npy", np.full((4, 5), 10, np.float32))
    np.save(tmp_path / "result.npy", np.full((4, 5), 12.5, np.float32))
    run("evaluate", str(tmp_path / "result.npy"), str(tmp_path / "truth.npy"), "--json")
    mean = json.loads(capsys.readouterr().out)["mean"]
    assert (mean["out-2px-all"], mean["out-3px-all"], mean["epe-all"]) == (100, 0, 2.5)
    maps = str(tmp_path / "result.npy"), str(tmp_path / "truth.npy")
    run("evaluate", *maps)
    out = capsys.readouterr().out
    assert "out-2px" in out
    assert "non-occluded" not in out  # nothing is known of them: no column of dashes
    run("evaluate", *maps, "--noc", maps[1])
    assert "non-occluded" in capsys.readouterr().out


def test_evaluate_a_confidence(tmp_path, capsys):
    truth, estimate = np.full((4, 5), 10, np.float32), np.full((4, 5), 10, np.float32)
    estimate[0, :2] = 20
    files = {"truth": truth, "result": estimate, "sure": np.where(estimate > 15, 0.1, 0.95)}
    for name, values in files.items():
        np.save(tmp_path / f"{name}.npy", values)
    maps = str(tmp_path / "result.npy"), str(tmp_path / "truth.npy")
    sure, out = str(tmp_path / "sure.npy"), str(tmp_path / "out")
    run("evaluate", *maps, "--confidence", sure, "--json", "-o", out)
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads((tmp_path / "out/evaluation.json").read_text())
    found = printed["confidence"]
    assert (found["D1@80-all"], found["AUC-all"]) == (0, 1)
    assert found["curve"][0]["error"] == 10
    assert read_image(tmp_path / "out/sparsification.png").ndim == 3
    run("evaluate", *maps, "--confidence", sure)
    said = capsys.readouterr().out
    assert "AUC      1.0000" in said
    assert "most confident" in said
    assert "0.9 to 1.0      18  95.0 %      100.0 %" in said
    run("evaluate", *maps, "-o", str(tmp_path / "plain"))
    assert [file.name for file in (tmp_path / "plain").iterdir()] == ["evaluation.json"]
    run("evaluate", *maps, "--confidence", maps[0], code=2)
    assert "result.npy: expected a confidence" in capsys.readouterr().err


def sure_estimate(left, right, settings=None, **named):
    """A run with a confidence that is lower to the left; a pair that was run before is not again."""
    settings = settings or Settings()
    dense = dataclasses.replace(settings.confidence, min=0.0)
    plain = dataclasses.replace(settings, confidence=dense)
    seen = [image_from_user("image", each).pixels.tobytes() for each in (left, right)]
    asked = *seen, plain
    if asked not in ESTIMATED:
        ESTIMATED[asked] = estimate(left, right, plain, **named)
    result, disparity = ESTIMATED[asked], ESTIMATED[asked].disparity
    ramp = np.broadcast_to(np.linspace(0, 1, disparity.shape[1]), disparity.shape)
    own = {"settings": settings, "disparity": disparity.copy()}
    return dataclasses.replace(result, confidence=ramp, **own)


def test_run_says_how_sure_it_is(pair, capsys, monkeypatch):
    run("run", "left.png", "right.png", "-o", "plain")
    if not (pair / "plain/confidence.npy").exists():
        assert "median" not in capsys.readouterr().out
    monkeypatch.setattr("slanted.pipeline.estimate", sure_estimate)
    run("run", "left.png", "right.png", "-o", "out")
    said = capsys.readouterr().out
    assert "confidence  median 0.50, 50.0 % of the pixels below 0.5\n" in said
    run("run", "left.png", "right.png", "-o", "out", "--min-confidence", "0.25")
    assert (
        "50.0 % of the pixels below 0.5, 25.0 % left out, below 0.25\n" in capsys.readouterr().out
    )
    assert np.isnan(read_disparity(pair / "out/disparity.pfm")).mean() == pytest.approx(0.25)
    run("info", "out")
    assert "confidence_median: 0.5" in capsys.readouterr().out.replace("  ", " ")


def test_maps_that_a_png_cannot_hold_are_named_as_left_out(pair, capsys, monkeypatch):
    def far_off(*arguments, **named):
        result = sure_estimate(*arguments, **named)
        result.disparity[:, :60] = 300  # where the confidence is low
        return result

    monkeypatch.setattr("slanted.pipeline.estimate", far_off)
    run("run", "left.png", "right.png", "-o", "out", "--min-confidence", "0.25")
    out = capsys.readouterr().out
    assert "left out    disparity_filled.png: KITTI's format holds disparities from 0 to 256" in out
    assert (pair / "out/disparity.png").exists()
    assert not (pair / "out/disparity_filled.png").exists()
    run("run", "left.png", "right.png", "-o", "out")
    assert "left out    disparity.png: KITTI's" in capsys.readouterr().out


def test_a_threshold_without_a_confidence_is_refused(pair, capsys, monkeypatch):
    def doubtful(*arguments, **named):
        return dataclasses.replace(estimate(*arguments, **named), confidence=None)

    monkeypatch.setattr("slanted.pipeline.estimate", doubtful)
    run("run", "left.png", "right.png", "-o", "out", "--min-confidence", "0.25", code=2)
    assert "expected a result with a confidence" in capsys.readouterr().err
    assert not (pair / "out").exists()


def test_evaluate_a_result_by_its_own_confidence(tmp_path, capsys):
    sure_estimate(LEFT[:200], RIGHT[:200]).save(tmp_path / "result")
    truth = str(tmp_path / "truth.npy")
    np.save(truth, TRUTH[:200])
    run("evaluate", str(tmp_path / "result"), truth, "--json")
    found = json.loads(capsys.readouterr().out)
    assert found["confidence"]["curve"][0]["error"] == pytest.approx(found["mean"]["D1-all"])
    assert found["confidence"]["AUC-all"] > 0.5  # the strip out of view is to the left
    run("evaluate", str(tmp_path / "result"), truth, "--min-confidence", "0", "--json")
    assert json.loads(capsys.readouterr().out)["mean"] == found["mean"]


@pytest.mark.parametrize("when", ["of the run", "of the evaluation"])
def test_evaluate_a_result_without_what_a_threshold_leaves_out(tmp_path, capsys, when):
    settings = Settings().with_text({"confidence.min": "0.75"} if when == "of the run" else {})
    given = () if when == "of the run" else ("--min-confidence", "0.75")
    result = sure_estimate(LEFT[:200], RIGHT[:200], settings)
    result.save(tmp_path / "result")
    folder, truth = str(tmp_path / "result"), str(tmp_path / "truth.npy")
    np.save(truth, TRUTH[:200])
    run("evaluate", folder, truth, "--json", *given)
    mean = json.loads(capsys.readouterr().out)["mean"]
    sure = result.trusted_disparity(0.75)
    judged = np.where(np.isfinite(sure), TRUTH[:200], np.nan)
    assert mean["D1-all"] == evaluate(sure, TRUTH[:200])["D1-all"] > 70  # what is missing is wrong
    assert mean["D1-kept"] == evaluate(sure, judged)["D1-all"] < 10
    assert mean["density-kept"] == 100
    run("evaluate", folder, truth, *given)
    out = capsys.readouterr().out
    assert "kept: the 25." in out
    run("evaluate", folder, truth, "--min-confidence", "0", "--json")
    dense = json.loads(capsys.readouterr().out)["mean"]
    assert dense["density-all"] == 100
    assert "D1-kept" not in dense


def test_evaluate_a_dataset_and_a_map_with_a_threshold(kitti, capsys, monkeypatch, tmp_path):
    monkeypatch.setattr("slanted.pipeline.estimate", sure_estimate)
    dataset = ("evaluate", "kitti2015", str(kitti), "--limit", "1", "--json", "--quiet")
    run(*dataset, "--min-confidence", "0.5")
    mean = json.loads(capsys.readouterr().out)["mean"]
    assert mean["density-all"] < 60
    assert mean["D1-kept"] < 10
    maps = {"map": np.full((2, 4), 9), "truth": np.full((2, 4), 8), "sure": np.eye(2, 4)}
    for name, values in maps.items():
        np.save(tmp_path / f"{name}.npy", values.astype(np.float32))
    files = [str(tmp_path / f"{name}.npy") for name in maps]
    run("evaluate", *files[:2], "--confidence", files[2], "--min-confidence", "0.5", "--json")
    mean = json.loads(capsys.readouterr().out)["mean"]
    assert (mean["density-all"], mean["out-2px-all"], mean["out-2px-kept"]) == (25, 75, 0)


def test_evaluate_a_dataset_with_confidence(kitti, capsys, monkeypatch):
    monkeypatch.setattr("slanted.pipeline.estimate", sure_estimate)
    run("evaluate", "kitti2015", str(kitti), "--json", "--quiet")
    data = json.loads(capsys.readouterr().out)
    assert data["confidence"]["curve"][0]["error"] == pytest.approx(data["mean"]["D1-all"])
    run("evaluate", "kitti2015", str(kitti), "--limit", "1", "--quiet")
    rows = capsys.readouterr().out.splitlines()
    assert {"D1@80", "AUC", "AUSE", "ECE"} <= {row.split(" ")[0] for row in rows}


@pytest.fixture
def kitti(tmp_path):
    """A dataset of two frames in KITTI's layout, made of Motorcycle."""
    for number, rows in enumerate((slice(0, 200), slice(200, 400))):
        name = f"00000{number}_10.png"
        for folder, image in (("image_2", LEFT), ("image_3", RIGHT)):
            (tmp_path / "training" / folder).mkdir(parents=True, exist_ok=True)
            cv2.imwrite(
                str(tmp_path / "training" / folder / name),
                np.ascontiguousarray(image[rows, :, ::-1]),
            )
        for folder in ("disp_occ_0", "disp_noc_0"):
            (tmp_path / "training" / folder).mkdir(exist_ok=True)
            stored = np.nan_to_num(TRUTH[rows] * 256).astype(np.uint16)
            cv2.imwrite(str(tmp_path / "training" / folder / name), stored)
    (tmp_path / "split.json").write_text('{"train": ["000001_10"]}')
    return tmp_path


@pytest.mark.parametrize("method", ["sgbm", "slanted"])
def test_evaluate_a_dataset(kitti, capsys, method):
    run("evaluate", "kitti2015", str(kitti), "--method", method, "--json", "--quiet")
    data = json.loads(capsys.readouterr().out)
    assert data["frames"] == len(data["per_frame"]) == 2
    rows = [row["out-3px-noc"] for row in data["per_frame"]]
    assert data["mean"]["out-3px-noc"] == pytest.approx(sum(rows) / 2)
    assert all(0 < row < 25 for row in rows)
    assert {"out-3px-all", "D1-all", "epe-all", "seconds"} <= set(data["mean"])


def test_evaluate_split_limit_and_sparse(kitti, capsys):
    run("evaluate", "kitti2015", str(kitti), "--split", "train", "--json", "--quiet")
    data = json.loads(capsys.readouterr().out)
    assert [row["frame"] for row in data["per_frame"]] == ["000001_10"]
    arguments = ["evaluate", "kitti2015", str(kitti), "--limit", "1", "--json", "--quiet"]
    run(*arguments, "--method", "sgbm", "--sparse")
    sparse = json.loads(capsys.readouterr().out)["mean"]
    run(*arguments, "--method", "sgbm")
    dense = json.loads(capsys.readouterr().out)["mean"]
    assert sparse["density-all"] < dense["density-all"] == 100
    assert sparse["out-3px-all"] > dense["out-3px-all"]
    with pytest.raises(SystemExit):
        main(["evaluate", "kitti2015", str(kitti), "--method", "magic"])
    assert "method: expected one of slanted, sgbm" in capsys.readouterr().err


@pytest.mark.parametrize("method", ["slic", "slic+ucm"])
def test_segment(pair, capsys, method):
    run(
        "segment",
        "left.png",
        "--segmentation.method",
        method,
        "--segmentation.count",
        "80",
        "--json",
    )
    outcome = json.loads(capsys.readouterr().out)
    labels = np.load("slanted-segments/segments.npy")
    assert labels.shape == (240, 360)
    assert outcome["segments"] == labels.max() + 1
    assert abs(outcome["segments"] / 80 - 1) <= 0.15
    assert ("ucm.png" in outcome["files"]) == ("ucm" in method)
    run("run", "left.png", "right.png", "--segments", "slanted-segments/segments.npy", "--json")
    assert json.loads(capsys.readouterr().out)["segments"] == outcome["segments"]


def test_info(pair, capsys):
    run("info", "left.png")
    assert "360" in capsys.readouterr().out
    run("info", "left.png", "--json")
    assert json.loads(capsys.readouterr().out)
    np.save("third.npy", np.full((8, 9), 1 / 3, np.float32))
    run("info", "third.npy")
    assert "lowest:          0.333333\n" in capsys.readouterr().out
    run("info", "third.npy", "--json")
    assert json.loads(capsys.readouterr().out)["lowest"] == float(np.float32(1 / 3))
    np.savez("a.npz", one=np.arange(3), **{"\x1b[2J": np.zeros(2)})
    run("info", "a.npz")
    lines = capsys.readouterr().out.splitlines()
    assert lines[-2:] == ["  one   3 int64, 0 to 2", "  \\x1b[2J  2 float64, 0 to 0"]


def check_meshes(folder):
    """No triangle of Motorcycle crosses an occlusion boundary; coplanar neighbours are joined."""
    import trimesh

    from slanted.boundary_label import BoundaryLabel
    from slanted.output.mesh import mesh_of
    from slanted.result import Result

    result = Result.load(folder)
    mesh = mesh_of(result)
    glb = trimesh.load(folder / "mesh.glb", force="mesh", process=False)
    ply = trimesh.load(folder / "mesh.ply", process=False)
    for opened in (glb, ply):
        np.testing.assert_array_equal(opened.faces, mesh.faces)
    middle = mesh.corners[mesh.faces].mean(axis=1)
    u, v = np.rint(middle).astype(int).T
    # Outlines are smooth, so the middle of a sliver may be in the next pixel.
    assert (result.regions.label_image[v, u] == mesh.segment).mean() > 0.97

    vertices_of = [set() for _ in range(result.regions.count)]
    for face, segment in zip(mesh.faces.tolist(), mesh.segment.tolist(), strict=True):
        vertices_of[segment].update(face)
    shared = [len(vertices_of[i] & vertices_of[j]) for i, j in result.regions.edges.tolist()]
    shared, kinds = np.array(shared), result.labels
    assert (shared[kinds >= BoundaryLabel.LEFT_OCCLUSION] == 0).all()
    assert (shared[kinds == BoundaryLabel.COPLANAR] > 0).mean() > 0.97


def test_demo(tmp_path, capsys):
    run("demo", "-o", str(tmp_path / "demo"))
    out = capsys.readouterr().out
    assert "out-2px" in out
    assert "energy" in out
    names = {p.name for p in (tmp_path / "demo").iterdir()}
    formats = {"disparity.pfm", "disparity.npy", "disparity.png"}
    assert names >= formats | {"disparity_colour.png", "error.png", "cloud.ply", "overview.png"}
    assert names >= {"boundaries.png", "planes_colour.png", "energy.png", "matched_error.png"}
    run("export", str(tmp_path / "demo"), "mesh.glb", "mesh.ply", "--quiet")
    check_meshes(tmp_path / "demo")
    run("demo", "-o", str(tmp_path / "demo"), "--json", "--quiet")
    errors = json.loads(capsys.readouterr().out)["errors"]
    assert errors["slanted"]["out-2px-all"] < 11
    for metric in ("out-1px-all", "out-2px-all", "out-3px-all", "epe-all"):
        others = [errors[name][metric] for name in ("census filled", "sgbm filled")]
        assert errors["slanted"][metric] < min(others), metric


def test_help_and_import_load_nothing_heavy():
    """Numba, OpenCV and scikit-image take a second; neither import nor help may pay it."""
    code = (
        "import sys, slanted\n"
        "from slanted.cli import main\n"
        "try: main(['run', '--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'numba', 'cv2', 'skimage', 'scipy', 'numpy', 'rich', 'higra'} & set(sys.modules)\n"
        "sys.exit(','.join(heavy) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_settings_page_is_current():
    from pathlib import Path

    from slanted.settings.documentation import settings_page

    page = Path(__file__).parents[2] / "docs" / "settings.md"
    assert page.read_text("utf-8") == settings_page(), (
        "run python -m slanted.settings.documentation"
    )
