"""Numba kernels on what the right view sees: the matches projected into it, and contradictions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slanted.runtime.arrays import Floats, Ints, Starts
from slanted.runtime.kernel import kernel


@kernel
def project_matches(
    disparity: NDArray[np.float32], first: int, last: int, right: NDArray[np.float32]
) -> None:
    """Write the disparity of the right view: each match at its place there, the nearest in front.

    Parameters
    ----------
    disparity
        (H, W) of the left view, NaN where unknown.
    first, last
        Rows to do.
    right
        (H, W), output.
    """
    width = disparity.shape[1]
    for y in range(first, last):
        right[y] = np.nan
        for x in range(width):
            d = disparity[y, x]
            if np.isnan(d):
                continue
            place = int(np.rint(x - d))
            if 0 <= place < width and not right[y, place] >= d:
                right[y, place] = d


@kernel
def gather_unmatched(
    pixels: Ints, start: Starts, disparity: Floats
) -> tuple[Starts, NDArray[np.int32]]:
    """Return the pixels of each set whose disparity is NaN; sets as in `gather_matches`."""
    unknown_start = np.zeros(len(start), np.int64)
    unknown = np.empty(len(pixels), np.int32)
    used = 0
    for k in range(len(start) - 1):
        for p in pixels[start[k] : start[k + 1]]:
            if np.isnan(disparity[p]):
                unknown[used] = p
                used += 1
        unknown_start[k + 1] = used
    return unknown_start, unknown[:used].copy()


@kernel
def contradictions(
    start: Starts,
    pixels: Ints,
    right: NDArray[np.float32],
    slack: float,
    centre: Floats,
    planes: Floats,
) -> Floats:
    """Count, for each set and plane, the pixels that the right view ought to show but does not.

    Parameters
    ----------
    start, pixels
        Sets of flat indices of pixels without a match.
    right
        (H, W) disparity of the right view, NaN where unknown.
    slack
        How much farther the right view may show something without contradicting the plane.
    centre
        (sets, 2) u, v about which the planes are.
    planes
        (sets, N, 3).

    Returns
    -------
    counts
        (sets, N).
    """
    width = right.shape[1]
    sets, count, _ = planes.shape
    counts = np.zeros((sets, count))
    for k in range(sets):
        for p in pixels[start[k] : start[k + 1]]:
            y = p // width
            x = p - y * width
            u, v = x - centre[k, 0], y - centre[k, 1]
            for m in range(count):
                d = planes[k, m, 0] * u + planes[k, m, 1] * v + planes[k, m, 2]
                place = np.rint(x - d)
                if 0 <= place < width and right[y, int(place)] < d - slack:
                    counts[k, m] += 1
    return counts
