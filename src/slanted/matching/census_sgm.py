"""Semi-global matching on census and gradient costs, faster and more accurate than OpenCV's.

The cost of a pixel and a disparity is the Hamming distance of census words (Zabih & Woodfill, ECCV
1994) plus the difference of capped x-gradients, averaged over 5×5 pixels. It is summed along 4, 8
or 16 paths with penalties that depend on grey differences (Hirschmüller, "Stereo Processing by
Semiglobal Matching and Mutual Information", PAMI 2008). The result is the same, byte by byte, for
any number of threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from slanted.images.colour import as_grey
from slanted.matching import Matches
from slanted.matching.interpolation import interpolate_background
from slanted.matching.sgm_paths import make_costs, sum_paths, volume
from slanted.matching.winner_kernels import (
    AGREES,
    MISMATCHED,
    OCCLUDED,
    agreement_rows,
    winner_rows,
)
from slanted.runtime.arrays import Bytes, DisparityMap, Flags
from slanted.runtime.opencv import cv2
from slanted.runtime.threads import bind, share

if TYPE_CHECKING:
    from slanted.matching import DisparityRange
    from slanted.settings import MatchingSettings

BYTES_A_CELL = 2
"""Memory per pixel and disparity: a sum of 16 bits."""
BAND_BYTES = 1536 * 2**20
"""Memory above which a volume is cut into horizontal bands."""
OVERLAP = 64
"""Rows that a band sees beyond each of its ends; by then paths do not depend on their start."""
FIXED_POINT = 16
"""The speckle filter works on 1/16 pixel, or coarser for ranges that would not fit 16 bits."""


@dataclass(frozen=True)
class Details:
    """The disparity of the matcher, and why pixels have none."""

    winner: DisparityMap
    """(H, W) pixels: the disparity of the least sum, before any filter."""
    agrees: Flags
    """(H, W) whether the winner passes the left-right check."""
    disparity: DisparityMap
    """(H, W) pixels, NaN where the filters leave none."""
    margin: DisparityMap
    """(H, W) 1 − winner's cost / runner up's cost."""
    occluded: Flags
    """(H, W) pixels that fail the left-right check because the right image does not see them."""
    mismatched: Flags
    """(H, W) pixels that fail the left-right check because they were matched wrongly."""


def match(
    left: Bytes, right: Bytes, searched: DisparityRange, settings: MatchingSettings
) -> Matches:
    """Match an 8-bit pair; see `slanted.matching` for the interface."""
    found = match_details(left, right, searched, settings)
    confidence = np.where(np.isnan(found.disparity), np.float32(0), found.margin)
    return Matches(found.disparity, confidence, found.winner, found.agrees, found.margin)


def match_details(
    left: Bytes, right: Bytes, searched: DisparityRange, settings: MatchingSettings
) -> Details:
    """Match an 8-bit pair; also return the margins of the winners and why some failed.

    Parameters
    ----------
    left, right
        Bytes or RGB images of equal size.
    searched
        The disparities to search.
    settings
        Section ``matching``, whose subsection ``census`` is this matcher's.

    Notes
    -----
    Pairs whose volumes would exceed `BAND_BYTES` are matched in overlapping bands of rows. This is
    an approximation near the seams, where paths start `OVERLAP` rows away. The bands depend on the
    image size and the range only.
    """
    shape = left.shape[:2]
    found = Details(
        np.empty(shape, np.float32),
        np.empty(shape, np.bool_),
        np.empty(shape, np.float32),
        np.empty(shape, np.float32),
        np.empty(shape, np.bool_),
        np.empty(shape, np.bool_),
    )
    for core, seen in bands(shape[0], shape[1], len(searched)):
        views = grey_view(left[seen], settings), grey_view(right[seen], settings)
        band = _match_band(*views, searched, settings)
        inside = slice(core.start - seen.start, core.stop - seen.start)
        for name, values in vars(band).items():
            getattr(found, name)[core] = values[inside]
    clean_up(found.disparity, searched, settings)
    return found


def match_rows(
    left: Bytes, right: Bytes, searched: DisparityRange, settings: MatchingSettings
) -> Matches:
    """Match one band of an 8-bit pair as `match` does, without the clean-up."""
    views = grey_view(left, settings), grey_view(right, settings)
    band = _match_band(*views, searched, settings)
    return Matches(band.disparity, band.margin)


def clean_up(disparity: DisparityMap, searched: DisparityRange, settings: MatchingSettings) -> None:
    """Drop speckles and apply the median filter, in place."""
    if settings.speckle_size:
        drop_speckles(disparity, searched, settings.speckle_size, settings.speckle_range)
    if settings.census.median:
        take_medians(disparity, settings.census.median)


def bands(height: int, width: int, disparities: int) -> Iterator[tuple[slice, slice]]:
    """Yield the rows whose disparity each band gives, and the rows that it sees."""
    rows = max(BAND_BYTES // (width * disparities * BYTES_A_CELL), 3 * OVERLAP)
    count = 1 if height <= rows else -(-height // (rows - 2 * OVERLAP))
    for k in range(count):
        first, last = height * k // count, height * (k + 1) // count
        yield slice(first, last), slice(max(first - OVERLAP, 0), min(last + OVERLAP, height))


def drop_speckles(disparity: DisparityMap, searched: DisparityRange, size: int, step: int) -> None:
    """Make small patches of similar disparity unknown, in place."""
    scale = max(1, min(FIXED_POINT, 32000 // len(searched)))
    fixed = np.empty(disparity.shape, np.int16)

    def scaled(first: int, last: int) -> None:
        values = np.rint((disparity[first:last] - searched.low) * scale)
        values[np.isnan(values)] = -1
        fixed[first:last] = values

    def dropped(first: int, last: int) -> None:
        np.copyto(disparity[first:last], np.nan, where=fixed[first:last] == -1)

    share(len(fixed), scaled)
    cv2.filterSpeckles(fixed, -1, size, step * scale)
    share(len(fixed), dropped)


def take_medians(disparity: DisparityMap, side: int) -> None:
    """Replace known disparities by medians, in place; holes count as background."""
    known = np.isfinite(disparity)
    if not known.any():
        return
    filled, reach = interpolate_background(disparity), side // 2

    def some(first: int, last: int) -> None:
        top, rows = max(first - reach, 0), slice(first, last)
        medians = cv2.medianBlur(filled[top : last + reach], side)[first - top : last - top]
        np.copyto(disparity[rows], medians, where=known[rows])

    share(len(filled), some)


def grey_view(image: Bytes, settings: MatchingSettings) -> Bytes:
    """Return what the costs compare; `find_matches` decides on a smoothing that is auto."""
    grey = np.ascontiguousarray(as_grey(image), np.uint8)
    smoothing = settings.census.smoothing
    return np.asarray(cv2.GaussianBlur(grey, (0, 0), smoothing)) if smoothing else grey


def _match_band(
    left: Bytes, right: Bytes, searched: DisparityRange, settings: MatchingSettings
) -> Details:
    low, high, shape = searched.low, searched.high, left.shape
    winners = np.empty(shape, np.int32), np.empty(shape, np.int32)
    winner, confidence = np.empty(shape, np.float32), np.empty(shape, np.float32)
    unique = np.empty(shape, np.bool_)
    outputs = (*winners, winner, confidence, unique)
    census = settings.census
    with volume((*shape, len(searched)), np.uint16) as sums:
        costs = make_costs(left, right, searched, census)
        sum_paths(costs, left, census, sums)
        del costs
        chosen = (sums, low, census.uniqueness, census.contrast, census.rival)
        share(len(left), bind(winner_rows, chosen, *outputs))
    state = np.full(shape, AGREES, np.uint8)
    threshold = settings.left_right_threshold
    if threshold:
        share(len(left), bind(agreement_rows, (*winners, low, high, threshold), state))
    agrees = state == AGREES
    disparity = np.where(agrees & unique, winner, np.float32(np.nan))
    return Details(winner, agrees, disparity, confidence, state == OCCLUDED, state == MISMATCHED)
