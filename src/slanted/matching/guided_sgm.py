"""Semi-global matching that searches only what is expected: `census_sgm` on a `SearchGrid`.

With a grid of whole ranges the result is that of `slanted.matching.census_sgm`, byte by byte.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from slanted.matching import Matches
from slanted.matching.census_sgm import clean_up, grey_view
from slanted.matching.search_grid import SIDE
from slanted.matching.search_grid_kernels import (
    grid_path_state,
    square_costs,
    square_winners,
    sweep_squares,
)
from slanted.matching.sgm_kernels import path_steps
from slanted.matching.sgm_paths import cost_inputs, penalties, volume
from slanted.matching.winner_kernels import AGREES, agreement_rows
from slanted.runtime.arrays import Bytes
from slanted.runtime.threads import bind, share, together

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from slanted.matching import DisparityRange
    from slanted.matching.search_grid import SearchGrid
    from slanted.settings import CensusSettings, MatchingSettings


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
    shape, census = views[0].shape, settings.census
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
    disparity = np.where(agrees & unique, winner, np.float32(np.nan))
    clean_up(disparity, searched, settings)
    confidence = np.where(np.isnan(disparity), np.float32(0), margin)
    return Matches(disparity, confidence, winner, agrees, margin)


def _sum_paths(
    views: tuple[Bytes, Bytes],
    grid: SearchGrid,
    settings: CensusSettings,
    sums: NDArray[np.uint16],
) -> None:
    """Write the sums of the costs along all paths; see `slanted.matching.sgm_paths.sum_paths`."""
    (height, width), arrays = views[0].shape, grid.arrays()
    words, weights = cost_inputs(*views, settings)
    costs = np.empty(grid.cells, np.uint8)
    share(len(grid.low), bind(square_costs, (*words, *weights, *arrays), costs))
    share(len(sums), lambda first, last: sums[first:last].fill(0))
    steps, penalty = path_steps(settings.paths), penalties(settings)
    middle = len(grid.low) // 2 * SIDE
    halves = (0, middle), (middle, height)
    states = {way: grid_path_state(steps, width, grid.most) for way in (1, -1)}

    def sweep(direction: int, rows: tuple[int, int]) -> None:
        inputs = costs, views[0], settings.p1, penalty, direction, *arrays, *rows, steps
        sweep_squares(*inputs, *states[direction], sums)

    # Two threads share one volume but never a row of squares of it.
    for upper, lower in (halves, halves[::-1]):
        together(lambda: sweep(1, upper), lambda: sweep(-1, lower))  # noqa: B023
