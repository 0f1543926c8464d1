"""The range of disparities to search: from the settings, or estimated from the pair."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from slanted.errors import InputError
from slanted.images.colour import as_8_bit, as_grey
from slanted.matching import DisparityRange
from slanted.runtime.arrays import Bytes, DisparityMap

if TYPE_CHECKING:
    from slanted.images import Image
    from slanted.settings import MatchingSettings

COARSE_WIDTH = 400
"""Width, in pixels, to which images are reduced to estimate the range."""
SUPPORT = 5e-4
"""Share of the image that must match at a disparity or above for the range to include it."""
MARGIN = 1.1
"""Factor on the range: the coarse map is rough and misses near things that are thin."""
STEP = 16
"""Estimated ranges are multiples of this, as OpenCV's matcher requires."""


def disparity_range(left: Image, right: Image, settings: MatchingSettings) -> DisparityRange:
    """Return the range of the settings; its end is estimated from the pair if it is auto."""
    width = left.shape[1]
    low, high = settings.min_disparity, settings.max_disparity
    if high is None and settings.method == "network":
        high = max(width, low + 1)  # it searches nothing; `range_of` narrows what it found
    elif high is None:
        high = low + find_range(*as_8_bit(left, right), low)
    for name, end in (("min_disparity", low), ("max_disparity", high - 1)):
        if abs(end) >= width:
            raise InputError(
                f"matching.{name}: expected a disparity smaller than the image's width of {width} "
                f"px, got {end if name == 'min_disparity' else high}; lower it or use auto"
            )
    return DisparityRange(low, high)


def range_of(disparity: DisparityMap) -> DisparityRange:
    """Return the smallest range that has all disparities of a map.

    Examples
    --------
    >>> range_of(np.array([[3.5, np.nan, 7.0]], np.float32))
    DisparityRange(low=3, high=8)
    """
    known = disparity[np.isfinite(disparity)]
    return DisparityRange(int(np.floor(known.min())), int(np.floor(known.max())) + 1)


def widest_range(width: int, low: int) -> DisparityRange:
    """Return all disparities from `low` on that are looked for: half the width of the image.

    Examples
    --------
    >>> widest_range(400, -8)
    DisparityRange(low=-8, high=192)
    """
    return DisparityRange(low, low + max(1, width // 2))


def find_range(left: Bytes, right: Bytes, low: int) -> int:
    """Return how many disparities from `low` on cover the matches of a reduced pair.

    Not in the paper, which leaves the range to the matcher. The reduced pair is matched over half
    its width. The range ends, with a margin, at the largest disparity that the share `SUPPORT` of
    the pixels reaches.
    """
    from slanted.matching.sgbm import match
    from slanted.runtime.opencv import cv2
    from slanted.settings import MatchingSettings, SgbmSettings

    height, width = (int(side) for side in left.shape[:2])
    shrink = min(1.0, COARSE_WIDTH / width)
    size = max(1, round(width * shrink)), max(1, round(height * shrink))
    small = [
        cv2.resize(as_grey(image), size, interpolation=cv2.INTER_AREA) for image in (left, right)
    ]
    start = int(np.floor(low * shrink))
    settings = MatchingSettings(
        speckle_size=50, speckle_range=1, sgbm=SgbmSettings(mode="3way", block_size=5)
    )
    coarse = match(small[0], small[1], widest_range(size[0], start), settings)
    # Matches with the matcher's padding, left of the right image, are meaningless.
    coarse[np.arange(size[0]) - coarse < 0] = np.nan
    known = np.sort(coarse[np.isfinite(coarse)])
    needed = max(1, int(SUPPORT * coarse.size))
    if known.size < needed:  # nothing matches: any range will do
        return min(STEP, width - 1)
    farthest = (float(known[-needed]) + 1.0) / shrink - low
    count = int(np.ceil(farthest * MARGIN / STEP)) * STEP
    return max(1, min(count, width - low))
