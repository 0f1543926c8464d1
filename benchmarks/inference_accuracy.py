"""Errors before and after inference on KITTI, for each kind of proposals (paper §4, tables).

python benchmarks/inference_accuracy.py [--split validation] [--limit N]
"""

from __future__ import annotations

import argparse

import numpy as np

from common import data_folder, record
from slanted.evaluation.datasets import find_frames
from slanted.evaluation.metrics import evaluate, mean_metrics
from slanted.inference.pcbp import infer
from slanted.inference.terms import WholeImage
from slanted.io import read_image
from slanted.matching import match
from slanted.matching.interpolation import interpolate_background
from slanted.model.drawing import draw_disparity
from slanted.model.evidence import Evidence
from slanted.regions import build_regions
from slanted.segmentation import segment
from slanted.settings import MatchingSettings, Settings

PROPOSALS = ("paper", "paper+incumbent", "mixture")
SEGMENTS = {"segmentation.method": "slic+ucm", "segmentation.count": "1200"}
BY_HAND = {
    "model.weights.bdy1": "1",
    "model.weights.bdy2": "100",
    "model.weights.jct": "30",
    "model.weights.crs": "30",
    "model.weights.col": "20",
}
"""Set by hand, before weights were learned."""
KEYS = ("out-2px", "out-3px", "out-4px", "out-5px")


def main() -> None:
    """Run every kind of proposals on every frame and record means and gaps."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--split", default="validation")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--sweeps", type=int, default=Settings().inference.sweeps)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    scores: dict[str, list[dict[str, float]]] = {}
    gaps: dict[str, list[float]] = {}
    rises: dict[str, int] = dict.fromkeys(PROPOSALS, 0)
    folder = data_folder() / "kitti2015"
    for frame in find_frames("kitti2015", folder, arguments.split, arguments.limit):
        left, right = read_image(frame.left), read_image(frame.right)
        truth, visible = frame.load_ground_truth()
        matched = match(left, right, MatchingSettings(method="sgbm"))
        regions = build_regions(segment(left, Settings().with_text(SEGMENTS).segmentation), left)

        def score(name: str, disparity: np.ndarray) -> None:
            found = evaluate(disparity, truth, ground_truth_noc=visible)  # noqa: B023
            scores.setdefault(name, []).append(found)

        score("sgbm, interpolated", interpolate_background(matched))
        for proposals in PROPOSALS:
            chosen = {"inference.proposals": proposals, "inference.sweeps": str(arguments.sweeps)}
            settings = Settings.preset("paper").with_text({**SEGMENTS, **chosen, **BY_HAND})
            found = infer(WholeImage.of(regions, Evidence(matched), settings))
            if proposals == PROPOSALS[0]:
                score("local fit", draw_disparity(regions, found.initial_planes))
            score(proposals, draw_disparity(regions, found.planes))
            gaps.setdefault(proposals, []).append(100 * found.iterations[-1].gap)
            energies = [found.initial_energy, *(step.energy for step in found.iterations)]
            rises[proposals] += int((np.diff(energies) > 1e-9 * abs(energies[0])).sum())
    results = {}
    for name, rows in scores.items():
        mean = mean_metrics(rows)
        results[name] = {
            key: f"{mean[f'{key}-noc']:.2f} / {mean[f'{key}-all']:.2f}" for key in (*KEYS, "D1")
        }
        if name in gaps:
            results[name] |= {
                "gap mean %": round(float(np.mean(gaps[name])), 3),
                "gap worst %": round(max(gaps[name]), 3),
                "energy rises": rises[name],
            }
    record("inference_accuracy", arguments, {"frames": len(rows), **results})


if __name__ == "__main__":
    main()
