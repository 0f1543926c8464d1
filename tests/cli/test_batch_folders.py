"""Commands that take the folder of a result take that of a batch as well."""

import dataclasses
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from slanted.batch.pairs import find_pairs
from slanted.batch.run import run_batch
from slanted.batch.summary import MOST_SHOWN, find_result, find_results, read_summary
from slanted.cli import main
from slanted.errors import FileError
from slanted.evaluation.metrics import evaluate
from slanted.io import Calibration, read_disparity, write_disparity, write_image
from slanted.result import Result
from slanted.settings import Settings

QUICK = Settings().with_text({"matching.max_disparity": "64", "inference.particles": "4"})
NAMES = ["training/000000_10", "training/000001_10"]


@pytest.fixture(scope="module")
def kitti(small_kitti):
    """Two pairs, and one whose right image is damaged."""
    root = small_kitti(train=3)
    (root / "training/image_3/000002_10.png").write_bytes(b"no image")
    return root


@pytest.fixture(scope="module")
def done(kitti, tmp_path_factory):
    """The batch of these pairs, which no test changes."""
    output = tmp_path_factory.mktemp("batch") / "out"
    tally = run_batch(find_pairs(kitti), output, QUICK, workers=1)
    assert (tally.done, tally.failed) == (2, 1)
    return output


@pytest.fixture
def batch(done, tmp_path):
    """A copy of the batch."""
    shutil.copytree(done, tmp_path / "batch")
    return tmp_path / "batch"


def run(*arguments, code=0):
    with pytest.raises(SystemExit) as exited:
        main(list(map(str, arguments)))
    assert (exited.value.code or 0) == code


def outcome(capsys):
    return json.loads(capsys.readouterr().out)


def test_results_are_found_by_the_names_of_their_pairs(batch):
    assert list(find_results(batch)) == NAMES
    assert find_result(batch, NAMES[1]) == batch / NAMES[1]
    with pytest.raises(
        FileError, match=r"got 'training/000000_1'; did you mean training/000000_10"
    ):
        find_result(batch, "training/000000_1")
    shutil.rmtree(batch / NAMES[0])
    assert list(find_results(batch)) == NAMES[1:]
    shutil.rmtree(batch / NAMES[1])
    with pytest.raises(FileError, match="expected a batch with results, but no pair is done"):
        find_results(batch)


def test_batches_of_more_pairs_than_a_page_shows_can_be_opened(tmp_path):
    (tmp_path / "last").mkdir()
    (tmp_path / "last" / "run.json").touch()
    waiting = '{"name": "first", "status": "waiting"}\n' * MOST_SHOWN
    (tmp_path / "summary.jsonl").write_text(waiting + '{"name": "last", "status": "done"}\n')
    assert find_results(tmp_path) == {"last": tmp_path / "last"}
    with pytest.raises(FileError, match=f"at most {MOST_SHOWN} pairs"):
        read_summary(tmp_path)


@pytest.mark.parametrize("command", ["run", "segment"])
def test_one_pair_is_not_mixed_with_the_files_of_a_batch(tmp_path, capsys, command):
    folder = tmp_path / "batch"
    folder.mkdir()
    (folder / "batch.lock").touch()
    images = [tmp_path / "left.png", tmp_path / "right.png"][: 1 + (command == "run")]
    for image in images:
        write_image(image, np.random.default_rng(0).integers(0, 255, (64, 96), np.uint8))
    with pytest.raises(SystemExit) as exited:
        main([command, *map(str, images), "-o", str(folder)])
    assert exited.value.code == 2
    assert "expected a folder for one pair, got that of a batch" in capsys.readouterr().err
    assert [file.name for file in folder.iterdir()] == ["batch.lock"]


def test_evaluate_scores_all_pairs_that_have_ground_truth(done, kitti, capsys, tmp_path):
    truths = kitti / "training/disp_occ_0"
    noc = kitti / "training/disp_noc_0"
    run("evaluate", done, truths, "--noc", noc, "--json", "--quiet", "-o", tmp_path / "out")
    found = outcome(capsys)
    assert found == json.loads((tmp_path / "out/evaluation.json").read_text())
    assert (found["frames"], found["pairs"]) == (2, 2)
    for row, name in zip(found["per_frame"], NAMES, strict=True):
        assert row["frame"] == name
        truth = read_disparity(truths / f"{Path(name).name}.png")
        alone = evaluate(Result.load(done / name).disparity, truth)
        assert row["D1-all"] == alone["D1-all"]
        assert "D1-noc" in row
    assert found["mean"]["epe-all"] == pytest.approx(
        np.mean([row["epe-all"] for row in found["per_frame"]])
    )
    one = tmp_path / "some"
    one.mkdir()
    shutil.copy(truths / "000001_10.png", one)
    run("evaluate", done, one)
    out, err = capsys.readouterr()
    assert out.splitlines()[0] == "mean of 1 of 2 pairs, with ground truth"
    assert "training/000000_10: no ground truth" in err


def test_columns_of_fewer_pairs_say_so(batch, kitti, capsys):
    """At a threshold that keeps nothing of one pair, the column `kept` is of the other."""
    first = Result.load(batch / NAMES[0])
    dataclasses.replace(first, confidence=np.zeros_like(first.confidence)).save(batch / NAMES[0])
    arguments = ("evaluate", batch, kitti / "training/disp_occ_0", "--min-confidence", 0.1)
    run(*arguments, "--json", "--quiet")
    found = outcome(capsys)
    assert found["frames"] == 2
    unkept, kept = found["per_frame"]
    assert "D1-kept" not in unkept
    assert found["mean"]["D1-kept"] == kept["D1-kept"]
    assert found["fewer_frames"]["D1-kept"] == 1
    assert found["fewer_frames"]["epe-all"] == 1  # of no pixel, there is no mean error
    assert "D1-all" not in found["fewer_frames"]
    run(*arguments, "--quiet")
    lines = capsys.readouterr().out.splitlines()
    assert "kept: mean of 1 of 2 pairs, since the others have none" in lines
    assert "epe, rms (all): mean of 1 of 2 pairs, since the others have none" in lines


def test_evaluate_refuses_visible_pixels_of_some_pairs_only(done, kitti, tmp_path, capsys):
    truths, noc = kitti / "training/disp_occ_0", tmp_path / "noc"
    noc.mkdir()
    shutil.copy(kitti / "training/disp_noc_0/000000_10.png", noc)
    run("evaluate", done, truths, "--noc", noc, "--quiet", code=2)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"slanted: error: {noc}: expected the ground truth of visible pixels of")
    assert NAMES[1] in line
    one = tmp_path / "one"  # a pair without ground truth needs none
    one.mkdir()
    shutil.copy(truths / "000000_10.png", one)
    run("evaluate", done, one, "--noc", noc, "--json", "--quiet")
    found = outcome(capsys)
    assert "D1-noc" in found["mean"]
    assert not found["fewer_frames"]


def test_evaluate_finds_ground_truth_beside_results(batch, kitti, capsys):
    truth = read_disparity(kitti / "training/disp_occ_0/000001_10.png")
    write_disparity(batch / NAMES[1] / "ground_truth.pfm", truth)
    run("evaluate", batch, "--json", "--quiet")
    found = outcome(capsys)
    assert [row["frame"] for row in found["per_frame"]] == NAMES[1:]
    run("evaluate", batch / NAMES[1], "--json")
    assert outcome(capsys)["mean"]["D1-all"] == found["mean"]["D1-all"]
    run("evaluate", batch, "--min-confidence", "0.9", "--json", "--quiet")
    mean = outcome(capsys)["mean"]
    assert mean["density-all"] < 100
    assert mean["D1-kept"] <= found["mean"]["D1-all"] <= mean["D1-all"]


def test_ground_truth_is_found_by_name_and_never_guessed(done, tmp_path, capsys):
    truth = Result.load(done / NAMES[0]).disparity
    root = tmp_path / "truth"
    for place in ("training/000000_10.npy", "000001_10/disp0GT.pfm"):
        (root / place).parent.mkdir(parents=True, exist_ok=True)
        write_disparity(root / place, truth)
    run("evaluate", done, root, "--json", "--quiet")
    assert [row["frame"] for row in outcome(capsys)["per_frame"]] == NAMES
    write_disparity(root / "training/000000_10.pfm", truth)
    run("evaluate", done, root, "--quiet", code=2)
    assert "expected one ground truth of training/000000_10, got" in capsys.readouterr().err


def test_a_name_that_two_pairs_share_finds_nothing(tmp_path):
    from slanted.batch.ground_truth import TruthFolder

    write_disparity(tmp_path / "1.pfm", np.ones((3, 4), np.float32))
    (tmp_path / "b").mkdir()
    write_disparity(tmp_path / "b/1.pfm", np.ones((3, 4), np.float32))
    both = TruthFolder(tmp_path, ["a/1", "b/1"])
    assert both.find("a/1") is None
    assert both.find("b/1") == tmp_path / "b/1.pfm"
    assert TruthFolder(tmp_path, ["a/1"]).find("a/1") == tmp_path / "1.pfm"


def test_export_writes_all_pairs(batch, tmp_path, capsys):
    run("export", batch, "cloud.ply", "--json", "--quiet")
    found = outcome(capsys)
    assert list(found["pairs"]) == NAMES
    for name in NAMES:
        assert (batch / name / "cloud.ply").is_file()
    cameras = ("--fx", 100, "--baseline", 0.5)
    run("export", batch, "depth.png", "cloud.ply", "-o", tmp_path / "new", *cameras)
    said = capsys.readouterr().out
    assert said == f"wrote depth.png, cloud.ply of 2 pairs to {tmp_path / 'new'}, in metres\n"
    written = {str(file.relative_to(tmp_path / "new")) for file in (tmp_path / "new").rglob("*.*")}
    assert written == {f"{name}/{file}" for name in NAMES for file in ("depth.png", "cloud.ply")}


def test_export_writes_one_pair(batch, tmp_path, capsys):
    run("export", batch, "cloud.ply", "--pair", NAMES[1], "--json", "--quiet")
    assert outcome(capsys)["output"] == str(batch / NAMES[1])
    assert (batch / NAMES[1] / "cloud.ply").is_file()
    assert not (batch / NAMES[0] / "cloud.ply").exists()
    run("export", batch, "cloud.ply", "--pair", NAMES[1], "-o", tmp_path / "new", "--quiet")
    written = (tmp_path / "new/cloud.ply").read_bytes()
    assert written == (batch / NAMES[1] / "cloud.ply").read_bytes()


def set_calibration(place):
    """Let a result say that its run was calibrated."""
    record = json.loads((place / "run.json").read_text())
    cameras = dataclasses.asdict(Calibration(100.0, 100.0, 64.0, 32.0, 0.5))
    (place / "run.json").write_text(json.dumps({**record, "calibration": cameras}))


def test_export_refuses_depth_before_it_writes_any(batch, tmp_path, capsys):
    set_calibration(batch / NAMES[0])
    run("export", batch, "cloud.ply", "depth.png", "-o", tmp_path / "new", "--quiet", code=2)
    (line,) = capsys.readouterr().err.splitlines()
    assert "depth.png: expected calibrated pairs" in line
    assert f"1 of 2 have no calibration ({NAMES[1]})" in line
    assert not (tmp_path / "new").exists()


def test_export_tells_what_it_wrote_of_pairs_that_differ(batch, tmp_path, capsys):
    pytest.importorskip("trimesh", reason="the viewer is not installed")
    set_calibration(batch / NAMES[1])
    run("export", batch, "-o", tmp_path / "new")
    said = capsys.readouterr().out.splitlines()
    files = "cloud.ply, mesh.ply, mesh.glb, mesh.obj, mesh_texture.png, mesh.mtl"
    assert said == [
        f"wrote {files} of 1 pair to {tmp_path / 'new'}, in baselines",
        f"wrote {files}, depth.png of 1 pair to {tmp_path / 'new'}, in metres",
    ]


def test_export_goes_on_after_a_pair_that_fails(batch, tmp_path, capsys):
    """One is damaged; of another nothing is sure enough for a mesh."""
    pytest.importorskip("trimesh", reason="the viewer is not installed")
    new = tmp_path / "new"
    first = Result.load(batch / NAMES[0])
    dataclasses.replace(first, confidence=np.zeros_like(first.confidence)).save(batch / NAMES[0])
    run("export", batch, "-o", new, "--min-confidence", 0.1, "--json", "--quiet", code=1)
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert list(found["pairs"]) == NAMES[1:]
    assert list(found["failed"]) == NAMES[:1]
    assert "expected pixels with a confidence of at least 0.1" in found["failed"][NAMES[0]]
    (line,) = err.splitlines()
    assert line.startswith(f"slanted: error: {NAMES[0]}: not exported; mesh: expected")
    assert not (new / NAMES[0]).exists()
    assert (new / NAMES[1] / "mesh.glb").is_file()
    (batch / NAMES[0] / "run.json").write_text("{}")
    run("export", batch, "cloud.ply", "-o", new, "--quiet", code=1)
    assert f"{NAMES[0]}: not exported; " in capsys.readouterr().err
    run("export", batch, "cloud.ply", "-o", new, code=1)
    *_, last = capsys.readouterr().out.splitlines()
    assert last == "not exported: 1 of 2 pairs"


def test_an_export_with_the_same_calibration_leaves_a_batch_whole(kitti, tmp_path, capsys):
    batch = (
        *("batch", kitti, "-o", tmp_path / "out", "--max-disparity", 64, "--workers", 1),
        *("--inference.particles", 4, "--fx", 100, "--baseline", 0.5, "--quiet", "--json"),
    )
    run(*batch, code=1)  # one pair is damaged
    run("export", tmp_path / "out", "cloud.ply", "--quiet")
    capsys.readouterr()
    run(*batch, "--resume", code=1)
    assert outcome(capsys)["skipped"] == 2


def test_report_shows_errors_of_a_batch(done, kitti, tmp_path):
    page = tmp_path / "page.html"
    run("report", done, "-o", page, "--quiet")
    assert "D1 %" not in page.read_text()
    truths = kitti / "training/disp_occ_0"
    run("report", done, "-o", page, "--ground-truth", truths, "--quiet")
    text = page.read_text()
    errors = evaluate(
        Result.load(done / NAMES[0]).disparity, read_disparity(truths / "000000_10.png")
    )
    assert "<th>D1 %</th>" in text
    cells = re.findall(r"<td[^>]*>(.*?)</td>", text)
    assert f"{errors['D1-all']:.2f}" in cells
    assert "3 pairs, 2 done, 2 with ground truth" in text
    (table,) = re.findall(r"<tbody>(.*?)</tbody>", text, re.DOTALL)
    rows = re.findall(r'<tr(?! class="note")[^>]*>(.*?)</tr>', table)
    assert len(rows) == 3
    assert len({row.count("<td") for row in rows}) == 1  # the failed pair has empty cells


def test_view_shows_a_pair_of_a_batch(done, monkeypatch, capsys):
    pytest.importorskip("starlette", reason="the viewer is not installed")
    monkeypatch.setattr("uvicorn.Server.run", lambda self, sockets: None)
    run("view", done, "--port", 0, "--no-browser", "--quiet")
    first, second = capsys.readouterr().out.splitlines()
    assert "slanted shows 000000_10 at" in first
    assert second == f"it is the pair {NAMES[0]}; the page has all 3 of the batch"
    run("view", done, "--pair", NAMES[1], "--port", 0, "--no-browser", "--quiet")
    assert "slanted shows 000001_10 at" in capsys.readouterr().out


BAD = {
    "evaluate without truth": (["evaluate", "BATCH"], "but none of 2 has any; give its folder"),
    "evaluate with a file": (["evaluate", "BATCH", "one.npy"], "one.npy: expected a folder with"),
    "evaluate with nothing": (["evaluate", "BATCH", "none"], "none: expected a folder with"),
    "evaluate with other truths": (["evaluate", "BATCH", "empty"], "but none of 2 has any"),
    "evaluate with other sizes": (["evaluate", "BATCH", "sizes"], "000000_10.npy: expected the size"),
    "evaluate with a confidence": (["evaluate", "BATCH", "empty", "--confidence", "one.npy"], "--confidence: means nothing without one map"),
    "evaluate with a split": (["evaluate", "BATCH", "empty", "--split", "a"], "--split: means"),
    "evaluate a result without truth": (["evaluate", f"BATCH/{NAMES[0]}"], "expected ground_truth.pfm inside, found none; give"),
    "evaluate a map without truth": (["evaluate", "one.npy"], "one.npy: expected its ground truth after it"),
    "evaluate a dataset without folder": (["evaluate", "kitti2015"], "kitti2015: expected the folder of the dataset"),
    "evaluate a dataset with a typo": (["evaluate", "kiti2015", "empty"], "did you mean kitti2015?"),
    "evaluate a map with a threshold": (["evaluate", "one.npy", "one.npy", "--min-confidence", "0.5"], "--min-confidence: means nothing without a result, or --confidence"),
    "evaluate a batch under way": (["evaluate", "begun"], "begun: expected a batch that has ended"),
    "export a batch under way": (["export", "begun"], "begun: expected a batch that has ended"),
    "export another pair": (["export", "BATCH", "--pair", "training/7"], "expected the name of a pair (training/000000_10, training/000001_10), got 'training/7'"),
    "export a pair of a result": (["export", f"BATCH/{NAMES[0]}", "--pair", "a"], "--pair: means nothing without the folder of a batch"),
    "export depth without calibration": (["export", "BATCH", "depth.png"], f"depth.png: expected calibrated pairs, because it is in millimetres, but 2 of 2 have no calibration ({NAMES[0]}, {NAMES[1]})"),
    "export with a calibration of other images": (["export", "BATCH", "cloud.ply", "--calib", "wide.txt"], "wide.txt: expected the calibration of images of 128×64"),
    "export with half a calibration": (["export", "BATCH", "--fx", "7"], "--fx, --baseline: expected both"),
    "report with a file as truth": (["report", "BATCH", "-o", "page.html", "--ground-truth", "one.npy"], "one.npy: expected a folder with"),
    "report with two truths": (["report", "BATCH", "--ground-truth", "empty", "--ground-truth", "empty"], "expected one for each of 1 results, got 2"),
    "view another pair": (["view", "BATCH", "--pair", "training/7"], "expected the name of a pair (training/000000_10, training/000001_10), got 'training/7'"),
    "view a pair of a result": (["view", f"BATCH/{NAMES[0]}", "--pair", "a"], "--pair: means nothing without the folder of a batch"),
    "view a batch under way": (["view", "begun", "--no-browser"], "begun: expected a batch that has ended"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_sentence(case, done, tmp_path, monkeypatch, capsys):
    arguments, message = BAD[case]
    if arguments[0] == "view":
        pytest.importorskip("starlette", reason="the viewer is not installed")
    monkeypatch.chdir(tmp_path)
    np.save("one.npy", np.ones((3, 4), np.float32))
    (tmp_path / "empty").mkdir()
    (tmp_path / "sizes").mkdir()
    np.save("sizes/000000_10.npy", np.ones((3, 4), np.float32))
    (tmp_path / "begun").mkdir()
    (tmp_path / "begun/batch.lock").touch()
    (tmp_path / "wide.txt").write_text(
        "cam0=[10 0 5; 0 10 5; 0 0 1]\ncam1=[10 0 5; 0 10 5; 0 0 1]\n"
        "doffs=0\nbaseline=100\nwidth=640\nheight=480\n"
    )
    before = sorted([*tmp_path.rglob("*"), *done.rglob("*")])
    run(*(text.replace("BATCH", str(done)) for text in arguments), "--quiet", code=2)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("slanted: error: ")
    assert message in line
    assert sorted([*tmp_path.rglob("*"), *done.rglob("*")]) == before


def test_a_batch_too_long_for_a_strip_is_shown_pair_by_pair(batch, monkeypatch, capsys):
    served = []

    def serve(session, *_, announce, strip, **__):
        served.append((session, strip))
        announce("address", "address")

    monkeypatch.setattr("slanted.viewer.serve.serve", serve)
    quietly = "--no-browser", "--quiet", "--port", 0
    run("view", batch, *quietly)
    assert len(served.pop()[1].pairs) == 3
    monkeypatch.setattr("slanted.batch.summary.MOST_SHOWN", 2)
    run("view", batch, "--pair", NAMES[1], *quietly)
    session, strip = served.pop()
    assert strip is None
    assert session.state()["name"] == "000001_10"
    assert f"it is the pair {NAMES[1]}; the batch has more" in capsys.readouterr().out


def test_a_batch_is_compared_pair_by_pair(batch, monkeypatch):
    sessions = []
    monkeypatch.setattr(
        "slanted.viewer.serve.serve", lambda session, *_, **__: sessions.append(session)
    )
    for chosen in ((), ("--pair", NAMES[1])):
        quietly = "--no-browser", "--quiet", "--port", 0
        run("view", batch, *chosen, "--compare", batch, *quietly)
        name = chosen[1] if chosen else NAMES[0]
        assert sessions.pop().state()["others"][0]["title"] == f"batch/{name}"


def test_every_pair_of_the_strip_is_compared_with_its_partner(batch, done, monkeypatch):
    strips = []
    monkeypatch.setattr("slanted.viewer.serve.serve", lambda *_, strip, **__: strips.append(strip))
    quietly = "--no-browser", "--quiet", "--port", 0
    run("view", done, "--compare", batch, *quietly)
    titles = [strips[0].session(number).state()["others"][0]["title"] for number in range(2)]
    assert titles == [f"batch/{name}" for name in NAMES]
    shutil.rmtree(batch / NAMES[1])  # what has no partner is shown alone
    run("view", done, "--compare", batch, *quietly)
    others = [each["name"] for each in strips[1].session(1).state()["others"]]
    assert "given" not in others
    run("view", done, "--compare", batch / NAMES[0], *quietly)  # a result of one pair
    given = [strips[2].session(number).state()["others"][0]["name"] for number in range(2)]
    assert given == ["given", "sgbm"]


def test_a_result_is_compared_with_its_namesake_of_a_batch(batch, done, monkeypatch, capsys):
    sessions = []
    monkeypatch.setattr(
        "slanted.viewer.serve.serve", lambda session, *_, **__: sessions.append(session)
    )
    quietly = "--no-browser", "--quiet", "--port", 0
    run("view", done / NAMES[1], "--compare", batch, *quietly)
    assert sessions.pop().state()["others"][0]["title"] == f"batch/{NAMES[1]}"
    alone = batch.parent / "alone"
    shutil.copytree(done / NAMES[1], alone)
    run("view", alone, "--compare", batch, *quietly, code=2)
    (line,) = capsys.readouterr().err.splitlines()
    assert f"expected a pair with the name of {alone} to compare with ({NAMES[0]}" in line
    assert line.endswith("choose one with --pair NAME")
    run("view", alone, "--compare", batch, "--pair", NAMES[1], *quietly)
    assert sessions.pop().state()["others"][0]["title"] == f"batch/{NAMES[1]}"
