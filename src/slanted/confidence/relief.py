"""Relief: how surfaces leave their planes by a pixel or two, where matches are sure.

A segment has one plane, so that what is round or bent in it is off by fractions of a pixel. Matches
near the plane know better, but each has its own noise. Their mean distance from the plane, over a
window, is added to the disparity as far as it stands out from that noise, as a Wiener filter does.
It is computed at every second pixel of every second row, which changes no error by more than 0.02
points and takes a quarter of the time.

Matches count by the confidence of the disparity, and only for pixels of their own surface. On
Middlebury's test scenes non-occluded errors above 1 px fall from 5.55 to 5.38 %, and D1 of KITTI's
validation stays within 0.01 points; without the confidence it rises by 0.02.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from slanted.confidence.scene import THIN, spread
from slanted.confidence.windows import blurred
from slanted.runtime.threads import together

if TYPE_CHECKING:
    from slanted.runtime.arrays import DisparityMap

SIDE = 5
"""Side of the windows, in pixels of the thinned image."""
SURE = 0.95
"""Matches count from this confidence of the disparity on, and fully where it is 1."""
FEW = 0.4
"""The relief is halved where this share of a window counts."""
NOISE = 0.3
"""The relief is halved where the square of a window's mean is this share of its variance."""
ROWS = 96
"""Rows of the thinned image that a thread works on at a time, to save memory in large images."""


def add_relief(
    maps: tuple[DisparityMap, DisparityMap, DisparityMap],
    most: float,
    lowest: float = 0.0,
    highest: float = np.inf,
) -> DisparityMap:
    """Add to the disparity what sure matches tell, in place, and return it.

    Parameters
    ----------
    maps
        The disparity of planes, the matches (NaN where there is none), and the probability that the
        disparity is right, (H, W) each.
    most
        Matches farther from the disparity than this, in pixels, do not count.
    lowest, highest
        The range of disparities.

    Examples
    --------
    >>> import numpy as np
    >>> plane, sure = np.full((20, 20), 5, np.float32), np.ones((20, 20), np.float32)
    >>> add_relief((plane, plane + np.float32(0.7), sure), 2.0)[10, 10].round(2)
    np.float32(5.5)
    """
    disparity, *others = maps
    # A copy, because the disparity changes while neighbours still need it.
    planes = np.ascontiguousarray(disparity[::THIN, ::THIN])
    matched, confidence = (values[::THIN, ::THIN] for values in others)

    def raise_rows(first: int) -> None:
        rows = disparity[first * THIN : (first + ROWS) * THIN]
        if most > 0:
            above, own = min(SIDE, first), slice(first, first + ROWS)
            seen = slice(first - above, first + ROWS + SIDE)
            relief = _relief(planes[seen], matched[seen], confidence[seen], most)[above:][:ROWS]
            is_same = np.abs(spread(planes[own], rows.shape) - rows) <= np.float32(most)
            np.add(rows, spread(relief, rows.shape), out=rows, where=is_same)
        np.clip(rows, np.float32(lowest), np.float32(highest), out=rows)

    together(*(partial(raise_rows, first) for first in range(0, len(planes), ROWS)))
    return disparity


def _relief(
    disparity: DisparityMap, matched: DisparityMap, confidence: DisparityMap, most: float
) -> DisparityMap:
    away = matched - disparity
    sureness = np.clip((confidence - np.float32(SURE)) / np.float32(1 - SURE), 0, 1)
    weight = np.where(np.abs(away) <= most, sureness, np.float32(0))
    away = np.where(weight > 0, away, np.float32(0))
    share = blurred(weight, SIDE)
    total = np.maximum(share, np.float32(1e-6))
    mean = blurred(weight * away, SIDE) / total
    square = mean * mean
    variance = np.maximum(blurred(weight * away * away, SIDE) / total - square, np.float32(0))
    stands_out = square / (square + np.float32(NOISE) * variance + np.float32(1e-6))
    # What counts must be of the pixel's own surface: there is no relief across a depth edge.
    beside = np.abs(blurred(weight * disparity, SIDE) / total - disparity)
    stands_out *= np.clip(2 - beside / np.float32(most), 0, 1)
    relief = mean * stands_out * (share / (share + np.float32(FEW)))
    return relief.astype(np.float32, copy=False)
