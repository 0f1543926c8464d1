"""Matching small images on a finer grid than their own, for disparities of a fraction of a pixel.

The windows and the sub-pixel fit of a matcher are as many pixels wide in small images as in large
ones. At 300 pixels' width they cross more depth edges, and half a pixel is as far as two are at
1200. An enlarged pair is matched more precisely, and small ones have the time for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from slanted.images.checks import check_pair
from slanted.images.colour import as_8_bit
from slanted.matching import DisparityRange, Matches, find_matches
from slanted.matching.noise import follow_noise
from slanted.runtime.opencv import cv2

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from slanted.images import Image
    from slanted.runtime.arrays import DisparityMap
    from slanted.settings import MatchingSettings


Find = Callable[["Image", "Image", "MatchingSettings", DisparityRange], Matches]
"""Matches a pair in a range, as `find_matches` does."""


def find_finer(
    left: Image,
    right: Image,
    settings: MatchingSettings,
    searched: DisparityRange,
    times: int,
    find: Find = find_matches,
) -> Matches:
    """Match a pair with `find`, enlarged `times` times; the result has its own size."""
    if times == 1:
        return find(left, right, settings, searched)
    pair8 = as_8_bit(*check_pair(left, right))
    # JPEG's blocks are found at their own size only.
    settings = follow_noise(*pair8, settings)
    census = replace(settings.census, smoothing=times * (settings.census.smoothing or 0.0))
    height, width = left.shape[:2]
    size = width * times, height * times
    views = [cv2.resize(view, size, interpolation=cv2.INTER_CUBIC) for view in pair8]
    wide = DisparityRange(searched.low * times, searched.high * times)
    fine = find(views[0], views[1], replace(settings, census=census), wide)
    disparity = block_medians(fine.disparity, times) / np.float32(times)
    known = np.isfinite(disparity)
    return Matches(
        disparity,
        None
        if fine.confidence is None
        else np.where(known, _means(fine.confidence, times), np.float32(0)),
        None if fine.winner is None else block_medians(fine.winner, times) / np.float32(times),
        None if fine.agrees is None else _means(fine.agrees, times) >= 0.5,
        None if fine.margin is None else _means(fine.margin, times),
    )


def block_medians(disparity: DisparityMap, side: int) -> DisparityMap:
    """Return the medians of what is known in blocks of pixels; NaN where less than half is."""
    values = np.sort(_blocks(disparity, side), axis=-1)  # NaN comes last
    count = np.isfinite(values).sum(axis=-1)
    middle = np.stack([np.maximum(count - 1, 0) // 2, np.minimum(count // 2, side**2 - 1)], axis=-1)
    medians = np.take_along_axis(values, middle, axis=-1).mean(axis=-1, dtype=np.float32)
    return np.where(2 * count >= side * side, medians, np.float32(np.nan))


def _means(values: NDArray[Any], side: int) -> DisparityMap:
    means: DisparityMap = _blocks(values, side).mean(axis=-1, dtype=np.float32)
    return means


def _blocks(values: NDArray[Any], side: int) -> NDArray[Any]:
    """Return (H / side, W / side, side²) values of the blocks of an image."""
    height, width = values.shape
    cut = values.reshape(height // side, side, width // side, side)
    return cut.transpose(0, 2, 1, 3).reshape(height // side, width // side, side * side)
