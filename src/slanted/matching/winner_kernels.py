"""Numba kernels of semi-global matching (Hirschmüller 2008): winners and their checks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slanted.matching.lane_kernels import (
    LANES,
    best_two,
    better_lanes,
    sum_lanes,
)
from slanted.matching.plain_lane_kernels import NONE
from slanted.matching.search_grid import SIDE
from slanted.matching.sgm_kernels import Sums
from slanted.runtime.arrays import Bytes, DisparityMap, Flags, Ints, Starts
from slanted.runtime.kernel import kernel

AGREES, OCCLUDED, MISMATCHED = np.uint8(0), np.uint8(1), np.uint8(2)


@kernel
def _hide(sums: Sums, cell: int, pixels: int, own: int, layers: int) -> None:
    """Let no disparity of some pixels win from the number `own` on."""
    for k in range(pixels):
        sums[cell + k * layers + own : cell + (k + 1) * layers] = NONE


@kernel
def _stands_out(sums: Sums, least: int, winner: int, begin: int, end: int, contrast: int) -> bool:
    """Return whether a winner is well below the mean of the other layers from begin to end."""
    total, count = np.uint32(0), 0
    for d in range(begin, end):
        total += np.uint32(sums[d])
    for d in range(max(begin, winner - 1), min(end, winner + 2)):
        total -= np.uint32(sums[d])
        count -= 1
    count += max(end - begin, 0)
    return bool(count <= 0 or least * 100 * count <= contrast * np.int64(total))


@kernel
def _has_rival(sums: Sums, least: int, second: int, winner: int, rival: int) -> bool:
    """Return whether another minimum, beyond a maximum, is nearly as low as the winner.

    The caller asks this too, but of the largest sum of all layers, also of those beyond the range.
    """
    most = np.uint16(0)
    for d in range(len(sums)):
        most = sums[d] if sums[d] > most else most
    if (second - least) * 100 >= rival * (np.int64(most) - least):
        return False
    for side in (-1, 1):
        hill, d = least, winner + side
        while 0 <= d < len(sums):
            value = int(sums[d])
            hill = max(hill, value)
            if abs(d - winner) > 1 and (value - least) * 100 < rival * (hill - least):
                return True
            d += side
    return False


@kernel
def square_winners(
    sums: Sums,
    low: Ints,
    count: Ints,
    start: Starts,
    lowest: int,
    high: int,
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
    """Write the winners of the left view, with their confidence, and those of the right view.

    The right view is read from the same volume: right pixel x sees the cells (x + d, d). The runner
    up is the best disparity that does not touch the winner. If it does not exceed the winner by the
    margin, and always in a tie, the winner is not unique. Of equal sums the smaller disparity wins.

    A unique winner passes two more tests, because a margin on the winner's sum means little where
    that sum is near zero (repeated patterns) or all sums are high (views with nothing in common).

    Parameters
    ----------
    sums
        The volume of sums; those beyond the range are overwritten.
    low, count, start
        `SearchGrid.arrays`.
    lowest, high
        The smallest disparity of all squares, and the end of those that may win, though a square
        may have more.
    uniqueness
        Margin, in percent, by which the runner up's sum must exceed the winner's.
    contrast
        Largest sum of a winner, in percent of the mean sum of the disparities in view that do not
        touch the winner; 0 for no such test.
    rival
        Least height of another minimum above the winner, in percent of the highest sum between
        them; 0 for no such test.
    first, last
        Rows to write.
    left, right
        (H, W) winning disparities, in whole pixels; ``lowest - 1`` where no left pixel meets a
        right one.
    disparity
        (H, W) sub-pixel disparity of the winner.
    confidence
        (H, W) 1 − winner's sum / runner up's sum; 1 without a runner up.
    unique
        (H, W) whether the winner passes the three tests.
    """
    width = left.shape[1]
    # Right of the mirrored row there is room for what is beyond the range, which never wins.
    best, layer = np.empty(width + LANES, np.uint16), np.empty(width + LANES, np.int16)
    known = np.empty((4, width), np.int32)  # sums: the winner's, the runner up's, both neighbours'
    for y in range(first, last):
        best[:] = NONE
        layer[:] = lowest - 1
        row = y // SIDE
        pitch = start[row, count.shape[1]] - start[row, 0]  # cells of a row of pixels
        for column in range(count.shape[1]):
            layers, base = int(count[row, column]), int(low[row, column])
            own, parts = min(layers, high - base), np.uint64(layers // LANES)
            cell = start[row, column] + (y - row * SIDE) * pitch
            stop = min((column + 1) * SIDE, width)
            if own < layers:
                _hide(sums, cell, stop - column * SIDE, own, layers)
            for x in range(column * SIDE, stop):
                least, winner, second, most = best_two(sums, np.uint64(cell), parts)
                begin, end = max(0, x - base - width + 1), min(own, x - base + 1)
                whole = begin == 0 and end == own
                clear = second == NONE or (
                    second > least and second * 100 >= least * (100 + uniqueness)
                )
                # The mean is at least the runner up's sum, and a maximum at most the highest sum,
                # so few pixels need the two tests.
                if clear and least * 100 > contrast * second and contrast:
                    if whole:
                        clear = _all_stand_out(sums, cell, own, least, winner, contrast)
                    else:
                        pixel = sums[cell : cell + own]
                        clear = _stands_out(pixel, least, winner, begin, end, contrast)
                if clear and (second - least) * 100 < rival * (most - least):
                    clear = not _has_rival(sums[cell : cell + own], least, second, winner, rival)
                left[y, x], unique[y, x] = winner + base, clear
                inner = 0 < winner < own - 1
                known[0, x], known[1, x] = least, second
                known[2, x] = sums[cell + winner - 1] if inner else 0
                known[3, x] = sums[cell + winner + 1] if inner else 0
                place = width - 1 - x + base + begin
                if whole:
                    for k in range(0, own, LANES):
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
    total -= NONE * (-layers % LANES)  # those beyond the range
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
    """Write sub-pixel disparities and confidences of a row of winners.

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


@kernel
def _update_right(pixel: Sums, begin: int, best: Sums, layer: NDArray[np.int16]) -> None:
    first = np.int16(begin)
    for k in range(len(pixel)):
        better = pixel[k] < best[k]
        best[k] = pixel[k] if better else best[k]
        layer[k] = np.int16(first + np.int16(k)) if better else layer[k]


@kernel
def agreement_rows(
    left: Ints,
    right: Ints,
    low: int,
    high: int,
    threshold: int,
    first: int,
    last: int,
    state: Bytes,
) -> None:
    """Classify left pixels as confirmed by the right view, occluded or mismatched.

    A pixel that fails the check is mismatched if some disparity would pass it, because the right
    view then sees its surface, and occluded if none would (Hirschmüller 2008, §2.6).

    Parameters
    ----------
    left, right
        (H, W) winners of `square_winners`.
    low, high
        The disparities searched, ``low <= d < high``.
    threshold
        Largest difference that passes, in pixels.
    first, last
        Rows to write.
    state
        (H, W) `AGREES`, `OCCLUDED` or `MISMATCHED`, output.
    """
    width = left.shape[1]
    for y in range(first, last):
        seen = right[y]
        for x in range(width):
            d = left[y, x]
            if 0 <= x - d < width and seen[x - d] >= low and abs(seen[x - d] - d) <= threshold:
                state[y, x] = AGREES
                continue
            state[y, x] = OCCLUDED
            for q in range(max(0, x - high + 1), min(width, x - low + 1)):
                if seen[q] >= low and abs(seen[q] - (x - q)) <= threshold:
                    state[y, x] = MISMATCHED
                    break
