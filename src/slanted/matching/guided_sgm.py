"""Semi-global matching that searches only what is expected: `census_sgm` on a `SearchGrid`.

With a grid of whole ranges the result is that of `slanted.matching.census_sgm`, byte by byte.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from slanted.images.blocks import whole_blocks
from slanted.images.colour import as_8_bit, as_grey
from slanted.matching import DisparityRange, Matches, find_matches
from slanted.matching.census_sgm import clean_up, grey_view
from slanted.matching.noise import follow_noise
from slanted.matching.out_of_view import drop_impossible
from slanted.matching.search_bands import BYTES_A_CELL, EVERY_MAP, in_turn, match_in_bands
from slanted.matching.search_grid import (
    SIDE,
    STEP,
    THIN,
    expected_grid,
    whole_grid,
)
from slanted.matching.search_grid_kernels import (
    grid_path_state,
    square_costs,
    sweep_squares,
)
from slanted.matching.sgm_kernels import path_steps
from slanted.matching.sgm_paths import cost_inputs, penalties, volume
from slanted.matching.square_winner_kernels import square_winners
from slanted.matching.winner_kernels import AGREES, agreement_rows
from slanted.runtime.arrays import Bytes, DisparityMap
from slanted.runtime.opencv import cv2
from slanted.runtime.threads import bind, share, together

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from slanted.images import Image
    from slanted.matching.search_bands import Ask, Maps, SquareBand
    from slanted.matching.search_grid import SearchGrid
    from slanted.settings import CensusSettings, MatchingSettings


MARGIN = 4.0
"""Disparities, in pixels, that are searched beyond what is expected."""
COARSE_MARGIN = 3.0
"""The same in pixels of a smaller pair."""
COARSE_SPECKLE = 20
"""Patches of up to so many pixels of a coarse match tell nothing."""
MOST_AT_FIRST = 256
"""Most disparities of the smallest pair, which searches its whole range. With 64, a pair of 30
megapixels with 1,000 disparities would be matched in 0.94 of the time, but bars 12 pixels wide, of
which a start at a quarter of the size keeps nine tenths, would be lost by half."""
LEAST_SIDE = 48
"""No pair is made smaller than this many rows or columns, unless it is a quarter of the size."""


def match_coarsely(
    left: Bytes,
    right: Bytes,
    searched: DisparityRange,
    settings: MatchingSettings,
    times: int = 1,
) -> Matches:
    """Match an 8-bit pair quickly, to know where to search.

    Parameters
    ----------
    left, right, searched, settings
        As for `match_expected`.
    times
        How many times the pair will be enlarged to be matched.

    Returns
    -------
    matches
        At every `THIN`-th pixel of every `THIN`-th row of the enlarged pair, with its disparities.
    """
    small, coarse, rules = _smaller(left, right, searched, settings, THIN, times)
    grid, wanted = whole_grid(small[0].shape, coarse), ("disparity",)
    found = match_expected(*small, grid, coarse, rules, wanted)
    scale = np.float32(left.shape[1] * times / small[0].shape[1])
    return replace(found, disparity=found.disparity * scale)


def is_guided(settings: MatchingSettings, searched: DisparityRange) -> bool:
    """Return whether smaller pairs guide the search: few disparities are searched as they are."""
    return settings.method == "census" and settings.census.guided and len(searched) > STEP


def expect(
    left: Bytes,
    right: Bytes,
    searched: DisparityRange,
    settings: MatchingSettings,
    ask: Ask = in_turn,
) -> list[DisparityMap]:
    """Return what to search in an 8-bit pair, for `find_expected`.

    These are the first choices at a quarter of the size, and at half of it where those lead. Right
    or wrong, they are where the whole range would be decided; at a quarter alone, what is thin is
    lost (errors above 2 px on Middlebury's test scenes are 2.28 % instead of 2.10 %). Wide ranges
    start at a smaller size, and each size is led by the two before it.
    """
    side, winners = _first_side(left.shape, searched), dict[int, DisparityMap]()
    while side > 1:
        small, coarse, rules = _smaller(left, right, searched, settings, side)
        leads, shape = _leads(winners, side), small[0].shape
        grid = (
            expected_grid(shape, leads, COARSE_MARGIN, coarse)
            if leads and len(coarse) > STEP
            else whole_grid(shape, coarse)
        )
        wanted = ("winner",)
        found = match_in_bands(small, grid, coarse, rules, match_squares, wanted, ask)["winner"]
        winners[side] = found * np.float32(left.shape[1] / shape[1])
        side //= 2
    return _leads(winners, 1)


def _first_side(shape: tuple[int, ...], searched: DisparityRange) -> int:
    """Return how many times smaller the pair is that searches its whole range."""
    side = THIN
    while len(searched) > MOST_AT_FIRST * side and min(shape[:2]) >= 2 * side * LEAST_SIDE:
        side *= 2
    return side


def _leads(winners: dict[int, DisparityMap], side: int) -> list[DisparityMap]:
    """Return what pairs that are two and four times smaller let expect of one at 1 / `side`."""
    far, near = winners.get(4 * side), winners.get(2 * side)
    maps = [] if far is None else [far]
    maps += [] if near is None else _of_blocks(near)
    return maps if side == 1 else [each / np.float32(side) for each in maps]


def _smaller(
    left: Bytes,
    right: Bytes,
    searched: DisparityRange,
    settings: MatchingSettings,
    side: int,
    times: int = 1,
) -> tuple[tuple[Bytes, Bytes], DisparityRange, MatchingSettings]:
    """Return the pair in grey, enlarged and made `side` times smaller, its range and settings."""
    height, width = left.shape[:2]
    size = -(-width * times // side), -(-height * times // side)

    def reduced(view: Bytes) -> Bytes:
        small: Bytes = cv2.resize(as_grey(view), size, interpolation=cv2.INTER_AREA)
        return small

    one, other = together(partial(reduced, left), partial(reduced, right))
    low, high = math.floor(searched.low * times / side), math.ceil(searched.high * times / side)
    rules = replace(settings, speckle_size=COARSE_SPECKLE, census=_for_small(settings.census, side))
    return (one, other), DisparityRange(low, max(high, low + 1)), rules


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
    wanted: tuple[str, ...] = EVERY_MAP,
    ask: Ask = in_turn,
    margin: float = MARGIN,
) -> Matches:
    """Match a pair as `find_matches` does, but search only what is expected.

    Parameters
    ----------
    left, right, settings, searched
        As for `find_matches`.
    expected
        As for `expected_grid`.
    wanted, ask
        As for `match_expected`.
    margin
        Disparities, in pixels, that are searched beyond what is expected.
    """
    left8, right8 = as_8_bit(left, right)
    if len(searched) <= STEP:  # what is asked for is no more than the least that squares search
        return find_matches(left8, right8, settings, searched)
    grid = expected_grid(left8.shape, expected, margin, searched)
    rules = follow_noise(left8, right8, settings)
    found = match_expected(left8, right8, grid, searched, rules, wanted, ask)
    drop_impossible(found.disparity, found.confidence, settings)
    return found


def match_expected(
    left: Bytes,
    right: Bytes,
    grid: SearchGrid,
    searched: DisparityRange,
    settings: MatchingSettings,
    wanted: tuple[str, ...] = EVERY_MAP,
    ask: Ask = in_turn,
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
    wanted, ask
        As for `match_in_bands`; without ``margin`` there is no confidence.
    """
    views = grey_view(left, settings), grey_view(right, settings)
    found = match_in_bands(views, grid, searched, settings, match_squares, wanted, ask)
    disparity, margin = found["disparity"], found.get("margin")
    clean_up(disparity, searched, settings)
    confidence = None
    if margin is not None:
        confidence = np.where(np.isnan(disparity), np.float32(0), margin)
    return Matches(disparity, confidence, found.get("winner"), found.get("agrees"), margin)


def match_squares(band: SquareBand) -> Maps:
    """Match a band, without the clean-up."""
    grid, searched, settings = band.grid, band.searched, band.settings
    census, shape = settings.census, band.left.shape
    winners = np.empty(shape, np.int32), np.empty(shape, np.int32)
    winner, margin = np.empty(shape, np.float32), np.empty(shape, np.float32)
    unique = np.empty(shape, np.bool_)
    # New memory takes as long to touch as costs to compute, so both volumes are kept, as one.
    with volume((BYTES_A_CELL * grid.cells,), np.uint8) as memory:
        costs, sums = memory[2 * grid.cells :], memory[: 2 * grid.cells].view(np.uint16)
        _sum_paths((band.left, band.right), grid, census, costs, sums)
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
    maps = {"disparity": disparity, "winner": winner, "agrees": agrees, "margin": margin}
    return {name: maps[name][band.core] for name in band.wanted}


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
    costs: Bytes,
    sums: NDArray[np.uint16],
) -> None:
    """Write the costs and their sums along all paths; see `sgm_paths.sum_paths`."""
    arrays = grid.arrays()
    (left, right, *gradients), weights = cost_inputs(*views, settings)
    before, after = max(0, -int(grid.low.min())) + SIDE, grid.reach + SIDE
    right, gradient = (_mirrored(each, before, after) for each in (right, gradients[1]))
    words = left, right, gradients[0], gradient, before
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
