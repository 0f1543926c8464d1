"""Time and memory of `slanted run` from 1 to 100 megapixels, and the exponents they grow with.

python benchmarks/scaling_pixels.py [--megapixels 1 3 10 30 100] [--disparities 128] [--threads 1]
    [--set key=value ...]

Pairs are synthetic, all with the same disparity range. Each is run by the command line in a process
of its own, whose peak resident memory covers reading, estimating and writing.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from common import exponent, options, record, told
from slanted import Settings
from slanted.batch.memory import pair_bytes
from slanted.synthetic.geometry import Surface, cast
from slanted.synthetic.render import render, sample_textures
from slanted.synthetic.sampling import Stage, sample_surfaces

ROWS = 256
"""Rows that are drawn at a time: a scene of 100 megapixels would not fit otherwise."""
RANGE = 128
"""The range that the scene is drawn for; with more disparities it is deeper by as much."""
ASPECT = 1.5
SCENE_WIDTH = 1225


def main() -> None:
    """Measure, fit exponents, and print both."""
    smoke, settings = {"megapixels": [0.04]}, list[str]()
    sizes = [1.0, 3.0, 10.0, 30.0, 100.0]
    arguments = options(
        __doc__, smoke, megapixels=sizes, disparities=RANGE, threads=1, set=settings
    )
    rules = arguments.disparities, arguments.threads, arguments.set
    rows = [told(measure(size, *rules)) for size in arguments.megapixels]
    record("scaling_pixels", arguments, {"rows": rows, "exponents": exponents(rows)})


def measure(
    megapixels: float, disparities: int, threads: int, settings: list[str]
) -> dict[str, Any]:
    """Draw a pair, run it, and return time, memory and errors."""
    width = round((1e6 * megapixels * ASPECT) ** 0.5)
    height = round(1e6 * megapixels / width)
    with tempfile.TemporaryDirectory() as folder:
        draw_pair(Path(folder), width, height, disparities / RANGE)
        command = [sys.executable, "-m", "slanted", "run", "left.ppm", "right.ppm", "--json"]
        command += ["--max-disparity", str(disparities), "--threads", str(threads), "-o", "out"]
        for setting in settings:
            command += ["--set", setting]
        start = time.perf_counter()
        output, peak, busy = run_and_watch(command, folder)
        seconds = time.perf_counter() - start
        found = json.loads(output)
        truth = np.load(Path(folder) / "disparity.npy", mmap_mode="r")
        wrong = share_wrong(np.load(Path(folder) / "out" / "disparity.npy", mmap_mode="r"), truth)
    return {
        "megapixels": width * height / 1e6,
        "width": width,
        "height": height,
        "segments": found["segments"],
        "seconds": seconds,
        "cpu_seconds": busy,
        "stages": found["seconds"],
        "peak_gb": peak / 2**30,
        "estimated_gb": estimated((height, width), disparities, settings) / 2**30,
        "gap_percent": found["gap_percent"],
        "out_1px_percent": wrong,
    }


def estimated(size: tuple[int, int], disparities: int, settings: list[str]) -> int:
    """Return the memory that `slanted batch` expects when it decides how many workers fit."""
    changed = dict(setting.split("=", 1) for setting in settings)
    changed = {"matching.max_disparity": str(disparities), **changed}
    return pair_bytes(size, Settings().with_text(changed))


def run_and_watch(command: list[str], folder: str) -> tuple[str, int, float]:
    """Run a command; return what it printed, its peak resident memory in bytes, and CPU seconds.

    CPU seconds are more reliable than wall time on a shared machine.
    """
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        output = process.stdout.read() if process.stdout is not None else ""
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(command)} ended with {process.returncode}")
    return output, usage.ru_maxrss * 1024, usage.ru_utime + usage.ru_stime


def draw_pair(folder: Path, width: int, height: int, depth: float = 1.0) -> None:
    """Write left.ppm, right.ppm and the exact disparity, a few rows at a time.

    The scene has `depth` times the disparities that it is drawn for.
    """
    rng = np.random.default_rng(7)
    zoom = width / SCENE_WIDTH
    stage = Stage(SCENE_WIDTH, round(SCENE_WIDTH / ASPECT), 4.0, 100.0)
    small = sample_surfaces(rng, stage, objects=8, background=3)
    # The same scene with more pixels, and a baseline that keeps the disparities.
    scale = depth / np.array([zoom, zoom, 1])
    surfaces = [Surface(s.plane * scale, s.support * (1, 1, zoom), s.body) for s in small]
    textures = sample_textures(rng, len(surfaces), amplitude=110.0, colour_contrast=1.0)
    u = np.arange(width, dtype=np.float64)[None]
    truth = np.lib.format.open_memmap(
        folder / "disparity.npy", "w+", np.float32, shape=(height, width)
    )
    with (folder / "left.ppm").open("wb") as left, (folder / "right.ppm").open("wb") as right:
        for file in (left, right):
            file.write(f"P6\n{width} {height}\n255\n".encode())
        for first in range(0, height, ROWS):
            v = np.arange(first, min(first + ROWS, height), dtype=np.float64)[:, None]
            for file, is_right in ((left, False), (right, True)):
                seen = cast(surfaces, u, v, right=is_right)
                noise = 4.0 * rng.standard_normal((*seen.surface.shape, 3), np.float32)
                file.write(render(seen, v, textures, noise).tobytes())
                if not is_right:
                    truth[first : first + ROWS] = seen.disparity


def share_wrong(found: np.ndarray, truth: np.ndarray) -> float:
    """Return the percentage of pixels that are off by more than a pixel."""
    wrong = 0
    for first in range(0, len(truth), ROWS):
        rows = slice(first, first + ROWS)
        wrong += int((np.abs(found[rows] - truth[rows]) > 1).sum())
    return 100 * wrong / truth.size


def exponents(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Return the exponents with which time and memory grow with the number of pixels."""
    sizes = [row["megapixels"] for row in rows]
    measured = ("seconds", "cpu_seconds", "peak_gb")
    return {name: exponent(sizes, [row[name] for row in rows]) for name in measured}


if __name__ == "__main__":
    main()
