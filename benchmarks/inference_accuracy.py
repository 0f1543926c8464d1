"""Errors before and after inference on KITTI, for each kind of proposals (paper §4, tables).

python benchmarks/inference_accuracy.py [--split validation] [--limit N] [--sweeps 200]
    [--threads 2]
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import Any

import numpy as np

from common import SMOKE, frames_of, options, pair_of, record
from slanted import Result, Settings, estimate
from slanted.evaluation.metrics import evaluate, mean_metrics
from slanted.matching import match
from slanted.matching.interpolation import interpolate_background
from slanted.model.drawing import draw_disparity
from slanted.segmentation import segment

RUNS = {
    "paper": {"inference.proposals": "paper"},
    "paper, slow decay": {"inference.proposals": "paper", "inference.sigma_decay": "10"},
    "paper+incumbent": {"inference.proposals": "paper+incumbent"},
    "paper+incumbent, slow decay": {
        "inference.proposals": "paper+incumbent",
        "inference.sigma_decay": "10",
    },
    "mixture": {"inference.proposals": "mixture"},
}
"""Changes to the preset ``paper``; with the slow decay, Algorithm 1's c is the number of a draw."""
SEGMENTS = {"segmentation.count": "60"} if SMOKE else {}
METRICS = ("out-2px", "out-3px", "out-4px", "out-5px", "D1")


def main() -> None:
    """Run every kind of proposals on every frame and record errors and gaps."""
    sweeps = Settings.preset("paper").inference.sweeps
    smoke = {"sweeps": 3}
    arguments = options(__doc__, smoke, split="validation", limit=0, sweeps=sweeps, threads=2)
    changed = {"inference.sweeps": str(arguments.sweeps), "threads": str(arguments.threads)}
    settings = Settings.preset("paper").with_text({**SEGMENTS, **changed})
    scores: dict[str, list[dict[str, float]]] = defaultdict(list)
    results: dict[str, list[Result]] = defaultdict(list)
    frames = frames_of("kitti2015", arguments.split, arguments.limit)
    for frame in frames:
        left, right = pair_of(frame)
        truth, visible = frame.load_ground_truth()
        matched = match(left, right, settings.matching)
        given = {"disparity": matched, "segments": segment(left, settings.segmentation)}
        maps = {"sgbm in grey, interpolated": interpolate_background(matched)}
        for name, changes in RUNS.items():
            found = estimate(left, right, settings.with_text(changes), **given)
            if "pooled fit" not in maps:
                maps["local fit"] = draw_disparity(found.regions, own_fits(found))
                maps["pooled fit"] = draw_disparity(found.regions, found.inference.initial_planes)
            maps[name] = draw_disparity(found.regions, found.planes)
            results[name].append(found)
        for name, disparity in maps.items():
            scores[name].append(evaluate(disparity, truth, ground_truth_noc=visible))
    rows = {name: {**errors(each), **gaps(results[name])} for name, each in scores.items()}
    record("inference_accuracy", arguments, {"frames": len(frames), **rows})


def own_fits(result: Result) -> np.ndarray:
    """Return the planes fitted to each segment's own matches."""
    alone = result.settings.with_text({"inference.pooled_fit": "0"})
    return replace(result, settings=alone).local_planes()


def errors(scores: list[dict[str, float]]) -> dict[str, str]:
    """Return mean errors, non-occluded / all."""
    mean = mean_metrics(scores)
    return {key: f"{mean[f'{key}-noc']:.2f} / {mean[f'{key}-all']:.2f}" for key in METRICS}


def gaps(results: list[Result]) -> dict[str, Any]:
    """Return mean and worst gap of the last iteration, and how often the energy rose."""
    if not results:
        return {}
    runs = [result.inference for result in results]
    found = [100 * run.iterations[-1].gap for run in runs]
    rises = 0
    for run in runs:
        energies = np.array([run.initial_energy, *(step.energy for step in run.iterations)])
        energies = energies[np.isfinite(energies)]  # some proposals start without planes
        rises += int((np.diff(energies) > 1e-9 * abs(energies[0])).sum())
    mean, worst = round(float(np.mean(found)), 3), round(max(found), 3)
    return {"gap mean %": mean, "gap worst %": worst, "energy rises": rises}


if __name__ == "__main__":
    main()
