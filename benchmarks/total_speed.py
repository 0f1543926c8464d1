"""Time and peak memory of the whole pipeline beside SGBM HH on the same pairs, in one run.

python benchmarks/total_speed.py [--frames 5] [--repeats 5] [--threads 1 2] [--preset default]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import replace
from statistics import median
from typing import Any

from common import data_folder, interleaved, record, sgbm_hh
from slanted.evaluation.datasets import Frame, find_frames
from slanted.io import read_image
from slanted.pipeline import estimate
from slanted.settings import Settings
from slanted.threads import thread_limit

PEAK = """
import json, sys
from pathlib import Path
from slanted import Settings, estimate
from slanted.io import read_image
settings = Settings.preset(sys.argv[3]).with_text({"threads": sys.argv[4]})
estimate(read_image(sys.argv[1]), read_image(sys.argv[2]), settings)
status = Path("/proc/self/status").read_text()
print(json.dumps(int(status.split("VmHWM:")[1].split()[0]) / 1024))
"""


def times(frame: Frame, settings: Settings, repeats: int) -> dict[str, Any]:
    """Return median seconds of both, their ratio, and ours by stage."""
    left, right = read_image(frame.left), read_image(frame.right)
    stages: list[dict[str, float]] = []
    with thread_limit(settings.threads):
        seconds = interleaved(
            {
                "sgbm_hh": lambda: sgbm_hh(left, right),
                "slanted": lambda: stages.append(estimate(left, right, settings).seconds),
            },
            repeats,
            warm_up=2,
        )
    ours, yardstick = median(seconds["slanted"]), median(seconds["sgbm_hh"])
    return {
        "seconds": ours,
        "sgbm_hh seconds": yardstick,
        "ratio": ours / yardstick,
        "stages": {name: median(run[name] for run in stages[2:]) for name in stages[0]},
    }


def peak(frame: Frame, preset: str, threads: int) -> float:
    """Return the peak memory of a process that does nothing else, MiB."""
    command = [sys.executable, "-c", PEAK, str(frame.left), str(frame.right), preset, str(threads)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(json.loads(done.stdout))


def main() -> None:
    """Measure the first frames of KITTI's validation split and record medians."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--frames", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--preset", default="default")
    arguments = parser.parse_args()
    folder = data_folder() / "kitti2015"
    frames = find_frames("kitti2015", folder, "validation", arguments.frames)
    results: dict[str, Any] = {}
    for threads in arguments.threads:
        settings = replace(Settings.preset(arguments.preset), threads=threads)
        rows = {frame.name: times(frame, settings, arguments.repeats) for frame in frames}
        results[f"{threads} threads"] = {
            "median ratio": median(row["ratio"] for row in rows.values()),
            "peak MiB": peak(frames[0], arguments.preset, threads),
            "frames": rows,
        }
    record("total_speed", arguments, results)


if __name__ == "__main__":
    main()
