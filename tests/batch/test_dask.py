"""A real scheduler and two real workers over loopback give the same bytes."""

import json
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from batch.results import leftovers, result_files
from slanted import Settings, estimate
from slanted.batch.dask_backend import Dask
from slanted.batch.pairs import find_pairs
from slanted.batch.run import run_batch
from slanted.errors import InputError
from slanted.synthetic import make_scene

pytest.importorskip("distributed")


def dask(*arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "dask", *arguments],
        stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
    )  # fmt: skip


def read_until(process, pattern):
    for line in process.stderr:
        found = re.search(pattern, line)
        if found:
            return found
    raise AssertionError(f"the process ended without saying {pattern}")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    local = str(tmp_path_factory.mktemp("dask"))
    scheduler = dask("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
    workers = []
    try:
        address = read_until(scheduler, r"Scheduler at:\s*(tcp://\S+)")[1]
        worker = ("worker", address, "--nthreads", "1", "--no-dashboard", "--no-nanny")
        workers = [dask(*worker, "--local-directory", local) for _ in range(2)]
        for process in workers:
            read_until(process, "Registered to")
        yield address, workers
    finally:
        for process in [*workers, scheduler]:
            process.kill()
            process.wait()
            process.stderr.close()


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


def test_tiles_of_one_image_are_shared(cluster):
    scene = make_scene(200, 220, max_disparity=40, seed=1)
    options = {"matching.max_disparity": "48", "tiles.above": "1", "tiles.pixels": "12000"}
    settings = Settings().with_text(options)
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
    scheduler = dask("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
    try:
        address = read_until(scheduler, r"Scheduler at:\s*(tcp://\S+)")[1]
        time.sleep(0.1)
        with pytest.raises(
            InputError, match=r"expected workers at .* got none; start `dask worker"
        ):
            run_batch(find_pairs(manifest)[:1], tmp_path / "out", quick, scheduler=address)
    finally:
        scheduler.kill()
        scheduler.wait()
        scheduler.stderr.close()
