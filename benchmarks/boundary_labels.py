"""How often boundary labels are right: exact on synthetic scenes, against depth steps on KITTI.

Synthetic: the segments of the scenes, their disparity with Gaussian noise as matches, and their
images; the share of boundaries with the true label. KITTI: planes are fitted to the ground truth in
each of our segments; where both planes of a boundary are known and differ by more than 3 px on
average over it, there is a step, and the nearer segment should occlude the other. Precision is the
share of our occlusion labels that are such steps with the right side in front, recall the share of
steps that have the right label.

    python benchmarks/boundary_labels.py [--scenes 30] [--limit 20] [--preset default]
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from common import data_folder, record
from slanted.boundary_label import BoundaryLabel
from slanted.evaluation.datasets import Frame, find_frames
from slanted.images.census import census_of_pair
from slanted.images.checks import grey_pair
from slanted.inference.pcbp import infer
from slanted.inference.terms import WholeImage
from slanted.io import read_image
from slanted.learning.ground_truth import find_truth
from slanted.model.evidence import Evidence
from slanted.model.planes import edge_planes
from slanted.pipeline import estimate
from slanted.regions import build_regions
from slanted.settings import Settings
from slanted.synthetic import noise_set

SIGMAS = (0.0, 0.5, 1.0)
STEP = 3.0
"""Pixels, mean over the boundary."""
ITERATIONS = "4"
"""On given segments, which are not refined: more draws than with refinement, as in all figures."""


def synthetic(count: int, sigma: float, settings: Settings) -> dict[str, float]:
    """Return the percentage of right labels over all boundaries, and by kind."""
    settings = settings.with_text({"inference.iterations": ITERATIONS})
    found, exact = [], []
    for noisy in noise_set(count, sigma, seed=0):
        scene = noisy.scene
        regions = build_regions(scene.segments, scene.left)
        census = census_of_pair(grey_pair(scene.left, scene.right))
        found.append(
            infer(WholeImage.of(regions, Evidence(noisy.disparity, census=census), settings)).labels
        )
        exact.append(scene.labels)
    ours, true = np.concatenate(found), np.concatenate(exact)
    rows = {"all": 100 * float((ours == true).mean())}
    for label in BoundaryLabel:
        rows[label.name.lower()] = 100 * float((ours == true)[true == label].mean())
    return rows


def steps(frame: Frame, settings: Settings) -> np.ndarray:
    """Return occlusion labels, true steps and those that agree, of one frame."""
    result = estimate(read_image(frame.left), read_image(frame.right), settings)
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
    frames = find_frames("kitti2015", data_folder() / "kitti2015", split, limit)
    labelled, true, right = np.sum([steps(frame, settings) for frame in frames], axis=0)
    return {
        "frames": len(frames),
        "occlusion labels": int(labelled),
        "steps": int(true),
        "precision": 100 * float(right) / max(labelled, 1),
        "recall": 100 * float(right) / max(true, 1),
    }


def main() -> None:
    """Measure and record."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--scenes", type=int, default=30)
    parser.add_argument("--limit", type=int, default=20)
    parser.add_argument("--preset", default="default")
    arguments = parser.parse_args()
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
