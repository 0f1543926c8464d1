"""Scores of a disparity map that may have a confidence, and their means over many maps."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slanted.errors import InputError
from slanted.evaluation.confidence import ConfidenceScores, evaluate_confidence, mean_confidence
from slanted.evaluation.metrics import evaluate, mean_metrics
from slanted.evaluation.region import Region
from slanted.images.checks import check_disparity_map

KEPT = "kept"
"""The region of metrics over the pixels that a threshold keeps."""
Scores = tuple[dict[str, float], ConfidenceScores | None]
"""The metrics of a map by name, and those of its confidence, if it has one."""


def score(
    disparity: NDArray[np.float32],
    ground_truth: NDArray[np.float32],
    visible: NDArray[np.float32] | None = None,
    confidence: NDArray[np.floating[Any]] | None = None,
    least: float = 0.0,
    region: Region | None = None,
) -> Scores:
    """Score a map without the pixels whose confidence is too low, and its confidence.

    Parameters
    ----------
    disparity
        (H, W) estimate in pixels, NaN where unknown.
    ground_truth, visible
        As for `slanted.evaluation.metrics.evaluate`.
    confidence
        (H, W) probability that the estimate is right; None if there is none.
    least
        The lowest confidence to keep. What is left out counts as wrong in metrics of the region
        ``all``; those of ``kept`` are over the rest.
    region
        The rectangle to score; by default the whole image.

    Returns
    -------
    metrics
        By name; with a threshold also ``D1-kept`` and the like.
    trust
        The scores of the confidence, with no threshold; None without one.

    Examples
    --------
    >>> import numpy as np
    >>> truth = np.full((2, 5), 40.0, np.float32)
    >>> estimate, confidence = truth.copy(), np.ones((2, 5), np.float32)
    >>> estimate[0, :2], confidence[0, :2] = 60, 0.1
    >>> metrics, _ = score(estimate, truth, confidence=confidence, least=0.5)
    >>> metrics["D1-all"], metrics["D1-kept"], metrics["density-all"]
    (20.0, 0.0, 80.0)
    """
    if region is not None:
        check_disparity_map(ground_truth, "ground_truth", disparity.shape)
        disparity, ground_truth = region.of(disparity), region.of(ground_truth)
        visible = None if visible is None else region.of(visible)
        confidence = None if confidence is None else region.of(confidence)
    metrics = metrics_above(disparity, ground_truth, visible, confidence, least)
    if confidence is None:
        return metrics, None
    return metrics, evaluate_confidence(disparity, ground_truth, confidence)


def metrics_above(
    disparity: NDArray[np.float32],
    ground_truth: NDArray[np.float32],
    visible: NDArray[np.float32] | None = None,
    confidence: NDArray[np.floating[Any]] | None = None,
    least: float = 0.0,
) -> dict[str, float]:
    """Return the metrics of `score` alone; those of the confidence take longer."""
    if confidence is None and least > 0:
        raise InputError(
            f"confidence.min: expected a map with a confidence, to leave out what is below "
            f"{least:g}, got one without; leave out the threshold"
        )
    if confidence is None or least <= 0:
        return evaluate(disparity, ground_truth, ground_truth_noc=visible)
    keeps = confidence >= least
    sure = np.where(keeps, disparity, np.float32(np.nan))
    metrics = evaluate(sure, ground_truth, ground_truth_noc=visible)
    judged = np.where(keeps, ground_truth, np.float32(np.nan))
    if np.isfinite(judged).any():
        kept = evaluate(sure, judged)
        metrics |= {f"{name.removesuffix('-all')}-{KEPT}": kept[name] for name in kept}
    return metrics


def mean_scores(
    per_frame: Sequence[dict[str, Any]], trust: Sequence[ConfidenceScores]
) -> dict[str, Any]:
    """Return ``frames``, their number; ``mean``; ``per_frame``; and ``confidence``, if known.

    Each frame has its metrics and its name, as ``frame``. ``fewer_frames`` has the number of frames
    of each metric that not all of them have, as those of ``kept`` where nothing is kept.
    """
    rows = [{name: row[name] for name in row if name != "frame"} for row in per_frame]
    confidence = {"confidence": mean_confidence(trust)} if trust else {}
    counts = _counts(rows) | _counts([frame.metrics for frame in trust])
    return {
        **confidence,
        "frames": len(per_frame),
        "fewer_frames": {name: n for name, n in counts.items() if n < len(per_frame)},
        "mean": mean_metrics(rows),
        "per_frame": list(per_frame),
    }


def _counts(rows: Sequence[dict[str, float]]) -> dict[str, int]:
    """Return in how many rows each metric is a number."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: sum(not isnan(row.get(name, nan)) for row in rows) for name in names}
