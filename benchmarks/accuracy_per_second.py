"""Error against time on KITTI, from the fastest settings to the best, beside peers.

python benchmarks/accuracy_per_second.py [--frames 5] [--split validation] [--threads 2]
    [--points NAME ...]

Each point is run on each frame, in turns with SGBM HH (128 disparities). Time is the median ratio
to SGBM HH, errors are means over frames. "half size" halves the images, estimates, and enlarges the
disparity by pixel replication, times two (docs/performance.md); its time includes all of that.
Peers are read from ``peers/`` beside the data if it is there: errors on the same frames from their
CSV file, and times with one thread from their README.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean, median
from typing import Any

import cv2
import numpy as np

from common import data_folder, frames_of, options, pair_of, record, sgbm_hh, timed
from slanted.evaluation.datasets import Frame
from slanted.evaluation.metrics import evaluate
from slanted.matching import match
from slanted.matching.interpolation import interpolate_background
from slanted.pipeline import estimate
from slanted.runtime.threads import thread_limit
from slanted.settings import Settings

Method = Callable[[np.ndarray, np.ndarray], np.ndarray]
METRICS = ("out-3px-noc", "out-3px-all", "D1-all")
PEERS = {"SPS-Stereo": "SPS-Stereo", "SPS-SGM+interp": "its SGM", "OCV-SGBM-HH+interp": "SGBM HH"}
"""Names of peers in the CSV file, and in the README's line of times."""


def points(threads: int) -> dict[str, Method]:
    """Return all points, roughly from the fastest to the best."""
    found: dict[str, Method] = {}
    for name in ("fast", "default", "best"):
        settings = replace(Settings.preset(name), threads=threads)
        if name != "best":
            found[f"{name}, half size"] = lambda left, right, s=settings: half_size(left, right, s)
        found[name] = lambda left, right, s=settings: estimate(left, right, s).disparity
    for rounds in (0, 2):
        few = replace(Settings(), threads=threads)
        few = replace(few, refinement=replace(few.refinement, rounds=rounds))
        found[f"default, {rounds} rounds of refinement"] = lambda left, right, s=few: (
            estimate(left, right, s).disparity
        )
    found["our matcher, filled"] = lambda left, right: interpolate_background(
        match(left, right, Settings().matching)
    )
    return found


def half_size(left: np.ndarray, right: np.ndarray, settings: Settings) -> np.ndarray:
    """Estimate at half size, and return the disparity at full size."""
    height, width = left.shape[:2]
    size = (width // 2, height // 2)
    small = [cv2.resize(image, size, interpolation=cv2.INTER_AREA) for image in (left, right)]
    found = estimate(*small, settings).disparity
    scale = np.float32(width / size[0])
    return scale * cv2.resize(found, (width, height), interpolation=cv2.INTER_NEAREST)


def main() -> None:
    """Run all points on all frames."""
    names: list[str] = []
    arguments = options(__doc__, {}, frames=5, split="validation", threads=2, points=names)
    frames = frames_of("kitti2015", arguments.split, arguments.frames)
    chosen = points(arguments.threads)
    if arguments.points:
        chosen = {name: chosen[name] for name in arguments.points}
    with thread_limit(arguments.threads):
        rows = measure(chosen, frames)
    record("accuracy_per_second", arguments, {"points": rows, "peers": peers(frames)})


def measure(methods: dict[str, Method], frames: Sequence[Frame]) -> dict[str, Any]:
    """Return each method's errors and times."""
    ratios: dict[str, list[float]] = {name: [] for name in methods}
    seconds: dict[str, list[float]] = {name: [] for name in methods}
    scores: dict[str, list[dict[str, float]]] = {name: [] for name in methods}
    for number, frame in enumerate(frames):
        left, right = pair_of(frame)
        truth, visible = frame.load_ground_truth()
        if number == 0:
            sgbm_hh(left, right)
        base, _ = timed(lambda: sgbm_hh(left, right))  # noqa: B023 (called at once)
        for name, method in methods.items():
            if number == 0:
                method(left, right)  # warm up
            taken, disparity = timed(lambda: method(left, right))  # noqa: B023
            seconds[name].append(taken)
            ratios[name].append(taken / base)
            scores[name].append(evaluate(disparity, truth, ground_truth_noc=visible))
    return {
        name: {
            "ratio": median(ratios[name]),
            "seconds": median(seconds[name]),
            **{metric: mean(score[metric] for score in scores[name]) for metric in METRICS},
        }
        for name in methods
    }


def peers(frames: Sequence[Frame]) -> dict[str, Any]:
    """Return peers' errors on the same frames, and their times relative to SGBM HH."""
    folder = data_folder().parent / "peers"
    table = folder / "kitti2015.csv"
    if not table.exists():
        return {}
    wanted = {Path(frame.left).stem for frame in frames}
    with table.open(newline="") as file:
        lines = [line for line in csv.DictReader(file) if line["frame"] in wanted]
    notes = (folder / "README.md").read_text() if (folder / "README.md").exists() else ""
    costs = {
        name: re.search(re.escape(text) + r" ([\d.]+) s", notes) for name, text in PEERS.items()
    }
    base = costs["OCV-SGBM-HH+interp"]
    found = {}
    for name, cost in costs.items():
        own = [line for line in lines if line["method"] == name]
        if own:
            ratio = float(cost[1]) / float(base[1]) if cost and base else None
            errors = {metric: mean(float(line[metric]) for line in own) for metric in METRICS}
            found[name] = {"ratio": ratio, **errors}
    return found


if __name__ == "__main__":
    main()
