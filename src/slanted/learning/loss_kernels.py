"""Numba kernel of the threshold losses."""

from __future__ import annotations

import numpy as np

from slanted.runtime.arrays import Floats, Starts
from slanted.runtime.kernel import kernel


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
        In pixels; an error equal to it does not count.
    """
    sets, count, _ = planes.shape
    counts = np.zeros((sets, count))
    for k in range(sets):
        for p in range(start[k], start[k + 1]):
            for m in range(count):
                estimate = planes[k, m, 0] * du[p] + planes[k, m, 1] * dv[p] + planes[k, m, 2]
                counts[k, m] += abs(estimate - disparity[p]) > threshold
    return counts
