"""Task losses: the cost of giving a segment a wrong plane (paper §4, "Task Loss").

A loss is a sum over segments, so that it can be part of the unary costs. The loss of plane y for
segment i is

    ℓ_i(y) = n_i / |S_i ∩ G| · Σ_{p ∈ S_i ∩ G} ℓ(d̂_i(p, y) − d(p)),

with G the pixels with ground truth and n_i the number of pixels that a segment counts for: |S_i|
times the share of the image's pixels that have a match. ``l2`` has ℓ(e) = min(|e|, K)²; ``out-kpx``
has ℓ(e) = K² if |e| > k, else 0. So the losses of an image are at most what its matches can cost in
φ_seg, however few they are.

The paper does not give the scale of its losses (and calls its ℓ2 loss RMS in the text, which is not
a sum over segments). The scale matters: a loss of 1 per segment is nothing beside costs of
hundreds. Learning is then a maximum-likelihood fit: because matches are wrong in whole patches, it
gives matches little weight and over-smooths (docs/learning.md).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from slanted.errors import SettingsError
from slanted.model.data_kernels import truncated_sums
from slanted.model.observations import Matches
from slanted.runtime.arrays import Floats, Ints, Starts
from slanted.runtime.kernel import kernel

THRESHOLDS = {"out-2px": 2.0, "out-3px": 3.0, "out-4px": 4.0, "out-5px": 5.0}
LOSS_NAMES = ("l2", *THRESHOLDS)


def particle_losses(
    name: str, pixels: Matches, segments: Ints, sizes: Floats, particles: Floats, K: float
) -> Floats:
    """Return the loss of every particle, (n, N).

    Parameters
    ----------
    name
        One of `LOSS_NAMES`.
    pixels
        Ground truth of all segments of the image, about their centres.
    segments
        (n,) the segments to compute, each with ground truth.
    sizes
        (n,) how many pixels each counts for.
    particles
        (n, N, 3) their planes.
    K
        Truncation of ``l2``, in pixels; no pixel costs more than its square.
    """
    share = [np.arange(pixels.start[i], pixels.start[i + 1]) for i in segments]
    start = np.cumsum([0, *(len(s) for s in share)]).astype(np.int64)
    chosen = np.concatenate([*share, np.empty(0, np.int64)]).astype(np.int64)
    arrays = (a[chosen] for a in (pixels.du, pixels.dv, pixels.disparity))
    planes = np.ascontiguousarray(particles)
    if name == "l2":
        sums = truncated_sums(start, *arrays, np.ones(len(chosen)), planes, K)
    elif name in THRESHOLDS:
        sums = K**2 * outlier_counts(start, *arrays, planes, THRESHOLDS[name])
    else:
        raise SettingsError(f"loss: expected one of {', '.join(LOSS_NAMES)}, got {name!r}")
    return np.asarray(sums * (sizes / np.diff(start))[:, None])


def map_loss(name: str, disparity: Any, truth: Any, K: float) -> float:
    """Return the mean loss of a disparity map over the pixels with ground truth."""
    error = np.abs(disparity - truth)[np.isfinite(truth)]
    if name == "l2":
        return float(np.mean(np.minimum(error, K) ** 2))
    return float(K**2 * np.mean(error > THRESHOLDS[name]))


@kernel
def outlier_counts(
    start: Starts, du: Floats, dv: Floats, disparity: Floats, planes: Floats, threshold: float
) -> Floats:
    """Count the pixels of each set that a plane misses by more than a threshold, (sets, M).

    Parameters
    ----------
    start, du, dv, disparity
        As in `slanted.model.observations.Matches`.
    planes
        (sets, M, 3) about the centres of the sets.
    threshold
        Pixels; an error equal to it does not count.
    """
    sets, count, _ = planes.shape
    counts = np.zeros((sets, count))
    for k in range(sets):
        for p in range(start[k], start[k + 1]):
            for m in range(count):
                estimate = planes[k, m, 0] * du[p] + planes[k, m, 1] * dv[p] + planes[k, m, 2]
                counts[k, m] += abs(estimate - disparity[p]) > threshold
    return counts
