"""Batches give the same bytes by every backend, and know what is done."""

import dataclasses
import json
import os
import shutil
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from batch.results import leftovers, result_files, summary
from slanted.batch import memory
from slanted.batch.pairs import find_pairs
from slanted.batch.records import settings_digest
from slanted.batch.run import Tally, _backend, _Loop, run_batch
from slanted.batch.work import Job, Outcome, run_job
from slanted.cli import main
from slanted.errors import FileError, InputError
from slanted.io import files, write_image
from slanted.pipeline import estimate
from slanted.result import Result
from slanted.runtime.memory import workers_that_fit
from slanted.runtime.process_workers import Processes
from slanted.runtime.workers import Sequential
from slanted.settings import settings_from_user
from slanted.synthetic import make_scene


def run(*arguments):
    with pytest.raises(SystemExit) as exited:
        main([str(a) for a in arguments])
    return exited.value.code or 0


@pytest.fixture(scope="module")
def sequential(kitti, quick, tmp_path_factory):
    output = tmp_path_factory.mktemp("sequential") / "out"
    run_batch(find_pairs(kitti), output, quick, workers=1)
    return output


def test_processes_give_the_same_bytes(sequential, kitti, quick, tmp_path):
    tally = run_batch(find_pairs(kitti), tmp_path / "out", quick, workers=2)
    assert (tally.done, tally.failed, tally.workers) == (4, 0, 2)
    assert result_files(tmp_path / "out") == result_files(sequential)
    assert not leftovers(tmp_path / "out")


def test_results_load(sequential):
    result = Result.load(sequential / "training" / "000000_10")
    assert result.disparity.shape == (64, 128)


def test_batches_take_the_threshold_and_sum_up_the_confidence(kitti, quick, tmp_path, monkeypatch):
    def sure(*arguments, **named):
        result = estimate(*arguments, **named)
        ramp = np.broadcast_to(np.linspace(0, 1, 128), result.disparity.shape)
        return dataclasses.replace(result, confidence=ramp)

    monkeypatch.setattr("slanted.stream.stream.estimate", sure)
    strict = quick.with_text({"confidence.min": "0.25"})
    assert run_batch(find_pairs(kitti)[:1], tmp_path / "out", strict, workers=1).done == 1
    (row,) = summary(tmp_path / "out")
    assert float(row["confidence_median"]) == pytest.approx(0.5, abs=0.01)
    disparity = np.load(tmp_path / "out" / row["name"] / "disparity.npy")
    assert np.isnan(disparity).mean() == pytest.approx(0.25)


def test_records_and_summary(sequential):
    record = json.loads((sequential / "training" / "000000_10" / "record.json").read_text())
    for name in ("settings", "inputs", "versions", "energy", "worker"):
        assert record[name]
    assert record["gap_percent"] >= 0  # 0 if the solver is done
    assert record["seconds"]["total"] > record["seconds"]["matching"] > 0
    rows = summary(sequential)
    lines = [json.loads(line) for line in (sequential / "summary.jsonl").read_text().splitlines()]
    assert [row["name"] for row in rows] == [line["name"] for line in lines]
    assert len(rows) == 4
    assert {row["status"] for row in rows} == {"done"}
    assert float(rows[0]["energy"]) == lines[0]["energy"] == record["energy"]


@pytest.mark.parametrize("resume", [False, True])
@pytest.mark.parametrize("name", ["summary.csv", "failures/mine.json"])
def test_files_of_a_user_are_not_replaced(name, resume, kitti, quick, tmp_path):
    mine = tmp_path / "out" / name
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    with pytest.raises(FileError, match=f"{name.split('/')[0]}.* that no run wrote"):
        run_batch(find_pairs(kitti), tmp_path / "out", quick, workers=1, resume=resume)
    assert mine.read_text() == "mine"
    assert [*(tmp_path / "out").iterdir()] == [tmp_path / "out" / name.split("/")[0]]


def test_results_do_not_go_where_the_images_are(kitti, quick, tmp_path):
    for name in ("left.png", "right.png"):
        (tmp_path / "desk").mkdir(exist_ok=True)
        shutil.copy(next(kitti.rglob("*.png")), tmp_path / "desk" / name)
    with pytest.raises(InputError, match="images of desk lie where its result would"):
        run_batch(find_pairs(tmp_path), tmp_path, quick, workers=1)
    assert {path.name for path in tmp_path.rglob("*")} == {"desk", "left.png", "right.png"}


def test_resume_skips_what_is_done_and_redoes_what_changed(kitti, quick, tmp_path):
    pairs, output = find_pairs(kitti), tmp_path / "out"
    run_batch(pairs[:2], output, quick, workers=1)
    first = output / "training" / "000000_10" / "record.json"
    before = first.stat().st_mtime_ns
    with pytest.raises(InputError, match="add --resume to go on"):
        run_batch(pairs, output, quick, workers=1)
    tally = run_batch(pairs[:3], output, quick.with_text({"threads": "1"}), workers=1, resume=True)
    assert (tally.done, tally.skipped) == (1, 2)  # threads change no result
    assert first.stat().st_mtime_ns == before
    tally = run_batch(pairs[:1], output, quick.with_text({"seed": "1"}), workers=1, resume=True)
    assert (tally.done, tally.skipped) == (1, 0)
    assert first.stat().st_mtime_ns > before


def test_other_inputs_of_the_same_name_are_done_again(kitti, quick, tmp_path):
    one, other = find_pairs(kitti)[:2]
    run_batch([one], tmp_path / "out", quick, workers=1)
    swapped = type(one)(one.name, other.left, other.right)
    tally = run_batch([swapped], tmp_path / "out", quick, workers=1, resume=True)
    assert tally.done == 1


def cut_short(folder):
    file = folder / "result.npz"
    file.write_bytes(file.read_bytes()[:100])


def torn(folder):
    """Keep the size and lose the content, as a power failure may."""
    file = folder / "disparity.npy"
    file.write_bytes(file.read_bytes()[:4096].ljust(file.stat().st_size, b"\0"))


def with_record(change):
    def write(folder):
        file = folder / "record.json"
        file.write_text(change(json.loads(file.read_text())))

    return write


DAMAGES = {
    "a file cut short": cut_short,
    "a file torn by a power failure": torn,
    "sizes, as in early versions": with_record(
        lambda record: json.dumps(record | {"files": {"result.npz": 7}})
    ),
    "a file missing": lambda folder: (folder / "disparity.pfm").unlink(),
    "an empty record": with_record(lambda record: ""),
    "half a record": with_record(lambda record: json.dumps(record)[:100]),
    "a list": with_record(lambda record: "[]"),
    "nested too deep": with_record(lambda record: "[" * 100_000),
    "parts of other kinds": with_record(lambda record: json.dumps(record | {"versions": 3})),
    "parts missing": with_record(lambda r: json.dumps({k: r[k] for k in ("settings", "inputs")})),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_damaged_is_done_again(damage, sequential, kitti, quick, tmp_path):
    output = tmp_path / "out"
    shutil.copytree(sequential, output)
    DAMAGES[damage](output / "training" / "000000_10")
    tally = run_batch(find_pairs(kitti), output, quick, workers=1, resume=True)
    assert (tally.done, tally.skipped, tally.failed) == (1, 3, 0)
    assert result_files(output) == result_files(sequential)
    assert {row["status"] for row in summary(output)} == {"done"}


def test_files_added_to_a_result_are_no_damage(sequential, kitti, quick, tmp_path):
    output = tmp_path / "out"
    shutil.copytree(sequential, output)
    added = output / "training" / "000000_10" / "mesh.glb"
    added.write_bytes(b"x")
    assert run_batch(find_pairs(kitti), output, quick, workers=1, resume=True).skipped == 4
    assert added.exists()


def test_a_pair_done_again_leaves_the_users_files_in_its_folder(sequential, kitti, quick, tmp_path):
    output = tmp_path / "out"
    shutil.copytree(sequential, output)
    notes = output / "training" / "000000_10" / "notes.txt"
    notes.write_text("mine")
    stale = output / "training" / "000000_10" / "mesh.glb"
    stale.write_bytes(b"of the old planes")
    other = quick.with_text({"seed": "1"})
    assert run_batch(find_pairs(kitti)[:1], output, other, workers=1, resume=True).done == 1
    assert notes.read_text() == "mine"
    assert not stale.exists()


def test_names_that_are_no_text_are_in_the_summary(kitti, quick, tmp_path):
    pair, name = find_pairs(kitti)[0], os.fsdecode(b"caf\xe9")
    try:
        (tmp_path / f"{name}_left.png").write_bytes(pair.left.read_bytes())
    except OSError:
        pytest.skip("this file system has no such names")
    (tmp_path / f"{name}_right.png").write_bytes(pair.right.read_bytes())
    output = tmp_path / "out"
    assert run_batch(find_pairs(tmp_path, output), output, quick, workers=1).done == 1
    assert summary(output)[0]["name"] == r"caf\udce9"
    assert json.loads((output / "summary.jsonl").read_text("utf-8"))["name"] == name


def test_warnings_are_heard_in_any_thread(quick, tmp_path):
    """Dask runs tasks in threads."""
    left = tmp_path / "left.png"
    write_image(left, make_scene(256, 192, seed=1).left)
    job = Job("same", left, left, tmp_path, quick, 1)
    with ThreadPoolExecutor(1) as pool:
        record = pool.submit(run_job, job).result().record
    assert record["status"] == "done"
    assert any("both images are the same" in message for message in record["warnings"])


def test_the_summary_shows_how_a_camera_drifts(quick, tmp_path):
    scene = make_scene(256, 192, seed=1)
    for rows in range(3):
        write_image(tmp_path / f"{rows}_left.png", scene.left)
        write_image(tmp_path / f"{rows}_right.png", np.roll(scene.right, rows, axis=0))
    run_batch(find_pairs(tmp_path), tmp_path / "out", quick, workers=1)
    rows = sorted(summary(tmp_path / "out"), key=lambda row: row["name"])
    shifts = [float(row["vertical_shift"]) for row in rows]
    np.testing.assert_allclose(shifts, [0, 1, 2], atol=0.1)
    assert [row["straightened"] for row in rows] == ["False", "True", "True"]


def test_a_pair_of_colour_and_grey_is_told_in_its_record(quick, tmp_path):
    scene = make_scene(256, 192, seed=1)
    write_image(tmp_path / "a_left.png", scene.left)
    write_image(tmp_path / "a_right.png", scene.right[..., 0])
    run_batch(find_pairs(tmp_path), tmp_path / "out", quick, workers=1)
    told, range_ends = json.loads((tmp_path / "out/a/record.json").read_text())["warnings"]
    assert "raise matching.max_disparity" in range_ends
    assert told.startswith(f"{tmp_path / 'a_left.png'}: is in colour, but ")


def test_a_failed_pair_is_told_by_its_files(quick, tmp_path):
    scene = make_scene(256, 192, seed=1)
    files = tmp_path / "a_left.png", tmp_path / "a_right.png"
    for file, image in zip(files, (scene.right, scene.left), strict=True):
        write_image(file, image)
    run_batch(find_pairs(tmp_path), tmp_path / "out", quick, workers=1)
    told = json.loads((tmp_path / "out/failures/a.json").read_text())["error"]
    assert told.startswith(f"{files[0]}, {files[1]}: ")
    assert "seem to be swapped" in told


def test_a_folder_of_somebody_else_is_not_replaced(kitti, quick, tmp_path):
    pair = find_pairs(kitti)[0]
    mine = tmp_path / "out" / pair.name / "thesis.txt"
    mine.parent.mkdir(parents=True)
    mine.write_text("years of work")
    tally = run_batch([pair], tmp_path / "out", quick, workers=1)
    assert tally.failed == 1
    assert mine.read_text() == "years of work"
    failure = json.loads((tmp_path / "out" / "failures" / f"{pair.name}.json").read_text())
    assert "move it away" in failure["error"]


def test_two_batches_cannot_write_to_one_folder(kitti, quick, tmp_path):
    pair = find_pairs(kitti)[0]

    def again(tally, record):
        with pytest.raises(InputError, match="another batch is writing"):
            run_batch([pair], tmp_path / "out", quick, workers=1, resume=True)

    assert run_batch([pair], tmp_path / "out", quick, workers=1, progress=again).done == 1


def test_command(kitti, manifest, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = ("--workers", 1, "--max-disparity", 32)
    assert run("batch", kitti, "-o", "out", *options, "--json") == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["done"] == 4
    assert "4 pairs, 1 at a time, " in said.err  # after kernels, if some are to be compiled
    assert "4/4 training/000003_10:" in said.err
    assert "a minute, 0 s left" in said.err
    assert run("batch", kitti, "-o", "out", *options, "--resume") == 0
    assert "0 done, 4 done before, 0 failed" in capsys.readouterr().out
    assert run("batch", kitti, "-o", "out", *options) == 2
    assert "add --resume" in capsys.readouterr().err
    assert run("batch", "nothing", *options) == 2
    assert run("batch", kitti, "--workers", 2, "--scheduler", "tcp://x:1") == 2


def test_ctrl_c_keeps_what_is_done(kitti, quick, tmp_path):
    def interrupt(tally, record):
        if tally.done == 2:
            raise KeyboardInterrupt

    for workers in (1, 2):
        output = tmp_path / str(workers)
        with pytest.raises(KeyboardInterrupt):
            run_batch(find_pairs(kitti), output, quick, workers=workers, progress=interrupt)
        rows = summary(output)
        assert [row["status"] for row in rows].count("done") == 2
        assert [row["status"] for row in rows].count("waiting") == 2
        assert not leftovers(output)
    tally = run_batch(find_pairs(kitti), output, quick, workers=1, resume=True)
    assert tally.done + tally.skipped == 4
    assert tally.skipped >= 2


def test_the_live_table_shows_rate_and_time_left():
    from rich.console import Console

    from slanted.cli.batch_table import BatchTable

    table = BatchTable(quiet=True)
    ended = {"name": "[bold]a", "outcome": "failed", "error": "a.png: is no image"}
    tally = Tally(10, done=2, failed=1, skipped=1, running=("b", "c"), seconds=30, workers=2)
    table.update(tally, ended)
    console = Console(width=100, record=True, file=__import__("io").StringIO())
    console.print(table._table(tally))
    text = console.export_text()
    assert "4/10 pairs, 1 done before, 1 failed; 6.0 a minute, 60 s left" in text
    assert "[bold]a: failed, a.png: is no image" in text
    assert "b …" in text


def test_workers_are_limited_by_memory(quick):
    needed = memory.pair_bytes((375, 1242), quick)
    assert 3.7e8 < needed < 1e9  # a KITTI pair takes 373 MB
    assert workers_that_fit(8, needed, 3 * needed) == 2
    assert workers_that_fit(8, needed, needed // 2) == 1
    # In tiles an image takes far less than its pixels would.
    large = memory.pair_bytes((10_000, 10_000), quick)
    assert 4e9 < large < 8e9
    whole = quick.with_text({"tiles.above": "1000000000"})
    assert memory.pair_bytes((10_000, 10_000), whole) > 3 * large


def test_memory_limits_the_backend(kitti, quick, monkeypatch):
    pairs = find_pairs(kitti)
    plenty = _backend(pairs, quick, 3, None, len(pairs))
    assert isinstance(plenty, Processes)
    assert plenty.slots == 3
    needed = memory.largest_pair([p.left for p in pairs], quick)
    monkeypatch.setattr("slanted.batch.run.available_bytes", lambda: int(1.5 * needed))
    assert isinstance(_backend(pairs, quick, 3, None, len(pairs)), Sequential)


def test_the_start_of_a_file_tells_how_much_a_pair_takes(kitti, quick, tmp_path):
    whole = find_pairs(kitti)[0].left
    start = tmp_path / "start.png"
    start.write_bytes(whole.read_bytes()[:24])  # thousands of files are not read twice
    assert memory.largest_pair([start], quick) == memory.largest_pair([whole], quick) > 0
    start.write_bytes(whole.read_bytes()[:20])
    assert memory.largest_pair([start, tmp_path / "missing.png"], quick) < memory.pair_bytes(
        (64, 128), quick
    )


def test_workers_are_as_many_as_cores_that_may_be_used(kitti, quick, monkeypatch):
    pairs = find_pairs(kitti)
    for cores in (1, 3):
        monkeypatch.setattr("os.sched_getaffinity", lambda _, n=cores: set(range(n)))
        assert _backend(pairs, quick, None, None, len(pairs)).slots == cores
    assert _backend(pairs, quick, None, None, most_at_a_time=1).threads == 3


def test_no_pairs_and_two_of_one_name(kitti, quick, tmp_path):
    assert run_batch([], tmp_path / "none", quick).total == 0
    pair = find_pairs(kitti)[0]
    with pytest.raises(FileError, match="pairs: two pairs would be written to one place"):
        run_batch([pair, pair], tmp_path / "out", quick)
    assert not (tmp_path / "out").exists()


def test_a_name_that_leaves_the_output_is_refused_before_any_work(kitti, quick, tmp_path):
    pair = find_pairs(kitti)[0]
    outside = type(pair)("../x", pair.left, pair.right)
    with pytest.raises(FileError, match="cannot be the name of a pair"):
        run_batch([pair, outside], tmp_path / "out", quick, workers=1)
    assert not list(tmp_path.iterdir())


class Record(dict):
    """A record that can be watched."""


def test_whole_records_are_not_kept(manifest, quick, tmp_path):
    """They take 6 kB each, and a batch may have millions of pairs."""
    pairs = find_pairs(manifest)
    loop = _Loop(pairs, tmp_path, quick, False, None)
    record = Record(name=pairs[0].name, status="done", files={"disparity.png": 5})
    watched = weakref.ref(record)
    loop._end(pairs[0].name, Outcome("done", record))
    del record
    assert watched() is None
    assert [row["status"] for row in loop.rows()] == ["done"] + ["waiting"] * 11


def test_a_network_is_read_for_its_digest_only_when_it_changes(tmp_path, monkeypatch):
    read, model, original = [], tmp_path / "model.onnx", files.read_bytes

    def noted(path, **given):
        read.append(path)
        return original(path, **given)

    monkeypatch.setattr(files, "read_bytes", noted)
    model.write_bytes(b"one")
    network = {"matching.method": "network", "matching.network.model": str(model)}
    settings = settings_from_user(network)
    first = settings_digest(settings)
    for number in range(40):  # the files of a pair, which are digested as well
        (tmp_path / str(number)).write_bytes(b"")
        files.file_digest(tmp_path / str(number))
        assert settings_digest(settings) == first
    assert read.count(model) == 1
    model.write_bytes(b"other")
    assert settings_digest(settings) != first
    assert read.count(model) == 2
