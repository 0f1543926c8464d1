"""Scores of a confidence map against ground truth.

A pixel is wrong by the rule of ``D1`` (see `slanted.evaluation.metrics`); one without an estimate
is wrong and has confidence 0. All pixels with ground truth count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from slanted.errors import InputError
from slanted.evaluation.calibration import Reliability, pooled, reliability
from slanted.evaluation.metrics import is_d1_outlier, mean_metrics
from slanted.evaluation.sparsification import DENSITIES, rank
from slanted.images.checks import check_disparity_map
from slanted.runtime.arrays import Floats

SHOWN_DENSITY = 80
"""Percent of pixels whose error stands for the whole curve in tables."""


@dataclass(frozen=True, eq=False)
class ConfidenceScores:
    """Error against density, and calibration, of one frame or the mean of several."""

    error: Floats
    """(20,) percent of wrong pixels by `DENSITIES`."""
    oracle: Floats
    """(20,) the same for the best possible order."""
    reliability: Reliability
    metrics: dict[str, float]
    """``D1@80-all``, ``AUSE-all``, ``AUC-all`` and ``ECE-all``; see `docs/confidence.md`."""

    def as_dict(self) -> dict[str, Any]:
        """Return all numbers, ready for JSON."""
        return {
            **self.metrics,
            "curve": [
                {"density": density, "error": float(error), "oracle": float(oracle)}
                for density, error, oracle in zip(DENSITIES, self.error, self.oracle, strict=True)
            ],
            "reliability": self.reliability.as_list(),
        }


def evaluate_confidence(
    disparity: npt.ArrayLike, ground_truth: npt.ArrayLike, confidence: npt.ArrayLike
) -> ConfidenceScores:
    """Score the confidence of a disparity map.

    Parameters
    ----------
    disparity
        (H, W) estimate in pixels, NaN where unknown.
    ground_truth
        (H, W) true disparity in pixels, NaN where unknown.
    confidence
        (H, W) probability that the estimate is right.

    Raises
    ------
    InputError
        If sizes differ, no pixel has ground truth, or a confidence is not from 0 to 1.

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.full((2, 5), 40.0)
    >>> estimate, confidence = truth.copy(), np.ones((2, 5))
    >>> estimate[0, :2], confidence[0, :2] = 60, 0
    >>> scores = evaluate_confidence(estimate, truth, confidence)
    >>> scores.metrics["D1@80-all"], scores.metrics["AUC-all"], scores.metrics["ECE-all"]
    (0.0, 1.0, 0.0)
    """
    estimate = check_disparity_map(disparity, "disparity")
    truth = check_disparity_map(ground_truth, "ground_truth", estimate.shape)
    given = np.asarray(confidence)
    if given.shape != estimate.shape:
        raise InputError(
            f"confidence: expected the size of the disparity map, {estimate.shape}, got "
            f"{given.shape} (rows, columns)"
        )
    counted = np.isfinite(truth)
    if not counted.any():
        raise InputError("ground_truth: expected at least one known pixel, got none")
    target, said = truth[counted].astype(np.float64), given[counted].astype(np.float64)
    if not (said.min() >= 0 and said.max() <= 1):
        raise InputError(
            f"confidence: expected numbers from 0 to 1, got {said.min():g} to {said.max():g}"
        )
    error = np.abs(estimate[counted] - target)
    said[~np.isfinite(error)] = 0.0
    error[~np.isfinite(error)] = np.inf
    is_wrong = is_d1_outlier(error, target)
    ranking, bins = rank(said, is_wrong), reliability(said, is_wrong)
    curve = ranking.error()
    metrics = {
        f"D1@{SHOWN_DENSITY}-all": float(curve[DENSITIES.index(SHOWN_DENSITY)]),
        "AUSE-all": ranking.area(),
        "AUC-all": ranking.auc(),
        "ECE-all": bins.error(),
    }
    return ConfidenceScores(curve, ranking.oracle(), bins, metrics)


def mean_confidence(frames: Sequence[ConfidenceScores]) -> ConfidenceScores:
    """Return the mean of curves and metrics over frames; the pixels of bins are put together.

    ``ECE-all`` is that of the bins of all frames, since errors of single frames do not cancel.
    """
    bins = pooled([frame.reliability for frame in frames])
    metrics = mean_metrics([frame.metrics for frame in frames]) | {"ECE-all": bins.error()}
    curves = (np.mean([frame.error for frame in frames], axis=0),
              np.mean([frame.oracle for frame in frames], axis=0))  # fmt: skip
    return ConfidenceScores(*curves, bins, metrics)
