"""Accuracy of boundary labels: exact on synthetic scenes, against depth steps on KITTI.

Synthetic: the share of boundaries with the true label, given the scene's own segments, and its
disparity with Gaussian noise as matches. KITTI: planes are fitted to the ground truth in each of
our segments. Where both planes of a boundary are known and differ by more than 3 px on average
along it, there is a step, and the nearer segment should occlude the other. Precision is the share
of our occlusion labels that are such steps with the right side in front; recall is the share of
steps that have the right label.

    python benchmarks/boundary_labels.py [--scenes 30] [--limit 20] [--preset default]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from common import frames_of, options, pair_of, record
from slanted.boundary_label import BoundaryLabel
from slanted.evaluation.datasets import Frame
from slanted.learning.ground_truth import find_truth
from slanted.model.planes import edge_planes
from slanted.pipeline import estimate
from slanted.result import Result
from slanted.settings import Settings
from slanted.synthetic import Scene, noise_set

SIGMAS = (0.0, 0.5, 1.0)
STEP = 3.0
"""Pixels; the mean step over the boundary."""
ITERATIONS = "4"
"""More than the default, as for all figures: given segments miss the draws of refinement."""


def synthetic(count: int, sigma: float, settings: Settings) -> dict[str, float]:
    """Return the percentage of right labels over all boundaries, and by kind."""
    settings = settings.with_text({"inference.iterations": ITERATIONS})
    found, exact = [], []
    for noisy in noise_set(count, sigma, seed=0):
        scene = noisy.scene
        given = {"disparity": noisy.disparity, "segments": scene.segments}
        found.append(labels_of(scene, estimate(scene.left, scene.right, settings, **given)))
        exact.append(scene.labels)
    ours, true = np.concatenate(found), np.concatenate(exact)
    rows = {"all": 100 * float((ours == true).mean())}
    for label in BoundaryLabel:
        rows[label.name.lower()] = 100 * float((ours == true)[true == label].mean())
    return rows


def labels_of(scene: Scene, result: Result) -> np.ndarray:
    """Return a result's labels for the scene's boundaries: `estimate` renumbers segments."""
    number = np.empty(result.regions.count, np.int32)
    number[result.regions.label_image] = scene.segments
    pairs = number[result.regions.edges]
    occlusion = result.labels >= BoundaryLabel.LEFT_OCCLUSION
    turned = occlusion & (pairs[:, 0] > pairs[:, 1])
    sides = BoundaryLabel.LEFT_OCCLUSION + BoundaryLabel.RIGHT_OCCLUSION
    labels = np.where(turned, sides - result.labels, result.labels)
    return labels[np.lexsort((pairs.max(axis=1), pairs.min(axis=1)))]


def steps(result: Result, frame: Frame, settings: Settings) -> np.ndarray:
    """Return occlusion labels, true steps and those that agree, of one frame."""
    regions = result.regions
    truth = find_truth(regions, frame.load_ground_truth()[0], settings.model, "planes")
    edges = truth.kept.edge_numbers
    # Disparities of both planes at the boundary's centre are their means over it.
    first, second = edge_planes(regions, truth.planes[:, None])[edges, :, 0, 2].T
    step = np.where(first - second > STEP, int(BoundaryLabel.LEFT_OCCLUSION), -1)
    step = np.where(second - first > STEP, int(BoundaryLabel.RIGHT_OCCLUSION), step)
    ours = result.labels[edges]
    labelled = ours >= BoundaryLabel.LEFT_OCCLUSION
    return np.array([labelled.sum(), (step >= 0).sum(), (labelled & (ours == step)).sum()])


def kitti(split: str, limit: int, settings: Settings) -> dict[str, float]:
    """Return precision and recall over all frames of a split, in percent."""
    frames = frames_of("kitti2015", split, limit)
    counts = [steps(estimate(*pair_of(frame), settings), frame, settings) for frame in frames]
    return {"frames": len(frames), **precision_and_recall(counts)}


def precision_and_recall(counts: Sequence[np.ndarray]) -> dict[str, float]:
    """Return the sums of `steps` over frames, and what they mean in percent."""
    labelled, true, right = np.sum(counts, axis=0)
    return {
        "occlusion labels": int(labelled),
        "steps": int(true),
        "precision": 100 * float(right) / max(labelled, 1),
        "recall": 100 * float(right) / max(true, 1),
    }


def main() -> None:
    """Measure and record."""
    arguments = options(__doc__, {"scenes": 1}, scenes=30, limit=20, preset="default")
    settings = Settings.preset(arguments.preset)
    results: dict[str, Any] = {
        f"synthetic, sigma {sigma:g}": synthetic(arguments.scenes, sigma, settings)
        for sigma in SIGMAS
    }
    for split in ("train", "validation"):
        results[f"kitti2015 {split}"] = kitti(split, arguments.limit, settings)
    record("boundary_labels", arguments, results)


if __name__ == "__main__":
    main()
