"""Numba kernels over runs: stretches of equal labels in the rows of a label image.

An image has far fewer runs than pixels, so contacts between segments are found by comparing runs,
not pixels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from slanted.runtime.arrays import Ints, Starts
from slanted.runtime.kernel import kernel

Runs = tuple[Ints, Starts]
"""First pixel of each run and first run of each row, from `row_runs`."""


@kernel
def row_runs(label_image: NDArray[np.integer[Any]]) -> tuple[Ints, Starts]:
    """Cut each row into runs of equal labels.

    Returns
    -------
    begin
        (R + 1,) flat index of each run's first pixel; a run ends where the next begins.
    row_start
        (H + 1,) first run of each row.
    """
    height, width = label_image.shape
    row_start = np.zeros(height + 1, np.int64)
    for y in range(height):
        row = label_image[y]
        changes = 0
        for x in range(1, width):
            changes += row[x] != row[x - 1]
        row_start[y + 1] = row_start[y] + 1 + changes
    begin = np.empty(row_start[height] + 1, np.int32)
    for y in range(height):
        row = label_image[y]
        run = row_start[y]
        begin[run] = y * width
        for x in range(1, width):
            if row[x] != row[x - 1]:
                run += 1
                begin[run] = y * width + x
    begin[row_start[height]] = height * width
    return begin, row_start


@kernel
def count_pieces(label_image: Ints, count: int) -> Ints:
    """Return the number of 4-connected pieces of each of the labels 0 … `count` − 1."""
    begin, row_start = row_runs(label_image)
    root = _piece_roots(label_image, begin, row_start)
    flat = label_image.reshape(-1)
    pieces = np.zeros(count, np.int32)
    for run in range(len(root)):
        pieces[flat[begin[run]]] += root[run] == run
    return pieces


@kernel
def number_pieces(label_image: Ints, begin: Ints, row_start: Starts, numbers: Ints) -> int:
    """Write the number of each pixel's 4-connected piece, in raster order; return how many.

    `begin` and `row_start` are the runs of the label image; `numbers` (H, W) is the output.
    """
    root = _piece_roots(label_image, begin, row_start)
    number = np.empty(len(root), np.int32)
    used = 0
    flat = numbers.reshape(-1)
    for run in range(len(root)):
        # A piece's root is its first run, which already has its number.
        first = find_root(root, run)
        if first == run:
            number[run] = used
            used += 1
        number[run] = number[first]
        for p in range(begin[run], begin[run + 1]):
            flat[p] = number[run]
    return used


@kernel
def _piece_roots(label_image: NDArray[np.integer[Any]], begin: Ints, row_start: Starts) -> Starts:
    """Return the first run of each run's piece, by union-find over runs that touch."""
    width = label_image.shape[1]
    flat = label_image.reshape(-1)
    root = np.arange(len(begin) - 1)
    for y in range(1, label_image.shape[0]):
        above, here = row_start[y - 1], row_start[y]
        while here < row_start[y + 1]:
            if flat[begin[above]] == flat[begin[here]]:
                first, second = find_root(root, above), find_root(root, here)
                root[max(first, second)] = min(first, second)
            above_end, here_end = begin[above + 1] + width, begin[here + 1]
            above += above_end <= here_end
            here += here_end <= above_end
    return root


@kernel
def find_root(root: NDArray[np.integer[Any]], member: int) -> int:
    """Return the root of a member's set (union-find with path halving)."""
    while root[member] != member:
        root[member] = root[root[member]]
        member = root[member]
    return member


@kernel
def contacts(label_image: Ints, begin: Ints, row_start: Starts) -> tuple[Ints, Ints, Ints]:
    """List the contacts between runs of different labels.

    Returns
    -------
    low, high, length
        (M,) each: the smaller label, the larger label, and the number of pixel sides shared. A
        pair of labels is listed once for each contact of its runs.
    """
    width = label_image.shape[1]
    flat = label_image.reshape(-1)
    # A run touches the next run of its row, and each contact with the row above ends a run.
    low, high = np.empty(3 * len(begin), np.int32), np.empty(3 * len(begin), np.int32)
    length = np.empty(3 * len(begin), np.int32)
    used = 0
    for y in range(label_image.shape[0]):
        for run in range(row_start[y] + 1, row_start[y + 1]):
            first, second = flat[begin[run - 1]], flat[begin[run]]
            low[used], high[used], length[used] = min(first, second), max(first, second), 1
            used += 1
        if y == 0:
            continue
        above, here = row_start[y - 1], row_start[y]
        done = begin[here]
        while here < row_start[y + 1]:
            above_end, here_end = begin[above + 1] + width, begin[here + 1]
            end = min(above_end, here_end)
            first, second = flat[begin[above]], flat[begin[here]]
            if first != second:
                low[used], high[used] = min(first, second), max(first, second)
                length[used] = end - done
                used += 1
            done = end
            above += above_end <= here_end
            here += here_end <= above_end
    return low[:used].copy(), high[:used].copy(), length[:used].copy()


@kernel
def stable_order(keys: Ints, count: int) -> tuple[Starts, Ints]:
    """Sort keys by counting, stably.

    Parameters
    ----------
    keys
        (N,) numbers 0 … `count` − 1.
    count
        Number of different keys.

    Returns
    -------
    start
        (count + 1,) where each key starts in `order`.
    order
        (N,) indices into `keys`, ascending among equal keys.
    """
    # start[k + 1] moves from the first place of key k to one past its last.
    start = np.zeros(count + 2, np.int64)
    for key in keys:
        start[key + 2] += 1
    for k in range(2, count + 2):
        start[k] += start[k - 1]
    order = np.empty(len(keys), np.int32)
    for p in range(len(keys)):
        place = start[keys[p] + 1]
        order[place] = p
        start[keys[p] + 1] = place + 1
    return start[: count + 1].copy(), order
