"""Semi-global matching that searches only what is expected: `census_sgm` on a `SearchGrid`.

With a grid of whole ranges the result is that of `slanted.matching.census_sgm`, byte by byte.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from slanted.images.colour import as_8_bit, as_grey
from slanted.matching import DisparityRange, Matches, find_matches
from slanted.matching.census_sgm import clean_up, grey_view
from slanted.matching.noise import follow_noise
from slanted.matching.out_of_view import drop_impossible
from slanted.matching.search_grid import (
    SIDE,
    STEP,
    THIN,
    expected_grid,
    whole_blocks,
    whole_grid,
)
from slanted.matching.search_grid_kernels import (
    grid_path_state,
    square_costs,
    square_winners,
    sweep_squares,
)
from slanted.matching.sgm_kernels import path_steps
from slanted.matching.sgm_paths import cost_inputs, penalties, volume
from slanted.matching.winner_kernels import AGREES, agreement_rows
from slanted.runtime.arrays import Bytes, DisparityMap
from slanted.runtime.opencv import cv2
from slanted.runtime.threads import bind, share, together

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from slanted.images import Image
    from slanted.matching.search_grid import SearchGrid
    from slanted.settings import CensusSettings, MatchingSettings


MARGIN = 4.0
"""Disparities, in pixels, that are searched beyond what is expected."""
COARSE_MARGIN = 3.0
"""The same in pixels of a smaller pair."""
COARSE_SPECKLE = 20
"""Patches of up to so many pixels of a coarse match tell nothing."""


def match_coarsely(
    left: Bytes,
    right: Bytes,
    searched: DisparityRange,
    settings: MatchingSettings,
    times: int = 1,
    side: int = THIN,
    expected: list[DisparityMap] | None = None,
) -> Matches:
    """Match an 8-bit pair quickly, to know where to search.

    Parameters
    ----------
    left, right, searched, settings
        As for `match_expected`.
    times
        How many times the pair will be enlarged to be matched.
    side
        How many times smaller than that it is matched now.
    expected
        What to search, as for `expected_grid` and in pixels of the smaller pair; by default all.

    Returns
    -------
    matches
        At every `side`-th pixel of every `side`-th row of the enlarged pair, with its disparities.
    """
    height, width = left.shape[:2]
    size = -(-width * times // side), -(-height * times // side)
    small = [
        cv2.resize(as_grey(view), size, interpolation=cv2.INTER_AREA) for view in (left, right)
    ]
    rules = replace(settings, speckle_size=COARSE_SPECKLE, census=_for_small(settings.census, side))
    low, high = math.floor(searched.low * times / side), math.ceil(searched.high * times / side)
    coarse = DisparityRange(low, max(high, low + 1))
    grid = (
        whole_grid(small[0].shape, coarse)
        if expected is None or len(coarse) <= STEP
        else expected_grid(small[0].shape, expected, COARSE_MARGIN, coarse)
    )
    found = match_expected(small[0], small[1], grid, coarse, rules)
    assert found.winner is not None
    scale = np.float32(width * times / size[0])
    return replace(found, disparity=found.disparity * scale, winner=found.winner * scale)


def expect(
    left: Bytes, right: Bytes, searched: DisparityRange, settings: MatchingSettings
) -> list[DisparityMap]:
    """Return what to search in an 8-bit pair, for `find_expected`.

    These are the first choices at a quarter of the size, and at half of it where those lead. Right
    or wrong, they are where the whole range would be decided; at a quarter alone, what is thin is
    lost (errors above 2 px on Middlebury's test scenes are 2.28 % instead of 2.10 %).
    """
    quarter = match_coarsely(left, right, searched, settings)
    assert quarter.winner is not None
    leads = [each / np.float32(2) for each in _of_blocks(quarter.winner)]
    half = match_coarsely(left, right, searched, settings, side=THIN // 2, expected=leads)
    assert half.winner is not None
    return [quarter.winner, *_of_blocks(half.winner)]


def _of_blocks(values: DisparityMap) -> list[DisparityMap]:
    """Return four maps of half the size, one for each pixel of blocks of 2 × 2 pixels."""
    whole = whole_blocks(values, 2)
    return [whole[i::2, j::2] for i in (0, 1) for j in (0, 1)]


def _for_small(census: CensusSettings, side: int) -> CensusSettings:
    """Return the settings for a pair that is `side` times smaller.

    A thing has `side` times fewer pixels there for each pixel of its outline. With the same
    penalties a thing that is new would have to be `side` times as large to be seen.
    """
    p1, p2, p2_min = (max(1, p // side) for p in (census.p1, census.p2, census.p2_min))
    return replace(census, smoothing=0.0, p1=p1, p2=max(p1, p2), p2_min=max(p1, p2_min))


def find_expected(
    left: Image,
    right: Image,
    settings: MatchingSettings,
    searched: DisparityRange,
    expected: list[DisparityMap],
) -> Matches:
    """Match a pair as `find_matches` does, but search only what is expected.

    Parameters
    ----------
    left, right, settings, searched
        As for `find_matches`.
    expected
        As for `expected_grid`.
    """
    left8, right8 = as_8_bit(left, right)
    if len(searched) <= STEP:  # what is asked for is no more than the least that squares search
        return find_matches(left8, right8, settings, searched)
    grid = expected_grid(left8.shape, expected, MARGIN, searched)
    rules = follow_noise(left8, right8, settings)
    found = match_expected(left8, right8, grid, searched, rules)
    drop_impossible(found.disparity, found.confidence, settings)
    return found


def match_expected(
    left: Bytes,
    right: Bytes,
    grid: SearchGrid,
    searched: DisparityRange,
    settings: MatchingSettings,
) -> Matches:
    """Match an 8-bit pair.

    Parameters
    ----------
    left, right
        Grey or RGB images of equal size.
    grid
        What each square searches.
    searched
        The range that contains all of it.
    settings
        Section ``matching``, whose subsection ``census`` is the matcher's.
    """
    views = grey_view(left, settings), grey_view(right, settings)
    census, shape = settings.census, views[0].shape
    winners = np.empty(shape, np.int32), np.empty(shape, np.int32)
    winner, margin = np.empty(shape, np.float32), np.empty(shape, np.float32)
    unique = np.empty(shape, np.bool_)
    with volume((grid.cells,), np.uint16) as sums:
        _sum_paths(views, grid, census, sums)
        tests = searched.low, census.uniqueness, census.contrast, census.rival
        outputs = (*winners, winner, margin, unique)
        share(shape[0], bind(square_winners, (sums, *grid.arrays(), *tests), *outputs))
    state = np.full(shape, AGREES, np.uint8)
    if threshold := settings.left_right_threshold:
        # An empty range: why a pixel fails the check is not asked.
        checked = *winners, searched.low, searched.low, threshold
        share(shape[0], bind(agreement_rows, checked, state))
    agrees = state == AGREES
    if len(searched) % STEP:  # squares search a little more
        unique &= (winner >= searched.low) & (winner < searched.high)
        np.clip(winner, searched.low, searched.high - 1, out=winner)
    disparity = np.where(agrees & unique, winner, np.float32(np.nan))
    clean_up(disparity, searched, settings)
    confidence = np.where(np.isnan(disparity), np.float32(0), margin)
    return Matches(disparity, confidence, winner, agrees, margin)


def _mirrored(view: NDArray[Any], before: int, after: int) -> NDArray[Any]:
    """Return the mirrored rows of a view, which a rising disparity walks forward.

    Their ends are repeated as far as any square searches.
    """
    height, width = view.shape
    rows = np.empty((height, before + width + after), view.dtype)
    rows[:, before : before + width] = view[:, ::-1]
    rows[:, :before], rows[:, before + width :] = view[:, -1:], view[:, :1]
    return rows


def _sum_paths(
    views: tuple[Bytes, Bytes],
    grid: SearchGrid,
    settings: CensusSettings,
    sums: NDArray[np.uint16],
) -> None:
    """Write the sums of the costs along all paths; see `slanted.matching.sgm_paths.sum_paths`."""
    arrays = grid.arrays()
    (left, right, *gradients), weights = cost_inputs(*views, settings)
    before, after = max(0, -int(grid.low.min())) + SIDE, grid.reach + SIDE
    right, gradient = (_mirrored(each, before, after) for each in (right, gradients[1]))
    words = left, right, gradients[0], gradient, before
    costs = np.empty(grid.cells, np.uint8)
    share(len(grid.low), bind(square_costs, (*words, *weights, *arrays), costs))
    share(len(sums), lambda first, last: sums[first:last].fill(0))
    steps, penalty = path_steps(settings.paths), penalties(settings)
    height, width = views[0].shape
    middle = len(grid.low) // 2 * SIDE
    halves = (0, middle), (middle, height)
    states = {way: grid_path_state(steps, width, grid.most) for way in (1, -1)}

    def sweep(direction: int, rows: tuple[int, int]) -> None:
        inputs = costs, views[0], settings.p1, penalty, direction, *arrays, *rows, steps
        sweep_squares(*inputs, *states[direction], sums)

    # Two threads share one volume but never a row of squares of it.
    for upper, lower in (halves, halves[::-1]):
        together(partial(sweep, 1, upper), partial(sweep, -1, lower))
