"""Oracle error of every segmentation method: the best possible with one plane per segment.

python benchmarks/segmentation_oracle.py [--limit N]

With ``--limit``, at most N frames of each split are measured.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from common import SMOKE, frames_of, options, pair_of, record
from slanted.evaluation.datasets import Frame
from slanted.evaluation.metrics import evaluate
from slanted.evaluation.oracle import oracle_disparity
from slanted.matching import match
from slanted.partition.connectivity import split_connected
from slanted.segmentation import segment
from slanted.settings import MatchingSettings, SegmentationSettings

METHODS = ("ucm", "slic", "slic+ucm", "slic+disparity")
DATASETS = {
    "kitti2015": (60 if SMOKE else 1200, ("train", "validation")),
    "middlebury": (60 if SMOKE else 2000, ("train", "test")),
}
"""Segments to ask for, and the splits whose frames are measured."""


def measure(frames: Iterable[Frame], count: int) -> dict[str, dict[str, float]]:
    """Segment every frame by every method, and average counts and errors."""
    rows: dict[str, list[tuple[float, ...]]] = {method: [] for method in METHODS}
    for frame in frames:
        left, right = pair_of(frame)
        truth, visible = frame.load_ground_truth()
        matched = match(left, right, MatchingSettings(method="sgbm"))
        for method in METHODS:
            labels = segment(left, SegmentationSettings(method=method, count=count), matched)
            found = int(labels.max()) + 1
            connected = int(split_connected(labels).max()) + 1 == found
            scores = evaluate(oracle_disparity(labels, truth), truth, ground_truth_noc=visible)
            errors = scores["out-3px-noc"], scores["out-3px-all"]
            rows[method].append((found, found / count, float(connected), *errors))
    return {method: summary(np.array(values)) for method, values in rows.items()}


def summary(values: np.ndarray) -> dict[str, float]:
    """Return means of the columns and the extremes of the counts, by name."""
    mean = values.mean(axis=0)
    return {
        "frames": len(values),
        "segments": round(float(mean[0]), 1),
        "fewest_of_asked": round(float(values[:, 1].min()), 3),
        "most_of_asked": round(float(values[:, 1].max()), 3),
        "connected": bool(values[:, 2].all()),
        "oracle-out-3px-noc": round(float(mean[3]), 3),
        "oracle-out-3px-all": round(float(mean[4]), 3),
    }


def main() -> None:
    """Measure both datasets and record the results."""
    arguments = options(__doc__, {"limit": 1}, limit=0)
    results = {}
    for dataset, (count, splits) in DATASETS.items():
        frames = [each for split in splits for each in frames_of(dataset, split, arguments.limit)]
        results[dataset] = {"asked": count, **measure(frames, count)}
    record("segmentation_oracle", arguments, results)


if __name__ == "__main__":
    main()
