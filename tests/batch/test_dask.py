"""A real scheduler and two real workers over loopback give the same bytes."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from importlib import import_module

import numpy as np
import pytest

from batch.cluster import a_scheduler, a_worker
from batch.results import leftovers, published, result_files, summary
from slanted import Settings, estimate
from slanted.batch.pairs import find_pairs
from slanted.batch.run import run_batch
from slanted.errors import InputError, SlantedError
from slanted.runtime.dask_workers import Dask
from slanted.synthetic import make_scene

pytest.importorskip("distributed")


@contextmanager
def a_cluster(local, workers, **variables):
    """Yield the address of a scheduler, its process and those of its workers."""
    with ExitStack() as opened:
        address, scheduler = opened.enter_context(a_scheduler(**variables))
        found = [opened.enter_context(a_worker(address, local)) for _ in range(workers)]
        yield address, scheduler, [process for _, process in found]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with a_cluster(tmp_path_factory.mktemp("dask"), 2) as (address, _, workers):
        yield address, workers


@pytest.fixture(scope="module")
def reference(manifest, quick, tmp_path_factory):
    output = tmp_path_factory.mktemp("reference") / "out"
    run_batch(find_pairs(manifest), output, quick, workers=1)
    return result_files(output)


def test_dask_gives_the_same_bytes(cluster, manifest, quick, reference, tmp_path):
    output = tmp_path / "out"
    tally = run_batch(find_pairs(manifest), output, quick, scheduler=cluster[0])
    assert (tally.done, tally.failed, tally.workers, tally.threads) == (12, 0, 2, 1)
    assert result_files(output) == reference
    assert not leftovers(output)
    workers = {json.loads(p.read_text())["worker"] for p in output.rglob("record.json")}
    assert len(workers) == 2


@pytest.mark.parametrize("guided", ["false", "true"])
def test_tiles_of_one_image_are_shared(cluster, guided, monkeypatch):
    monkeypatch.setattr("slanted.matching.search_bands.BAND_BYTES", 1_500_000)
    scene = make_scene(200, 220, max_disparity=40, seed=1)
    options = {"matching.max_disparity": "48", "tiles.above": "1", "tiles.pixels": "12000"}
    settings = Settings().with_text({**options, "matching.census.guided": guided})
    alone = estimate(scene.left, scene.right, settings)
    with Dask(cluster[0]) as backend:
        shared = estimate(scene.left, scene.right, settings, backend=backend)
    np.testing.assert_array_equal(shared.disparity, alone.disparity)
    assert shared.energy == alone.energy


def test_a_killed_dask_worker_costs_its_pair_a_second_try(
    cluster, manifest, quick, reference, tmp_path
):
    address, workers = cluster
    ended = []

    def kill(tally, record):
        if record is not None:
            ended.append(record["name"])
        if len(ended) == 3:
            workers[0].send_signal(signal.SIGKILL)

    output = tmp_path / "out"
    tally = run_batch(find_pairs(manifest), output, quick, scheduler=address, progress=kill)
    assert (tally.done + tally.skipped, tally.failed) == (12, 0)
    assert sorted(ended) == [f"many/{k:02d}" for k in range(12)]
    assert result_files(output) == reference
    workers[0].wait()


def test_a_scheduler_without_workers_is_named(tmp_path, manifest, quick):
    output = tmp_path / "out"
    with (
        a_cluster(tmp_path, 0) as (address, _, _),
        pytest.raises(InputError, match=r"expected workers at .* got none; start `dask worker"),
    ):
        run_batch(find_pairs(manifest)[:1], output, quick, scheduler=address)
    assert not output.exists()  # another address may be tried without --resume


def test_workers_that_all_die_are_not_waited_for_for_ever(tmp_path, monkeypatch):
    monkeypatch.setattr("slanted.runtime.dask_workers.WORKERLESS_SECONDS", 1.0)
    with a_cluster(tmp_path, 1) as (address, _, workers), Dask(address) as backend:
        backend.submit("sleep", time.sleep, 600)
        workers[0].kill()
        with pytest.raises(SlantedError, match=r"no workers for 1 s; start some with `dask worker"):
            backend.next()


def test_a_scheduler_that_dies_ends_the_batch_and_loses_nothing(
    tmp_path, manifest, quick, reference, capfd
):
    output = tmp_path / "out"
    with a_cluster(tmp_path, 1) as (address, scheduler, _):

        def kill(tally, record):
            if tally.done == 2:
                scheduler.kill()

        with pytest.raises(SlantedError, match=rf"connection to {address} is lost; start"):
            run_batch(find_pairs(manifest), output, quick, scheduler=address, progress=kill)
    assert len(summary(output)) == 12
    assert "Traceback" not in capfd.readouterr().err  # nor anything else of Dask's own
    tally = run_batch(find_pairs(manifest), output, quick, workers=1, resume=True)
    assert tally.skipped >= 2
    assert result_files(output) == reference
    assert not leftovers(output)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_scheduler_that_dies_costs_the_command_one_sentence(tmp_path, manifest, how):
    output = tmp_path / "out"
    command = [sys.executable, "-m", "slanted", "batch", str(manifest), "-o", str(output)]
    command += ["--max-disparity", "32", "--inference.particles", "4", "--scheduler"]
    with a_cluster(tmp_path, 1) as (address, scheduler, _):
        batch = subprocess.Popen([*command, address], stderr=subprocess.PIPE, text=True)
        while not published(output):
            assert batch.poll() is None, batch.stderr.read()
            time.sleep(0.01)
        scheduler.send_signal(how)
        told = batch.communicate()[1].splitlines()
    assert batch.returncode == 2
    assert told[-1] == (
        f"slanted: error: scheduler: the connection to {address} is lost; start the scheduler "
        "again and repeat the command with --resume"
    )
    assert told[0].startswith("12 pairs, ")
    assert all(re.match(r"\d+/12 many/", line) for line in told[1:-1]), told
    assert not leftovers(output)
    assert published(output)


def test_a_scheduler_that_dies_is_named(tmp_path):
    with a_cluster(tmp_path, 1) as (address, scheduler, _), Dask(address) as backend:
        backend.submit("sleep", time.sleep, 600)
        scheduler.kill()
        with pytest.raises(SlantedError, match=rf"connection to {address} is lost; start"):
            backend.next()


def test_a_task_that_kills_its_workers_is_not_tried_again(tmp_path):
    settings = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0"}
    with a_cluster(tmp_path, 1, **settings) as (address, _, _), Dask(address) as backend:
        backend.submit("die", signal.raise_signal, signal.SIGKILL)
        ended = backend.next()
    assert (ended.key, ended.value, ended.again) == ("die", None, False)
    assert ended.died


def test_workers_of_another_version_are_named(cluster):
    with Dask(cluster[0]) as backend:
        backend.submit("import", import_module, "slanted.of_tomorrow")
        with pytest.raises(SlantedError, match=r"this version of slanted.*No module named"):
            backend.next()
        backend.submit("other", int, "x")
        with pytest.raises(ValueError, match="invalid literal"):
            backend.next().result()


def test_an_owner_that_dies_is_not_waited_for(tmp_path):
    with a_cluster(tmp_path, 2) as (address, _, workers), Dask(address) as backend:
        for owner in range(2):
            backend.submit(owner, os.getpid, owner=owner)
        processes = {ended.key: ended.result() for ended in (backend.next(), backend.next())}
        assert sorted(processes.values()) == sorted(worker.pid for worker in workers)
        backend.submit("again", os.getpid, owner=1)
        assert backend.next().result() == processes[1]
        backend.submit("waiting", time.sleep, 600, owner=0)
        os.kill(processes[0], signal.SIGKILL)
        ended = backend.next()
        assert (ended.key, ended.again) == ("waiting", False)
        assert re.fullmatch(r"Dask worker tcp://\S+ is gone", ended.died)
