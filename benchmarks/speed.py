"""Time of every stage and of the whole beside SGBM HH on the same pairs, in one run.

python benchmarks/speed.py [--frames 20] [--scenes 4] [--repeats 3] [--threads 1 2]
    [--presets default fast]

Warm: the presets and SGBM HH, in colour and in grey, take turns in one process; the first turn of a
frame is dropped. All search the same disparities, 128 for KITTI and 256 for the scenes of
Middlebury's test split that have a million pixels. Times are medians, in seconds and as ratios to
SGBM HH in colour; a ratio comes with the least and the largest of the frames'. Cold: the first run
of a fresh process with cached kernels. Imports are not counted; loading kernels and touching new
memory are.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import islice
from statistics import median
from typing import Any

import cv2
import numpy as np

from common import (
    frames_of,
    in_new_process,
    interleaved,
    medians,
    options,
    pair_of,
    record,
    sgbm_hh,
)
from core_distance import core_distance
from slanted.evaluation.datasets import Frame
from slanted.pipeline import estimate
from slanted.runtime.threads import thread_limit
from slanted.settings import Settings

WARM_UP = 1
COLD = """
import json, sys, time
from slanted import Settings, estimate
from slanted.io import read_image
changes = {"threads": sys.argv[4], "matching.max_disparity": sys.argv[5]}
settings = Settings.preset(sys.argv[3]).with_text(changes)
left, right = read_image(sys.argv[1]), read_image(sys.argv[2])
start = time.perf_counter()
estimate(left, right, settings)
print(json.dumps(time.perf_counter() - start))
"""
FULL_SIZE = 1_000_000
"""Pixels of the scenes that are measured, at least."""
YARDSTICK, GREY = "SGBM HH", "SGBM HH, grey"


def main() -> None:
    """Measure KITTI's validation frames and Middlebury's test scenes of full size."""
    smoke = {"frames": 1, "scenes": 0, "repeats": 1, "threads": [1], "presets": ["fast"]}
    lists = {"threads": [1, 2], "presets": ["default", "fast"]}
    arguments = options(__doc__, smoke, frames=20, scenes=4, repeats=3, **lists)
    kitti, scenes = arguments.frames, arguments.scenes
    data = {("KITTI", 128): frames_of("kitti2015", "validation", kitti) if kitti else []}
    data["Middlebury", 256] = full_size(frames_of("middlebury", "test"), scenes) if scenes else []
    results: dict[str, Any] = {}
    distances: list[float] = []
    for threads in arguments.threads:
        for (dataset, disparities), frames in data.items():
            methods = partial(methods_of, arguments.presets, threads, disparities)
            rows = []
            for frame in frames:
                distances.append(core_distance())
                rows.append(times(frame, methods, threads, arguments.repeats))
            for name in rows[0] if rows else ():
                row = summary([each[name] for each in rows], [each[YARDSTICK] for each in rows])
                if name in arguments.presets:
                    row["cold seconds"] = cold(frames[0], name, threads, disparities)
                results[f"{dataset}, {disparities} disparities, {threads} threads: {name}"] = row
    apart = {"median": median(distances), "least": min(distances), "most": max(distances)}
    record("speed", arguments, {"cores apart, ns": apart, **results})


def full_size(frames: list[Frame], count: int) -> list[Frame]:
    """Return the first frames that have enough pixels."""
    large = (frame for frame in frames if pair_of(frame)[0][..., 0].size >= FULL_SIZE)
    return list(islice(large, count))


def methods_of(
    presets: list[str], threads: int, disparities: int, left: np.ndarray, right: np.ndarray
) -> dict[str, Callable[[], dict[str, float]]]:
    """Return what takes turns; each returns the seconds of its stages."""
    grey = [cv2.cvtColor(view, cv2.COLOR_RGB2GRAY) for view in (left, right)]

    def run(settings: Settings) -> dict[str, float]:
        return estimate(left, right, settings).seconds

    def match(*pair: np.ndarray) -> dict[str, float]:
        sgbm_hh(*pair, disparities)
        return {}

    changes = {"threads": threads, "matching.max_disparity": disparities}
    ours = {name: partial(run, Settings.preset(name).updated(changes)) for name in presets}
    return {YARDSTICK: partial(match, left, right), GREY: partial(match, *grey), **ours}


def times(
    frame: Frame, methods: Callable[..., dict[str, Any]], threads: int, repeats: int
) -> dict[str, dict[str, Any]]:
    """Return median seconds of each method on a frame, and of its stages."""
    stages: dict[str, list[dict[str, float]]] = {}

    def kept(name: str, method: Callable[[], dict[str, float]]) -> None:
        stages.setdefault(name, []).append(method())

    with thread_limit(threads):
        turns = {name: partial(kept, name, run) for name, run in methods(*pair_of(frame)).items()}
        seconds = interleaved(turns, repeats, warm_up=WARM_UP)
    return {
        name: {"seconds": median(taken), "stages": medians(stages[name][WARM_UP:])}
        for name, taken in seconds.items()
    }


def summary(rows: list[dict[str, Any]], yardstick: list[dict[str, Any]]) -> dict[str, Any]:
    """Return medians over frames, and how far the frames' ratios differ."""
    ratios = [row["seconds"] / of["seconds"] for row, of in zip(rows, yardstick, strict=True)]
    return {
        "frames": len(rows),
        "seconds": median(row["seconds"] for row in rows),
        "ratio": median(ratios),
        "least": min(ratios),
        "most": max(ratios),
        "stages": medians([row["stages"] for row in rows]),
    }


def cold(frame: Frame, preset: str, threads: int, disparities: int) -> float:
    """Return the seconds of a fresh process's first run; an earlier process filled the cache."""
    pair = frame.left, frame.right
    runs = [in_new_process(COLD, *pair, preset, threads, disparities) for _ in range(2)]
    return float(runs[1])


if __name__ == "__main__":
    main()
