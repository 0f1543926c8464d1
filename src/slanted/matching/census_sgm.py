"""Semi-global matching on census and gradient costs, faster and more accurate than OpenCV's.

The cost of a pixel and a disparity is the Hamming distance of census words (Zabih & Woodfill, ECCV
1994) plus the difference of capped x-gradients, averaged over 5×5 pixels. It is summed along 4, 8
or 16 paths with penalties that depend on grey differences (Hirschmüller, "Stereo Processing by
Semiglobal Matching and Mutual Information", PAMI 2008). Each square of a `SearchGrid` searches a
range of its own, or all the whole range. The result is the same, byte by byte, for any number of
threads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from slanted.images.colour import as_grey
from slanted.matching import Matches
from slanted.matching.interpolation import interpolate_background
from slanted.matching.out_of_view import doubt_unknown
from slanted.matching.search_bands import (
    BYTES_A_CELL,
    EVERY_MAP,
    SquareBand,
    in_turn,
    square_bands,
)
from slanted.matching.search_grid import SIDE, SearchGrid, whole_grid
from slanted.matching.sgm_paths import keep_volumes, sum_paths, volume
from slanted.matching.winner_kernels import AGREES, agreement_rows, square_winners
from slanted.runtime.arrays import Bytes, DisparityMap, Flags, Ints
from slanted.runtime.opencv import cv2
from slanted.runtime.threads import bind, lend_threads, share

if TYPE_CHECKING:
    from slanted.matching import DisparityRange
    from slanted.matching.search_bands import Ask, Maps
    from slanted.settings import MatchingSettings

FIXED_POINT = 16
"""The speckle filter works on 1/16 pixel, or coarser for ranges that would not fit 16 bits."""


def match(
    left: Bytes, right: Bytes, searched: DisparityRange, settings: MatchingSettings
) -> Matches:
    """Match an 8-bit pair; see `slanted.matching` for the interface."""
    return match_grid(left, right, whole_grid(left.shape, searched), searched, settings)


def match_grid(
    left: Bytes,
    right: Bytes,
    grid: SearchGrid,
    searched: DisparityRange,
    settings: MatchingSettings,
    wanted: tuple[str, ...] = EVERY_MAP,
    ask: Ask = in_turn,
) -> Matches:
    """Match an 8-bit pair whose squares search what a grid tells.

    Parameters
    ----------
    left, right
        Grey or RGB images of equal size.
    grid
        What each square searches.
    searched
        The range that contains all of it, up to the next multiple of `search_grid.STEP`. The result
        is that of a search of this range and no more.
    settings
        Section ``matching``, whose subsection ``census`` is the matcher's.
    wanted, ask
        As for `match_in_bands`; without ``margin`` there is no confidence.

    Notes
    -----
    Pairs whose volumes would exceed `search_bands.BAND_BYTES` are matched in overlapping bands of
    rows. This is an approximation near the seams. The bands depend on the grid only.
    """
    views = grey_view(left, settings), grey_view(right, settings)
    found = match_in_bands(views, grid, searched, settings, wanted, ask)
    disparity, margin = found["disparity"], found.get("margin")
    clean_up(disparity, searched, settings)
    confidence = None
    if margin is not None:
        confidence = margin.copy()
        doubt_unknown(confidence, disparity)
    return Matches(disparity, confidence, found.get("winner"), found.get("agrees"), margin)


def match_in_bands(
    views: tuple[Bytes, Bytes],
    grid: SearchGrid,
    searched: DisparityRange,
    settings: MatchingSettings,
    wanted: tuple[str, ...] = EVERY_MAP,
    ask: Ask = in_turn,
) -> Maps:
    """Match a pair band by band.

    Parameters
    ----------
    views
        What the costs compare, in grey.
    grid, searched, settings
        As for `match_grid`.
    wanted
        Names of the maps to return.
    ask
        Has the bands matched, perhaps by workers.
    """
    bands, height = square_bands(grid), len(views[0])

    def rows_of(squares: slice) -> slice:
        return slice(squares.start * SIDE, min(squares.stop * SIDE, height))

    def task(number: int) -> SquareBand:
        core, seen = bands[number]
        rows, inner = rows_of(seen), rows_of(core)
        part = SearchGrid(grid.low[seen], grid.count[seen])
        inside = slice(inner.start - rows.start, inner.stop - rows.start)
        pair = views[0][rows], views[1][rows]
        return SquareBand(*pair, part, inside, searched, settings, wanted)

    whole: Maps = {}
    with keep_volumes():
        for number, maps in ask(match_squares, task, len(bands)):
            if len(bands) == 1:
                return maps
            for name, values in maps.items():
                if name not in whole:
                    whole[name] = np.empty(views[0].shape, values.dtype)
                whole[name][rows_of(bands[number][0])] = values
    return whole


def match_squares(band: SquareBand) -> Maps:
    """Return maps of a band, without the clean-up.

    These are the ``disparity`` that passes the tests, the ``winner`` before them and whether it
    ``agrees`` with the right view, its ``margin``, which is 1 − its cost / that of the runner up,
    and, only if wanted, its ``state``: `AGREES`, or why it does not, `OCCLUDED` or `MISMATCHED`.
    """
    grid, searched, settings = band.grid, band.searched, band.settings
    census, shape, low, high = settings.census, band.left.shape, searched.low, searched.high
    winners = np.empty(shape, np.int32), np.empty(shape, np.int32)
    winner, margin = np.empty(shape, np.float32), np.empty(shape, np.float32)
    unique = np.empty(shape, np.bool_)
    # New memory takes as long to touch as costs to compute, so both volumes are kept, as one.
    with volume((BYTES_A_CELL * grid.cells,), np.uint8) as memory:
        costs, sums = memory[2 * grid.cells :], memory[: 2 * grid.cells].view(np.uint16)
        sum_paths((band.left, band.right), grid, high, census, costs, sums)
        is_tested = bool(set(band.wanted) - {"winner"})  # a winner alone needs no tests
        tests = (census.uniqueness, census.contrast, census.rival) if is_tested else (0, 0, 0)
        outputs = (*winners, winner, margin, unique)
        chosen = (sums, *grid.arrays(), low, high, *tests)
        share(shape[0], bind(square_winners, chosen, *outputs), pieces=4)
    maps: Maps = {"winner": winner, "margin": margin}
    if is_tested:
        maps |= _checked(band, *winners, winner, unique)
    return {name: maps[name][band.core] for name in band.wanted}


def _checked(
    band: SquareBand, left: Ints, right: Ints, winner: DisparityMap, unique: Flags
) -> Maps:
    """Return the maps of a band that tell which winners pass the tests."""
    shape, low, threshold = winner.shape, band.searched.low, band.settings.left_right_threshold
    # In an empty range nothing tells why a pixel fails the check.
    high = band.searched.high if "state" in band.wanted else low
    state, agrees = np.full(shape, AGREES, np.uint8), np.empty(shape, np.bool_)
    disparity = np.empty(shape, np.float32)

    def check(first: int, last: int) -> None:
        rows = slice(first, last)
        if threshold:
            agreement_rows(left, right, low, high, threshold, first, last, state)
        np.equal(state[rows], AGREES, out=agrees[rows])
        passes = agrees[rows] & unique[rows]
        disparity[rows] = np.where(passes, winner[rows], np.float32(np.nan))

    share(shape[0], check)
    return {"disparity": disparity, "agrees": agrees, "state": state}


def clean_up(disparity: DisparityMap, searched: DisparityRange, settings: MatchingSettings) -> None:
    """Drop speckles and apply the median filter, in place."""
    if settings.speckle_size:
        drop_speckles(disparity, searched, settings.speckle_size, settings.speckle_range)
    if settings.census.median:
        take_medians(disparity, settings.census.median)


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
    lend_threads()
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
