"""Numba kernel of the photometric potential: how unlike the views are where planes put pixels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slanted.images.census_kernels import Words, popcount
from slanted.runtime.arrays import Floats, Ints, Starts
from slanted.runtime.kernel import kernel


@kernel
def differing_bits(
    start: Starts,
    pixels: Ints,
    left: Words,
    right: Words,
    view: NDArray[np.float32],
    slack: float,
    most: float,
    hidden: float,
    centre: Floats,
    planes: Floats,
) -> Floats:
    """Sum bits by which census words differ, over a fourth of each set's pixels, for each plane.

    Parameters
    ----------
    start, pixels
        Sets of flat indices of pixels; only those are looked at whose x + 2 y is a multiple of 4.
    left, right
        (H, W) census words.
    view
        (H, W) disparity of the right view, NaN where unknown.
    slack
        By how much something must be nearer than the plane to hide it.
    most
        Bits beyond which a difference counts as no larger.
    hidden
        Bits that a pixel counts which leaves the view or is hidden there.
    centre
        (sets, 2) u, v about which the planes are.
    planes
        (sets, N, 3).

    Returns
    -------
    bits
        (sets, N).
    """
    width = left.shape[1]
    sets, count, _ = planes.shape
    bits = np.empty((sets, count))
    largest = 0
    for k in range(sets):
        largest = max(largest, start[k + 1] - start[k])
    xs, ys = np.empty(largest, np.int32), np.empty(largest, np.int32)
    for k in range(sets):
        looked_at = 0
        for p in pixels[start[k] : start[k + 1]]:
            y = p // width
            x = p - y * width
            if (x + 2 * y) & 3 == 0:
                xs[looked_at], ys[looked_at] = x, y
                looked_at += 1
        for m in range(count):
            a, b, c = planes[k, m]
            total = 0.0
            for n in range(looked_at):
                x, y = xs[n], ys[n]
                d = a * (x - centre[k, 0]) + b * (y - centre[k, 1]) + c
                place = x - d
                if not 0 <= place <= width - 1 or view[y, int(place + 0.5)] > d + slack:
                    total += hidden
                    continue
                column = int(place)
                share = place - column
                word = left[y, x]
                # Signed, because processors convert unsigned words to floats the long way.
                here = np.int64(popcount(word ^ right[y, column]))
                beside = np.int64(popcount(word ^ right[y, min(column + 1, width - 1)]))
                total += min(here + share * (beside - here), most)
            bits[k, m] = total
    return bits
