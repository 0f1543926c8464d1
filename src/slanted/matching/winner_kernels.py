"""Numba kernels of semi-global matching (Hirschmüller 2008): winners and their checks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slanted.runtime.arrays import Bytes, DisparityMap, Flags, Ints
from slanted.runtime.kernel import kernel

Sums = NDArray[np.uint16]

NONE = 65535
"""No sum: larger than every real one."""
AGREES, OCCLUDED, MISMATCHED = np.uint8(0), np.uint8(1), np.uint8(2)


@kernel
def _least(sums: Sums) -> int:
    least = np.uint16(NONE)
    for d in range(len(sums)):
        least = sums[d] if sums[d] < least else least
    return int(least)


@kernel
def _least_and_most(sums: Sums) -> tuple[int, int]:
    least, most = np.uint16(NONE), np.uint16(0)
    for d in range(len(sums)):
        least = sums[d] if sums[d] < least else least
        most = sums[d] if sums[d] > most else most
    return int(least), int(most)


@kernel
def _first_index(sums: Sums, value: int) -> int:
    for d in range(len(sums)):
        if sums[d] == value:
            return d
    return -1


@kernel
def _offset(sums: Sums, winner: int) -> float:
    """Return the offset of the parabola's minimum from the winner, in layers."""
    if winner == 0 or winner == len(sums) - 1:
        return 0.0
    before, after = np.int64(sums[winner - 1]), np.int64(sums[winner + 1])
    bend = before + after - 2 * np.int64(sums[winner])
    return (before - after) / (2.0 * bend) if bend > 0 else 0.0


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
def _has_rival(sums: Sums, least: int, winner: int, rival: int) -> bool:
    """Return whether another minimum, beyond a maximum, is nearly as low as the winner."""
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
def winner_rows(
    sums: Sums,
    low: int,
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
        (H, W, D) S(p, d).
    low
        Disparity of the first layer.
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
        (H, W) winning disparities, in whole pixels; ``low - 1`` where no left pixel meets a right
        one.
    disparity
        (H, W) sub-pixel disparity of the winner.
    confidence
        (H, W) 1 − winner's sum / runner up's sum; 1 without a runner up.
    unique
        (H, W) whether the winner passes the three tests.
    """
    _, width, count = sums.shape
    # The right row is mirrored, so that a rising disparity walks it forward.
    best, layer = np.empty(width, np.uint16), np.empty(width, np.int16)
    for y in range(first, last):
        best[:] = NONE
        layer[:] = -1
        for x in range(width):
            pixel = sums[y, x]
            least, most = _least_and_most(pixel)
            winner = _first_index(pixel, least)
            second = min(_least(pixel[: max(winner - 1, 0)]), _least(pixel[winner + 2 :]))
            begin, end = max(0, x - low - width + 1), min(count, x - low + 1)
            alone = second == NONE
            clear = alone or (second > least and second * 100 >= least * (100 + uniqueness))
            # The mean is at least the runner up's sum, and a maximum at most the highest sum, so
            # few pixels need the two tests.
            if clear and least * 100 > contrast * second and contrast:
                clear = _stands_out(pixel, np.int64(least), winner, begin, end, contrast)
            if clear and (second - least) * 100 < rival * (most - least):
                clear = not _has_rival(pixel, np.int64(least), winner, rival)
            left[y, x] = winner + low
            confidence[y, x] = 0.0 if second == 0 else 1.0 - least / second
            if alone:
                confidence[y, x] = 1.0
            disparity[y, x] = winner + _offset(pixel, winner) + low
            unique[y, x] = clear
            if begin < end:
                start = width - 1 - x + low + begin
                _update_right(pixel[begin:end], begin, best[start:], layer[start:])
        for x in range(width):
            right[y, x] = layer[width - 1 - x] + low


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
        (H, W) winners of `winner_rows`.
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
