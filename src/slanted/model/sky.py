"""Segments that look like sky, which has no depth.

The rule is cautious: it would rather miss sky than take a wall for it. It still does take a wall
that is overexposed, has no match and reaches the upper border, which looks no different.

A segment is sky if it is bright for its image, smooth, not reddish, hardly matched except far away,
and connected to the image's upper border through segments of the same kind, which together are
wide. Nothing follows from it but a flag: planes and disparities stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from slanted.images.colour import as_8_bit, as_grey
from slanted.regions.structure import Regions
from slanted.runtime.arrays import Bytes, DisparityMap, Flags, Floats, Ints, Starts

if TYPE_CHECKING:
    from slanted.images import Image

BRIGHT = 0.75
"""Least mean grey level of sky, as a share of the image's white, its 99 % quantile."""
SMOOTH = 12.0
"""Largest mean difference of grey levels within 3 × 3 pixels."""
REDDISH = 6.0
"""Red may exceed blue by this many grey levels on average."""
NEAR_MATCHES = 0.2
"""Share of a segment's pixels that may have a match nearer than far."""
FAR = 0.005
"""Disparities up to this share of the image's width are far: 6 px in KITTI, about 60 m there."""
WIDE = 0.02
"""Least share of the upper border that a connected piece of sky touches."""
PIXELS_AT_A_TIME = 2**20
"""Pixels measured at a time, to save memory in large images."""


@dataclass(frozen=True, eq=False)
class _Look:
    """Means over the pixels of each segment, and what they are compared with."""

    grey: Floats
    texture: Floats
    redness: Floats
    near: Floats
    white: float


def find_sky(image: Image, regions: Regions, matched: DisparityMap, lowest: float = 0.0) -> Flags:
    """Return the (H, W) mask of pixels that look like sky.

    Parameters
    ----------
    image
        The left image.
    regions
        Its segments.
    matched
        (H, W) the matcher's disparity, NaN where unknown.
    lowest
        The disparity of infinity.
    """
    look = _measure(image, regions, matched, lowest + FAR * matched.shape[1])
    candidate = look.grey >= BRIGHT * look.white
    candidate &= look.texture <= SMOOTH
    candidate &= look.redness <= REDDISH
    candidate &= look.near <= NEAR_MATCHES
    is_sky: Flags = _touching_top(regions, candidate)[regions.label_image]
    return is_sky


def _measure(image: Image, regions: Regions, matched: DisparityMap, far: float) -> _Look:
    import cv2

    eight, _ = as_8_bit(image, image[:0])
    height, width = matched.shape
    sums = np.zeros((4, regions.count))
    levels = np.zeros(256, np.int64)
    step = max(1, PIXELS_AT_A_TIME // width)
    square = np.ones((3, 3), np.uint8)
    for first in range(0, height, step):
        last = min(first + step, height)
        above = max(first - 1, 0)  # a row more on either side, for differences across blocks
        part = np.ascontiguousarray(eight[above : last + 1])
        grey = np.asarray(as_grey(part), np.uint8)
        texture = cv2.morphologyEx(grey, cv2.MORPH_GRADIENT, square)
        inside = slice(first - above, last - above)
        labels = regions.label_image[first:last].reshape(-1).astype(np.int64)  # bincount's type
        maps = (grey[inside], texture[inside], _redness(part[inside]), matched[first:last] > far)
        sums += [np.bincount(labels, values.reshape(-1), regions.count) for values in maps]
        levels += np.bincount(grey[inside].reshape(-1), minlength=256)
    grey_mean, texture_mean, redness, near = sums / regions.size
    white = float(np.searchsorted(np.cumsum(levels), 0.99 * levels.sum()))
    return _Look(grey_mean, texture_mean, redness, near, white)


def _redness(part: Bytes) -> Ints:
    """Return red minus blue; 0 in a grey image."""
    if part.ndim == 2:
        return np.zeros(part.shape, np.int32)
    return part[..., 0].astype(np.int32) - part[..., 2]


def _touching_top(regions: Regions, candidate: Flags) -> Flags:
    """Return the candidates of connected pieces that touch enough of the upper border."""
    piece = _pieces(regions.count, regions.edges[candidate[regions.edges].all(axis=1)])
    top = regions.label_image[0]
    touched = np.bincount(piece[top[candidate[top]]], minlength=regions.count)
    wide: Flags = candidate & (touched[piece] >= WIDE * len(top))
    return wide


def _pieces(count: int, edges: Ints) -> Starts:
    """Return the lowest node of the connected piece of each node."""
    lowest = np.arange(count)
    while True:
        joined = lowest.copy()
        least = lowest[edges].min(axis=1)
        for end in edges.T:
            np.minimum.at(joined, end, least)
        joined = joined[joined]
        if np.array_equal(joined, lowest):
            return lowest
        lowest = joined
