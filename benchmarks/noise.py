"""The paper's table on noise: synthetic scenes, RMS and boundary errors against σ (paper §4).

Weights are chosen on 10 training scenes from a short list, by the mean RMS over all σ, as a
stand-in for learning; 90 other scenes are measured. Beside the result stand the local fits it
starts from and the oracle, planes fitted to the exact disparity.

    python benchmarks/noise.py [--test 90] [--train 10]
"""

from __future__ import annotations

import argparse

import numpy as np

from common import record
from slanted.evaluation.metrics import evaluate
from slanted.evaluation.oracle import oracle_disparity
from slanted.inference.drawing import draw_disparity
from slanted.inference.pcbp import infer
from slanted.labels import BoundaryLabel
from slanted.regions import build_regions
from slanted.settings import Settings
from slanted.synthetic import noise_set

SIGMAS = (0.0, 1.0, 2.0, 3.0, 5.0)
PAPER = {0.0: (0.44, 0.3), 1.0: (0.80, 0.6), 2.0: (1.37, 1.9), 3.0: (2.24, 5.3), 5.0: (4.40, 8.9)}
WEIGHTS = (1, 2, 3, 5, 8)
"""Of bdy2, jct, crs and col; seg and bdy1 have 1."""
TEST_SEED, TRAIN_SEED = 0, 1


def settings_for(weight: float) -> Settings:
    """Return settings with one weight for all that is not a sum over pixels."""
    names = ("bdy2", "jct", "crs", "col")
    weights = {f"model.weights.{name}": str(float(weight)) for name in names}
    mixture = {"inference.proposals": "mixture", "inference.sweeps": "50"}
    return Settings.preset("paper").with_text({**weights, **mixture})


def measure(count: int, sigma: float, seed: int, settings: Settings) -> np.ndarray:
    """Return means over scenes: RMS of local fit, result and oracle; label errors in %."""
    rows = []
    for noisy in noise_set(count, sigma, seed=seed):
        scene = noisy.scene
        regions = build_regions(scene.segments, scene.left)
        found = infer(regions, noisy.disparity, settings)
        maps = [draw_disparity(regions, p) for p in (found.initial_planes, found.planes)]
        maps.append(oracle_disparity(scene.segments, scene.disparity))
        rms = [evaluate(disparity, scene.disparity)["rms-all"] for disparity in maps]
        wrong = found.labels != scene.labels
        shallow = (scene.labels == BoundaryLabel.HINGE) & (found.labels == BoundaryLabel.COPLANAR)
        rows.append([*rms, 100 * wrong.mean(), 100 * shallow.mean()])
    return np.mean(rows, axis=0)


def main() -> None:
    """Choose the weights, measure every σ and record the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--train", type=int, default=10)
    parser.add_argument("--test", type=int, default=90)
    arguments = parser.parse_args()
    chosen = min(
        WEIGHTS,
        key=lambda weight: np.mean(
            [measure(arguments.train, s, TRAIN_SEED, settings_for(weight))[1] for s in SIGMAS]
        ),
    )
    results: dict[str, object] = {"weight": chosen}
    for sigma in SIGMAS:
        fit, ours, oracle, wrong, shallow = measure(
            arguments.test, sigma, TEST_SEED, settings_for(chosen)
        )
        results[f"sigma {sigma:g}"] = {
            "rms local fit": round(fit, 2),
            "rms": round(ours, 2),
            "rms oracle": round(oracle, 3),
            "rms paper": PAPER[sigma][0],
            "boundary error %": round(wrong, 1),
            "of these hinges taken for coplanar %": round(shallow, 1),
            "boundary error % paper": PAPER[sigma][1],
        }
    record("noise", arguments, results)


if __name__ == "__main__":
    main()
