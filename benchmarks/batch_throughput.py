"""Pairs per minute of `slanted batch`: one process, two, and two Dask workers over loopback.

python benchmarks/batch_throughput.py [--frames 30] [--times 2] [--workers 2]

Each of the first KITTI frames is run several times. Every worker has one thread. Times are those of
whole commands, including the start of Python and of worker processes; Dask's scheduler and workers
are started before, as on a cluster. The results of all three are compared byte by byte.
"""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from common import SMOKE, data_folder, options, record

OWN = ("record.json", "summary.csv", "summary.jsonl", "batch.lock")
"""Files that contain times and so differ between runs."""


def main() -> None:
    """Measure the three ways in turn."""
    smoke = {"frames": 2, "times": 1}
    arguments = options(__doc__, smoke, frames=30, times=2, workers=2)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        manifest = write_manifest(root, arguments.frames, arguments.times)
        if not SMOKE:
            run(manifest, root / "warm", ["--workers", "1"], limit=2)
        ways: dict[str, list[str]] = {
            "sequential": ["--workers", "1"],
            "processes": ["--workers", str(arguments.workers)],
        }
        found = {name: run(manifest, root / name, options) for name, options in ways.items()}
        with dask_cluster(root, 1 if SMOKE else arguments.workers) as address:
            found["dask"] = run(manifest, root / "dask", ["--scheduler", address])
        reference = result_files(root / "sequential")
        for name, result in found.items():
            result["speedup"] = found["sequential"]["seconds"] / result["seconds"]
            result["same_bytes"] = result_files(root / name) == reference
    record("batch_throughput", arguments, found)


def write_manifest(root: Path, frames: int, times: int) -> Path:
    """Write a manifest of KITTI frames, each several times."""
    images = data_folder() / "kitti2015" / "training"
    names = sorted(path.name for path in (images / "image_2").glob("*_10.png"))[:frames]
    path = root / "pairs.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("left", "right", "name"))
        for turn in range(times):
            for name in names:
                pair = images / "image_2" / name, images / "image_3" / name
                writer.writerow((*pair, f"turn{turn}/{name.removesuffix('.png')}"))
    return path


def run(manifest: Path, output: Path, options: list[str], limit: int = 0) -> dict[str, Any]:
    """Run a batch and return its time."""
    if limit:
        short = manifest.with_name("short.csv")
        short.write_text("".join(manifest.read_text().splitlines(keepends=True)[: limit + 1]))
        manifest = short
    command = [sys.executable, "-m", "slanted", "batch", str(manifest), "-o", str(output)]
    command += ["--threads", "1", "--json", *options]
    start = time.perf_counter()
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - start
    if ended.returncode:
        sys.exit(ended.stderr)
    tally = json.loads(ended.stdout)
    return {"seconds": seconds, "pairs": tally["done"], "a_minute": 60 * tally["done"] / seconds}


@contextmanager
def dask_cluster(root: Path, workers: int) -> Iterator[str]:
    """Start a scheduler and workers of one thread each; yield its address."""
    processes = []

    def start(*arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "dask", *arguments, "--no-dashboard"]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        processes.append(process)
        return process

    try:
        address = wait_for(
            start("scheduler", "--host", "127.0.0.1", "--port", "0"), r"Scheduler at:\s*(tcp\S+)"
        )
        local = ("--nthreads", "1", "--no-nanny", "--local-directory", str(root))
        for worker in [start("worker", address, *local) for _ in range(workers)]:
            wait_for(worker, "(Registered to)")
        yield address
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def wait_for(process: subprocess.Popen[str], pattern: str) -> str:
    """Wait for a line of standard error that matches a pattern, and return its group."""
    for line in process.stderr or ():
        found = re.search(pattern, line)
        if found:
            return found[1]
    sys.exit(f"a process ended without saying {pattern}")


def result_files(output: Path) -> dict[str, bytes]:
    """Return the content of all result files, by name."""
    files = [path for path in output.rglob("*") if path.is_file() and path.name not in OWN]
    return {str(path.relative_to(output)): path.read_bytes() for path in files}


if __name__ == "__main__":
    main()
