"""Whatever dies, fills up or is broken: nothing is lost, half-written or computed again."""

import json
import os
import signal
import struct
import subprocess
import sys
import time
import zlib
from pathlib import Path

import pytest

from batch.results import leftovers, published, result_files
from slanted.batch.pairs import Pair, find_pairs
from slanted.batch.run import run_batch
from slanted.batch.work import run_job
from slanted.errors import FileError
from slanted.output import folder as module


@pytest.fixture(scope="module")
def reference(manifest, quick, tmp_path_factory):
    output = tmp_path_factory.mktemp("reference") / "out"
    run_batch(find_pairs(manifest), output, quick, workers=1)
    return result_files(output)


def command(manifest, output, *options):
    settings = ("--max-disparity", "32", "--inference.particles", "4")
    return [sys.executable, "-m", "slanted", "batch", str(manifest), "-o", str(output), *settings,
            *options]  # fmt: skip


def is_alive(pid):
    try:
        return " Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


def until(condition, seconds=600):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.01)


def die_once(job):
    """Die when the files of one pair are written, but not yet where its result belongs."""
    mark = job.output.parent / "killed"
    if job.name == "many/03" and not mark.exists():
        write = module.write_result

        def write_and_die(*given):
            write(*given)
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)

        module.write_result = write_and_die
    return run_job(job)


def test_a_killed_worker_costs_its_pair_a_second_try(
    manifest, quick, reference, tmp_path, monkeypatch
):
    monkeypatch.setattr("slanted.batch.run.run_job", die_once)
    ended = []

    def note(tally, record):
        if record is not None:
            ended.append(record["name"])

    tally = run_batch(find_pairs(manifest), tmp_path / "out", quick, workers=2, progress=note)
    assert (tmp_path / "killed").exists()
    assert (tally.done, tally.skipped, tally.failed) == (12, 0, 0)
    assert sorted(ended) == [f"many/{k:02d}" for k in range(12)]  # each once
    assert result_files(tmp_path / "out") == reference
    assert not leftovers(tmp_path / "out")


def die(job):
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_pair_that_kills_its_workers_is_recorded(manifest, quick, tmp_path, monkeypatch):
    monkeypatch.setattr("slanted.batch.run.run_job", die)
    pairs = find_pairs(manifest)[:2]
    tally = run_batch(pairs, tmp_path / "out", quick, workers=2)
    assert tally.failed == 2
    failure = json.loads((tmp_path / "out" / "failures" / f"{pairs[0].name}.json").read_text())
    assert "died each time (killed by SIGKILL)" in failure["error"]


def test_a_killed_parent_leaves_no_worker_and_is_resumed(manifest, reference, tmp_path):
    output = tmp_path / "out"
    with subprocess.Popen(command(manifest, output, "--workers", "2"), stderr=subprocess.PIPE) as parent:  # fmt: skip
        until(lambda: len(published(output)) >= 2)
        parent.kill()
    done = published(output)
    workers = {json.loads(p.read_text())["worker"].split(":")[1] for p in done}
    until(lambda: not any(map(is_alive, workers)))
    done = published(output)
    again = subprocess.run(command(manifest, output, "--workers", "1", "--resume", "--json"),
                           capture_output=True, text=True, check=True)  # fmt: skip
    tally = json.loads(again.stdout)
    assert tally["skipped"] == len(done)
    assert tally["done"] == 12 - len(done)
    assert all(p.stat().st_mtime_ns == written for p, written in done.items())
    assert result_files(output) == reference
    assert not leftovers(output)


def test_interrupt_of_a_whole_process_group(manifest, tmp_path):
    """Ctrl-C on a terminal reaches parent and workers alike."""
    output = tmp_path / "out"
    running = subprocess.Popen(
        command(manifest, output, "--workers", "2"),
        stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    until(lambda: published(output))
    os.killpg(running.pid, signal.SIGINT)
    said = running.communicate(timeout=600)[1]
    if running.returncode == 0:  # all pairs were done before the signal came
        pytest.skip("the batch was quicker than the interrupt")
    assert running.returncode == 130
    assert "slanted: interrupted" in said
    kept = len(published(output))
    assert f"\n{kept} of 12 pairs are kept; go on with --resume\n" in said
    assert "Traceback" not in said
    assert (output / "summary.csv").is_file()
    assert not leftovers(output)


@pytest.fixture
def small_disk(tmp_path):
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(mount, capture_output=True, text=True, check=False)
    except OSError as error:
        pytest.skip(f"a small tmpfs cannot be mounted here: {error}")
    if mounted.returncode:
        pytest.skip(f"a small tmpfs cannot be mounted here: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_stops_the_batch_and_loses_nothing(manifest, reference, small_disk):
    output = small_disk / "out"
    full = subprocess.run(command(manifest, output, "--workers", "1"),
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert full.returncode == 2
    assert "the disk is full" in full.stderr
    assert "--resume" in full.stderr
    done = {p.parent.relative_to(output): written for p, written in published(output).items()}
    assert 0 < len(done) < 11  # it stopped, rather than fail with each of the others
    written = result_files(output)
    assert written.items() <= reference.items()  # what is there is whole
    assert {str(Path(name).parent) for name in written} == set(map(str, done))
    assert not leftovers(output)
    subprocess.run(["mount", "-o", "remount,size=20m", str(small_disk)], check=True)
    again = subprocess.run(command(manifest, output, "--workers", "1", "--resume", "--json"),
                           capture_output=True, text=True, check=True)  # fmt: skip
    assert json.loads(again.stdout)["skipped"] == len(done)
    assert result_files(output) == reference
    assert not (output / "failures").exists() or not list((output / "failures").rglob("*.json"))


def test_a_disk_that_is_full_from_the_start(manifest, small_disk):
    with (small_disk / "filler").open("wb", buffering=0) as filler:
        while True:
            try:
                filler.write(b"x" * 4096)
            except OSError:
                break
    full = subprocess.run(command(manifest, small_disk / "out", "--workers", "1"),
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert full.returncode == 2
    assert "the disk is full; 0 of 12 pairs are kept; free space and repeat" in full.stderr
    assert f"{small_disk / 'out' / 'many' / '00'}/" in full.stderr  # where it would have been
    assert "Traceback" not in full.stderr


def png_claiming(width, height, packed=None):
    """A whole PNG file, checksums and all, with hardly any pixels, or so many packed bytes."""

    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    pixels = chunk(b"IDAT", zlib.compress(b"\0" * 100) if packed is None else bytes(packed))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + pixels + chunk(b"IEND", b"")


def test_broken_inputs_are_recorded_and_the_rest_goes_on(kitti, quick, tmp_path, monkeypatch):
    monkeypatch.setattr("slanted.batch.memory.available_bytes", lambda: 8 * 10**9)
    good = find_pairs(kitti)
    left, right = good[0].left, good[0].right
    broken = {
        "unreadable": (tmp_path / "folder.png", "it is a directory"),
        "missing": (tmp_path / "missing.png", "nothing is there"),
        "corrupt": (tmp_path / "corrupt.png", "truncated"),
        "text": (tmp_path / "text.png", "is not an image"),
        "huge": (tmp_path / "huge.png", "expected an image of 1 to"),
        "large": (tmp_path / "large.png", "which take about"),
        "other size": (tmp_path / "other.png", "damaged"),
    }
    (tmp_path / "folder.png").mkdir()
    (tmp_path / "corrupt.png").write_bytes(left.read_bytes()[:-500])
    (tmp_path / "text.png").write_text("no image")
    (tmp_path / "huge.png").write_bytes(png_claiming(2**20, 2**20))
    (tmp_path / "large.png").write_bytes(png_claiming(22_000, 22_000, 12_000_000))
    (tmp_path / "other.png").write_bytes(png_claiming(64, 64))
    pairs = [Pair(f"bad/{name}", file, right) for name, (file, _) in broken.items()]
    tally = run_batch([*pairs, *good[:2]], tmp_path / "out", quick, workers=1)
    assert (tally.done, tally.failed) == (2, len(broken))
    for name, (file, message) in broken.items():
        record = json.loads((tmp_path / "out" / "failures" / "bad" / f"{name}.json").read_text())
        assert record["error"].startswith(str(file)), record["error"]
        assert message in record["error"], record["error"]
        assert "traceback" not in record
    assert not leftovers(tmp_path / "out")
    tally = run_batch([*pairs, *good[:2]], tmp_path / "out", quick, workers=1, resume=True)
    assert (tally.done, tally.skipped, tally.failed) == (0, 2, len(broken))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(kitti, quick, tmp_path):
    file = tmp_path / "secret.png"
    file.write_bytes(b"x")
    file.chmod(0)
    pair = Pair("a", file, find_pairs(kitti)[0].right)
    assert run_batch([pair], tmp_path / "out", quick, workers=1).failed == 1
    record = json.loads((tmp_path / "out" / "failures" / "a.json").read_text())
    assert "may not be read" in record["error"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
def test_pipes_and_devices_in_a_manifest_are_failures_not_waited_for(manifest, quick, tmp_path):
    os.mkfifo(tmp_path / "pipe.png")
    (tmp_path / "zero.png").symlink_to("/dev/zero")
    good = find_pairs(manifest)[0]
    pairs = [good, *(Pair(name, tmp_path / f"{name}.png", good.right) for name in ("pipe", "zero"))]
    pairs.append(Pair("right", good.left, tmp_path / "pipe.png"))
    tally = run_batch(pairs, tmp_path / "out", quick, workers=2)
    assert (tally.done, tally.failed) == (1, 3)
    for name in ("pipe", "zero", "right"):
        failure = json.loads((tmp_path / "out" / "failures" / f"{name}.json").read_text())
        assert "device or pipe" in failure["error"]


def test_a_pipe_in_the_place_of_the_marker_is_refused(manifest, quick, tmp_path):
    os.mkfifo(tmp_path / "batch.lock")
    with pytest.raises(FileError, match="expected the marker of a batch"):
        run_batch(find_pairs(manifest), tmp_path, quick, workers=1, resume=True)
