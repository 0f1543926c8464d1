"""Numba kernels of the boundary sets B_ij."""

from __future__ import annotations

import numpy as np

from slanted.runtime.arrays import Ints, Starts
from slanted.runtime.kernel import kernel


@kernel
def intervals_of_rows(
    run_segment: Ints,
    width: int,
    begin: Ints,
    row_start: Starts,
    adjacency_start: Starts,
    adjacency_other: Ints,
    adjacency_edge: Ints,
    reach: int,
    first: int,
    last: int,
) -> Ints:
    """List the intervals of pixels, in some rows, that are in the boundary set of each edge.

    A pixel of segment i is in B_ij if a pixel of j lies within chessboard distance `reach` of it
    and i and j are neighbours (segments that touch only at a corner are not). So a run of j adds
    to B_ij the pixels of i that are at most `reach` rows away and `reach` columns beyond its ends.

    Parameters
    ----------
    run_segment, width
        The segment of each run, and the width of the image.
    begin, row_start
        The runs, from `row_runs`.
    adjacency_start, adjacency_other, adjacency_edge
        Each segment's neighbours, ascending, and the edges to them.
    reach
        Distance in pixels.
    first, last
        Rows to do.

    Returns
    -------
    intervals
        (M, 3) edge, low, high: the pixels ``low <= p < high`` of one run are in the edge's set.
        Runs ascend, but intervals of one edge inside a run are in any order and may overlap.
    """
    height = len(row_start) - 1
    intervals = np.empty((0, 3), np.int32)
    used = 0
    latest = np.full(len(adjacency_start) - 1, -1)  # the last interval of each neighbour
    for y in range(first, last):
        top, bottom = max(y - reach, 0), min(y + reach + 1, height)
        near = row_start[top:bottom].copy()  # the first run of each row that is still within reach
        for run in range(row_start[y], row_start[y + 1]):
            low, high = begin[run], begin[run + 1]
            most = used + len(near) * (high - low + 2 * reach)
            if most > len(intervals):
                intervals = _longer(intervals, 2 * most)
            run_first = used  # the run's first interval
            for row in range(top, bottom):
                shift = (y - row) * width  # from that row to this one
                while begin[near[row - top] + 1] + shift + reach <= low:
                    near[row - top] += 1
                for other in range(near[row - top], row_start[row + 1]):
                    start = begin[other] + shift - reach
                    if start >= high:
                        break
                    if run_segment[other] == run_segment[run]:
                        continue
                    start = max(start, low)
                    stop = min(begin[other + 1] + shift + reach, high)
                    # Most touch the interval of the previous row, which saves the search.
                    recent = latest[run_segment[other]]
                    if recent >= run_first and _widen(intervals, recent, start, stop):
                        continue
                    edge = _find_edge(
                        adjacency_start, adjacency_other, adjacency_edge,
                        run_segment[run], run_segment[other],
                    )  # fmt: skip
                    if edge >= 0:
                        intervals[used, 0] = edge
                        intervals[used, 1], intervals[used, 2] = start, stop
                        latest[run_segment[other]] = used
                        used += 1
    return intervals[:used].copy()


@kernel
def _widen(intervals: Ints, k: int, low: int, high: int) -> bool:
    """Make interval k include another one if the two touch; return whether they do."""
    if low > intervals[k, 2] or intervals[k, 1] > high:
        return False
    intervals[k, 1] = min(intervals[k, 1], low)
    intervals[k, 2] = max(intervals[k, 2], high)
    return True


@kernel
def _find_edge(start: Starts, others: Ints, edges: Ints, segment: int, other: int) -> int:
    """Return the edge between two segments, or −1 if they are not neighbours.

    A binary search by hand, because slices and a call of NumPy's take Numba longer.
    """
    low, high = start[segment], start[segment + 1]
    while low < high:
        middle = (low + high) // 2
        if others[middle] < other:
            low = middle + 1
        else:
            high = middle
    found = low < start[segment + 1] and others[low] == other
    return int(edges[low]) if found else -1


@kernel
def _longer(intervals: Ints, length: int) -> Ints:
    longer = np.empty((length, 3), np.int32)
    for k in range(len(intervals)):
        longer[k, 0], longer[k, 1], longer[k, 2] = intervals[k]
    return longer


@kernel
def interval_pixels(intervals: Ints, order: Ints, start: Starts) -> tuple[Ints, Starts]:
    """Write the pixels of each set, once each, in raster order.

    Parameters
    ----------
    intervals
        (M, 3) set, low, high; see `intervals_of_rows`.
    order, start
        Intervals by set, and where each set starts; `order` is sorted inside each set.

    Returns
    -------
    pixels
        Flat indices, set by set.
    pixel_start
        (sets + 1,) where each set starts in `pixels`.
    """
    sets = len(start) - 1
    pixel_start = np.zeros(sets + 1, np.int64)
    most = 0
    for k in range(len(intervals)):
        most += intervals[k, 2] - intervals[k, 1]
    pixels = np.empty(most, np.int32)
    used = 0
    for k in range(sets):
        _insertion_sort(order, start[k], start[k + 1], intervals)
        done = 0
        for place in range(start[k], start[k + 1]):
            low, high = intervals[order[place], 1], intervals[order[place], 2]
            for p in range(max(low, done), high):
                pixels[used] = p
                used += 1
            done = max(high, done)
        pixel_start[k + 1] = used
    return pixels if used == len(pixels) else pixels[:used].copy(), pixel_start


@kernel
def _insertion_sort(order: Ints, start: int, stop: int, intervals: Ints) -> None:
    """Sort ``order[start:stop]``, which is almost sorted, by the starts of intervals."""
    for k in range(start + 1, stop):
        moved = order[k]
        place = k
        while place > start and intervals[order[place - 1], 1] > intervals[moved, 1]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = moved
