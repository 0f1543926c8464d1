"""Numba kernel of the photometric potential: how unlike the views are where planes put pixels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slanted.kernel import kernel
from slanted.matching.census_kernels import Words, popcount
from slanted.regions.structure import Floats, Ints, Starts


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
    first: int,
    last: int,
    bits: Floats,
) -> None:
    """Sum, for each set and plane, the bits by which census words differ over every other pixel.

    Parameters
    ----------
    start, pixels
        Sets of flat indices of pixels; only those of even x + y are looked at.
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
    first, last
        Sets to do.
    bits
        (sets, N), output.
    """
    width = left.shape[1]
    count = planes.shape[1]
    for k in range(first, last):
        bits[k] = 0.0
        for p in pixels[start[k] : start[k + 1]]:
            y = p // width
            x = p - y * width
            if (x + y) & 1:
                continue
            word = left[y, x]
            u, v = x - centre[k, 0], y - centre[k, 1]
            for m in range(count):
                d = planes[k, m, 0] * u + planes[k, m, 1] * v + planes[k, m, 2]
                place = x - d
                if not 0 <= place <= width - 1 or view[y, int(place + 0.5)] > d + slack:
                    bits[k, m] += hidden
                    continue
                column = int(place)
                share = place - column
                # Signed, because processors convert unsigned words to floats the long way.
                here = np.int64(popcount(word ^ right[y, column]))
                beside = np.int64(popcount(word ^ right[y, min(column + 1, width - 1)]))
                bits[k, m] += min(here + share * (beside - here), most)
