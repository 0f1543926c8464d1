"""Numba kernels of matching on a `SearchGrid`: winners, as `winner_kernels` has them."""

from __future__ import annotations

import numpy as np

from slanted.matching.lane_kernels import (
    LANES,
    better_lanes,
    first_lane,
    least_lane,
    most_lane,
    second_lane,
    sum_lanes,
)
from slanted.matching.search_grid import SIDE
from slanted.matching.sgm_kernels import Sums
from slanted.matching.winner_kernels import (
    NONE,
    _has_rival,
    _stands_out,
    _update_right,
)
from slanted.runtime.arrays import DisparityMap, Flags, Ints, Starts
from slanted.runtime.kernel import kernel


@kernel(inline="always")
def _best_two(sums: Sums, first: int, parts: int) -> tuple[int, int, int, int]:
    """Return the least sum of a pixel, where it comes first, the runner up's and the largest."""
    cell, least, most = np.uint64(first), np.uint16(NONE), np.uint16(0)
    for part in range(parts):
        place = cell + np.uint64(part * LANES)
        least, most = min(least, least_lane(sums, place)), max(most, most_lane(sums, place))
    winner = np.int64(0)
    while True:
        lane = first_lane(sums, cell + np.uint64(winner), least)
        winner += np.int64(lane)
        if lane < LANES:
            break
    second = np.uint16(NONE)
    for part in range(parts):
        place = cell + np.uint64(part * LANES)
        second = min(second, second_lane(sums, place, np.uint16(winner - part * LANES)))
    # Signed: differences of these may be negative.
    return np.int64(least), winner, np.int64(second), np.int64(most)  # type: ignore[return-value]


@kernel
def square_winners(
    sums: Sums,
    low: Ints,
    count: Ints,
    start: Starts,
    lowest: int,
    uniqueness: int,
    contrast: int,
    rival: int,
    first: int,
    last: int,
    left: Ints,
    right: Ints,
    disparity: DisparityMap,
    confidence: DisparityMap,
    unique: Flags,
) -> None:
    """Write the winners of some rows of both views, as `winner_rows` does.

    Parameters
    ----------
    sums
        The volume of sums.
    low, count, start
        `SearchGrid.arrays`.
    lowest
        The smallest disparity of all squares.
    uniqueness, contrast, rival, first, last, left, right, disparity, confidence, unique
        As for `winner_rows`; a pixel has the disparities of its square only.
    """
    width = left.shape[1]
    best, layer = np.empty(width, np.uint16), np.empty(width, np.int16)
    known = np.empty((4, width), np.int32)  # sums: the winner's, the runner up's, both neighbours'
    for y in range(first, last):
        best[:] = NONE
        layer[:] = lowest - 1
        row = y // SIDE
        for column in range(count.shape[1]):
            layers, base = int(count[row, column]), int(low[row, column])
            cell = start[row, column] + (y - row * SIDE) * SIDE * layers
            for x in range(column * SIDE, min((column + 1) * SIDE, width)):
                least, winner, second, most = _best_two(sums, cell, layers // LANES)
                begin, end = max(0, x - base - width + 1), min(layers, x - base + 1)
                whole = begin == 0 and end == layers
                clear = second == NONE or (
                    second > least and second * 100 >= least * (100 + uniqueness)
                )
                if clear and least * 100 > contrast * second and contrast:
                    if whole:
                        clear = _all_stand_out(sums, cell, layers, least, winner, contrast)
                    else:
                        pixel = sums[cell : cell + layers]
                        clear = _stands_out(pixel, least, winner, begin, end, contrast)
                if clear and (second - least) * 100 < rival * (most - least):
                    clear = not _has_rival(sums[cell : cell + layers], least, winner, rival)
                left[y, x], unique[y, x] = winner + base, clear
                inner = 0 < winner < layers - 1
                known[0, x], known[1, x] = least, second
                known[2, x] = sums[cell + winner - 1] if inner else 0
                known[3, x] = sums[cell + winner + 1] if inner else 0
                place = width - 1 - x + base + begin
                if whole:
                    for k in range(0, layers, LANES):
                        seen, disparities = np.uint64(place + k), np.int16(base + k)
                        better_lanes(sums, np.uint64(cell + k), best, layer, seen, disparities)
                elif begin < end:  # at the sides, where the right view ends
                    pixel = sums[cell + begin : cell + end]
                    _update_right(pixel, base + begin, best[place:], layer[place:])
                cell += layers
        _refine_row(known[0], known[1], known[2], known[3], left[y], disparity[y], confidence[y])
        for x in range(width):
            right[y, x] = layer[width - 1 - x]


@kernel
def _all_stand_out(
    sums: Sums, cell: int, layers: int, least: int, winner: int, contrast: int
) -> bool:
    """Return what `_stands_out` does where all layers are in view, by lanes."""
    total, count = np.int64(0), layers
    for k in range(0, layers, LANES):
        total += np.int64(sum_lanes(sums, np.uint64(cell + k)))
    for d in range(max(0, winner - 1), min(layers, winner + 2)):
        total -= np.int64(sums[cell + d])
        count -= 1
    return bool(count <= 0 or least * 100 * count <= contrast * total)


@kernel
def _refine_row(
    least: Ints,
    second: Ints,
    before: Ints,
    after: Ints,
    winner: Ints,
    disparity: DisparityMap,
    confidence: DisparityMap,
) -> None:
    """Write sub-pixel disparities and confidences of a row of winners, as `winner_rows` does.

    The neighbours' sums are zero where a winner has none. Apart from the search for winners, and
    without branches, the divisions of several pixels are made at once.
    """
    for x in range(len(winner)):
        sure = 1.0 - least[x] / np.float64(max(second[x], np.int32(1)))
        sure = sure if second[x] != 0 else 0.0
        confidence[x] = sure if second[x] != NONE else 1.0
        bend = before[x] + after[x] - 2 * least[x]
        offset = (before[x] - after[x]) / np.float64(2 * max(bend, 1))
        disparity[x] = winner[x] + (offset if bend > 0 else 0.0)
