"""Time of every stage and of the whole beside SGBM HH on the same pairs, in one run.

python benchmarks/speed.py [--frames 3] [--scenes 1] [--repeats 5] [--threads 1 2] [--preset NAME]

Warm: slanted and SGBM HH take turns in one process; warm-up turns are dropped. Times are medians,
in seconds and as ratios to SGBM HH (128 disparities). Cold: the first run of a fresh process with
cached kernels. Imports are not counted; loading kernels and touching new memory are.
"""

from __future__ import annotations

from dataclasses import replace
from statistics import median
from typing import Any

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
from slanted.evaluation.datasets import Frame
from slanted.pipeline import estimate
from slanted.runtime.threads import thread_limit
from slanted.settings import Settings

WARM_UP = 2
COLD = """
import json, sys, time
from slanted import Settings, estimate
from slanted.io import read_image
settings = Settings.preset(sys.argv[3]).with_text({"threads": sys.argv[4]})
left, right = read_image(sys.argv[1]), read_image(sys.argv[2])
start = time.perf_counter()
estimate(left, right, settings)
print(json.dumps(time.perf_counter() - start))
"""
GROUPS = {"segmentation and regions": ("segmentation", "regions")}
"""Stages whose times are added up."""


def main() -> None:
    """Measure the first frames of KITTI's validation split and of Middlebury's test scenes."""
    smoke = {"frames": 1, "scenes": 0, "repeats": 1, "threads": [1]}
    arguments = options(
        __doc__, smoke, frames=3, scenes=1, repeats=5, threads=[1, 2], preset="default"
    )
    kitti, middlebury = arguments.frames, arguments.scenes
    data = {"KITTI": frames_of("kitti2015", "validation", kitti) if kitti else []}
    data["Middlebury"] = frames_of("middlebury", "test", middlebury) if middlebury else []
    results: dict[str, Any] = {}
    for threads in arguments.threads:
        settings = replace(Settings.preset(arguments.preset), threads=threads)
        for dataset, frames in data.items():
            if frames:
                rows = {frame.name: times(frame, settings, arguments.repeats) for frame in frames}
                row = summary(rows)
                row["cold seconds"] = cold(frames[0], arguments.preset, threads)
                results[f"{dataset}, {threads} threads"] = row
    record("speed", arguments, results)


def times(frame: Frame, settings: Settings, repeats: int) -> dict[str, Any]:
    """Return median seconds of slanted and SGBM HH and their ratio, for the run and each stage."""
    left, right = pair_of(frame)
    runs: list[dict[str, float]] = []
    with thread_limit(settings.threads):
        seconds = interleaved(
            {
                "sgbm_hh": lambda: sgbm_hh(left, right),
                "slanted": lambda: runs.append(estimate(left, right, settings).seconds),
            },
            repeats,
            warm_up=WARM_UP,
        )
    yardstick, whole = median(seconds["sgbm_hh"]), median(seconds["slanted"])
    stages = medians(runs[WARM_UP:])
    for name, parts in GROUPS.items():
        stages[name] = sum(stages.get(part, 0.0) for part in parts)
    return {
        "size": left.shape[:2],
        "seconds": whole,
        "sgbm_hh seconds": yardstick,
        "ratio": whole / yardstick,
        "stages": stages,
        "stage ratios": {name: value / yardstick for name, value in stages.items()},
    }


def summary(rows: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return medians over frames, and the frames."""
    every = list(rows.values())
    whole = ("seconds", "sgbm_hh seconds", "ratio")
    found: dict[str, Any] = medians([{name: row[name] for name in whole} for row in every])
    for name in ("stages", "stage ratios"):
        found[name] = medians([row[name] for row in every])
    return {**found, "frames": rows}


def cold(frame: Frame, preset: str, threads: int) -> float:
    """Return the seconds of a fresh process's first run; an earlier process filled the cache."""
    times = [in_new_process(COLD, frame.left, frame.right, preset, threads) for _ in range(2)]
    return float(times[1])


if __name__ == "__main__":
    main()
