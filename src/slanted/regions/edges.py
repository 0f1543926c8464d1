"""Pairs of neighbouring segments, adjacency lists, and the pixels of S_i and B_ij."""

from __future__ import annotations

import numpy as np

from slanted.partition.run_kernels import Runs, contacts, stable_order
from slanted.regions.boundary_kernels import interval_pixels, intervals_of_rows
from slanted.runtime.arrays import Ints, Starts
from slanted.runtime.threads import bind, share_rows

Adjacency = tuple[Starts, Ints, Ints]
"""Where each segment's list starts, its neighbours in ascending order, and the edges to them."""

BOUNDARY_REACH = 2
"""B_ij is "within 2 pixels of the boundary" (paper, Section 3.1), in chessboard distance."""


def adjacent_pairs(label_image: Ints, runs: Runs, count: int) -> tuple[Ints, Starts]:
    """Find the pairs of segments that share a side of a pixel.

    Parameters
    ----------
    label_image, runs
        (H, W) segments, and their runs from `row_runs`.
    count
        Number of segments.

    Returns
    -------
    edges
        (E, 2), i < j, in lexicographic order.
    length
        (E,) number of pixel sides that the two share.
    """
    low, high, length = contacts(label_image, *runs)
    # Sorted by the larger segment, then stably by the smaller one, in linear time.
    order = stable_order(high, count)[1]
    order = order[stable_order(low[order], count)[1]]
    low, high = low[order], high[order]
    new = np.ones(len(order), np.bool_)
    new[1:] = (low[1:] != low[:-1]) | (high[1:] != high[:-1])
    first = np.flatnonzero(new)
    sums = np.add.reduceat(length[order], first, dtype=np.int64)
    return np.stack([low[first], high[first]], axis=1), sums


def edge_numbers(edges: Ints, first: Ints, second: Ints, count: int) -> Ints:
    """Return the edge of each pair of neighbours, which may be given in any order."""
    keys = _keys(edges[:, 0], edges[:, 1], count)
    return np.searchsorted(keys, _keys(first, second, count)).astype(np.int32)


def adjacency_lists(edges: Ints, count: int) -> Adjacency:
    """Return the lists of neighbours of all segments."""
    # Edges are sorted, and smaller neighbours come before larger ones, so that a stable sort by
    # segment leaves the neighbours ascending.
    sides = np.concatenate([edges[:, ::-1], edges])
    start, order = stable_order(np.ascontiguousarray(sides[:, 0]), count)
    return start, np.ascontiguousarray(sides[order, 1]), order % np.int32(max(len(edges), 1))


def boundary_intervals(label_image: Ints, runs: Runs, adjacency: Adjacency) -> Ints:
    """Return the pixels of B_ij of each edge as intervals, for `gather_sets`.

    The paper does not define "within 2 pixels of the boundary". Here B_ij are the pixels of either
    segment within chessboard distance 2 of a pixel of the other.
    """
    inputs = (
        run_segments(label_image, runs),
        label_image.shape[1],
        *runs,
        *adjacency,
        BOUNDARY_REACH,
    )
    return share_rows(len(label_image), bind(intervals_of_rows, inputs), pieces=4)


def segment_sets(label_image: Ints, runs: Runs, count: int) -> tuple[Ints, Starts]:
    """Return the pixels of each S_i in raster order, and where each segment starts."""
    begin = runs[0]
    intervals = np.stack([run_segments(label_image, runs), begin[:-1], begin[1:]], axis=1)
    return gather_sets(intervals, count)


def run_segments(label_image: Ints, runs: Runs) -> Ints:
    """Return the segment of each run."""
    return label_image.reshape(-1)[runs[0][:-1]]


def gather_sets(intervals: Ints, count: int) -> tuple[Ints, Starts]:
    """Gather (M, 3) intervals, each with its set first, into the pixels of `count` sets.

    Returns
    -------
    pixels, start
        Flat indices in raster order, set by set, and where each set starts.
    """
    start, order = stable_order(intervals[:, 0].copy(), count)
    pixels: Ints
    pixels, pixel_start = interval_pixels(intervals, order, start)
    return pixels, pixel_start


def _keys(first: Ints, second: Ints, count: int) -> Starts:
    low, high = np.minimum(first, second), np.maximum(first, second)
    return low.astype(np.int64) * count + high
