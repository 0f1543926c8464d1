"""Numba kernels over sets of pixels: sums of coordinates, and colour histograms.

All sums are of integers, so they are exact and do not depend on the order of pixels.
"""

from __future__ import annotations

import numpy as np

from slanted.runtime.arrays import Bytes, Floats, Ints, Starts
from slanted.runtime.kernel import kernel

BINS_PER_CHANNEL = 4
BINS = BINS_PER_CHANNEL**3
BIN_SHIFT = 6
"""Shift of an 8-bit value to its highest two bits, which are its bin."""


@kernel
def coordinate_sums(pixels: Ints, start: Starts, width: int) -> tuple[Ints, Starts]:
    """Sum coordinates and their products over sets of pixels, about the first pixel of each.

    Parameters
    ----------
    pixels
        Flat indices, set by set, ascending inside a set.
    start
        (sets + 1,) where each set starts in `pixels`; no set is empty.
    width
        Width of the image.

    Returns
    -------
    origin
        (sets, 2) u, v of the first pixel.
    sums
        (sets, 5) sums of u, v, uu, uv, vv relative to the origin, which keeps the rounding small
        when means are subtracted later.
    """
    sets = len(start) - 1
    origin = np.empty((sets, 2), np.int32)
    sums = np.empty((sets, 5), np.int64)
    for k in range(sets):
        first = pixels[start[k]]
        row = first // width
        origin[k, 0], origin[k, 1] = first - row * width, row
        row_start = first  # the pixel of the current row in the origin's column
        row_end = (row + 1) * width
        v = 0
        su, sv, suu, suv, svv = 0, 0, 0, 0, 0
        for p in pixels[start[k] : start[k + 1]]:
            while p >= row_end:  # pixels ascend, so the row is found without a division
                row_start += width
                row_end += width
                v += 1
            u = np.int64(p) - row_start
            su += u
            sv += v
            suu += u * u
            suv += u * v
            svv += v * v
        s = sums[k]
        s[0], s[1], s[2], s[3], s[4] = su, sv, suu, suv, svv
    return origin, sums


@kernel
def colour_counts(label_image: Ints, image: Bytes, count: int) -> Ints:
    """Count each segment's pixels in each of the joint RGB bins.

    Parameters
    ----------
    label_image
        (N,) segment of each pixel.
    image
        (N, 3) RGB, or (N, 1) grey, which counts as three equal channels.
    count
        Number of segments.

    Returns
    -------
    counts
        (count, 64) numbers of pixels; the bin of red varies slowest.
    """
    counts = np.zeros((count, BINS), np.int32)
    channels = image.shape[1]
    green, blue = 1 % channels, 2 % channels
    for p in range(len(label_image)):
        pixel = image[p]
        b = pixel[0] >> BIN_SHIFT
        b = b * BINS_PER_CHANNEL + (pixel[green] >> BIN_SHIFT)
        b = b * BINS_PER_CHANNEL + (pixel[blue] >> BIN_SHIFT)
        counts[label_image[p], b] += 1
    return counts


@kernel
def chi_squared_distances(histograms: Floats, edges: Ints) -> Floats:
    """Return ½ Σ (h − g)² / (h + g) of each edge's two histograms; a bin empty in both adds 0."""
    distances = np.zeros(len(edges), np.float64)
    for e in range(len(edges)):
        first, second = histograms[edges[e, 0]], histograms[edges[e, 1]]
        total = 0.0
        for b in range(len(first)):
            both = first[b] + second[b]
            if both > 0:
                differ = first[b] - second[b]
                total += differ * differ / both
        distances[e] = total / 2
    return distances
