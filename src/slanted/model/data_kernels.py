"""Numba kernels that gather matches and sum the truncated quadratic φ^TP."""

from __future__ import annotations

import numpy as np

from slanted.runtime.arrays import Floats, Ints, Starts
from slanted.runtime.kernel import kernel


@kernel
def gather_matches(
    pixels: Ints, start: Starts, centre: Floats, disparity: Floats, weight: Floats, width: int
) -> tuple[Starts, Floats, Floats, Floats, Floats]:
    """Gather the matches of each set.

    Parameters
    ----------
    pixels, start
        Sets of flat indices, one after the other, ascending inside a set.
    centre
        (sets, 2) u, v to which coordinates are relative.
    disparity, weight
        (H·W,) disparity, NaN where unknown, and its weight.
    width
        Width of the image.

    Returns
    -------
    known_start, du, dv, known_disparity, known_weight
        The fields of `Matches`.
    """
    known_start = np.zeros(len(start), np.int64)
    # The unused end of these arrays takes no memory, because it is never written to.
    most = len(pixels)
    du, dv, known, known_weight = np.empty(most), np.empty(most), np.empty(most), np.empty(most)
    used = 0
    for k in range(len(start) - 1):
        row, row_end = 0, 0
        for p in pixels[start[k] : start[k + 1]]:
            if p >= row_end:  # one division per row, not per pixel
                row = p // width
                row_end = (row + 1) * width
            if not np.isnan(disparity[p]):
                du[used] = p - row * width - centre[k, 0]
                dv[used] = row - centre[k, 1]
                known[used] = disparity[p]
                known_weight[used] = weight[p]
                used += 1
        known_start[k + 1] = used
    return known_start, du[:used], dv[:used], known[:used], known_weight[:used]


@kernel
def truncated_sums(
    start: Starts,
    du: Floats,
    dv: Floats,
    disparity: Floats,
    weight: Floats,
    planes: Floats,
    K: float,
) -> Floats:
    """Sum min(|D(p) − d̂(p)|, K)² over the matches of each set, for each of its planes.

    Parameters
    ----------
    start, du, dv, disparity, weight
        The fields of `Matches`.
    planes
        (sets, M, 3) planes about the centres of the sets.
    K
        Truncation of residuals, in pixels.

    Returns
    -------
    sums
        (sets, M) sums.
    """
    sets, count, _ = planes.shape
    sums = np.zeros((sets, count))
    alpha, beta, gamma = np.empty(count), np.empty(count), np.empty(count)
    for k in range(sets):
        for m in range(count):
            alpha[m], beta[m], gamma[m] = planes[k, m, 0], planes[k, m, 1], planes[k, m, 2]
        row = sums[k]
        share = slice(start[k], start[k + 1])
        u, v, d, w = du[share], dv[share], disparity[share], weight[share]
        for p in range(len(d)):
            # The inner loop is over planes: sums over pixels vectorise only in another order.
            for m in range(count):
                residual = min(abs(alpha[m] * u[p] + beta[m] * v[p] + gamma[m] - d[p]), K)
                row[m] += w[p] * (residual * residual)
    return sums
