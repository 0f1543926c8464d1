"""Numba kernels of semi-global matching (Hirschmüller 2008): costs summed along paths."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slanted.runtime.arrays import Bytes, Starts
from slanted.runtime.kernel import kernel

Sums = NDArray[np.uint16]

NEVER = np.uint16(20000)
"""Path cost outside the range: above every real one, and penalties can be added safely."""

STEPS = (0, 1), (1, 0), (1, -1), (1, 1), (1, -2), (1, 2), (2, -1), (2, 1)
"""Rows back, and columns aside, to the previous pixel of paths from above or from the left."""


def path_steps(paths: int) -> Starts:
    """Return the steps of half of 4, 8 or 16 paths; the other half is swept the other way."""
    return np.array(STEPS[: paths // 2], np.int64)


def path_state(steps: Starts, width: int, count: int) -> tuple[Sums, Sums, Starts]:
    """Return the state of a sweep: path costs in slots, the least of each, and slots by path.

    A slot holds a cost for each disparity, with `NEVER` at both ends. Slot 0 stands for the place
    before a path's first pixel, where all costs are zero, so that L = C at the first pixel. Every
    path has a slot: first the path along the row, then one per column for each further step, or two
    where a step skips a row. The last number is a spare slot, into which the next path is extended.
    """
    owners = 1 + int(steps[1:, 0].sum()) * width
    paths = np.full((owners + 2, count + 2), NEVER, np.uint16)
    paths[0, 1:-1] = 0
    return paths, np.zeros(owners + 2, np.uint16), np.arange(1, owners + 2)


@kernel
def _extend(
    cost: Bytes,
    cost_cell: np.uint64,
    paths: Sums,
    before: np.uint64,
    here: np.uint64,
    floor: np.uint16,
    p1: np.uint16,
    p2: np.uint16,
    sums: Sums,
    cell: np.uint64,
    count: np.uint64,
) -> np.uint16:
    """Extend a path by a pixel, add its costs to the sums and return the least of them.

    Arrays are flat and indices unsigned: slices would count references for each pixel, which is
    slow and makes threads wait for each other, and signed indices are checked for wraparound.
    """
    one, two = np.uint64(1), np.uint64(2)
    highest = np.uint16(floor + p2)
    least = np.uint16(65535)
    for k in range(count):
        d = np.uint64(k)
        smaller, larger = paths[before + d], paths[before + d + two]
        same = paths[before + d + one]
        value = smaller if smaller < larger else larger
        value = np.uint16(value + p1)
        value = value if value < same else same
        value = value if value < highest else highest
        value = np.uint16(np.uint16(value - floor) + np.uint16(cost[cost_cell + d]))
        paths[here + d + one] = value
        sums[cell + d] = np.uint16(sums[cell + d] + value)
        least = value if value < least else least
    return least


@kernel
def sweep_rows(
    cost: Bytes,
    grey: Bytes,
    p1: int,
    p2: Sums,
    direction: int,
    first: int,
    last: int,
    steps: Starts,
    paths: Sums,
    least: Sums,
    slots: Starts,
    sums: Sums,
) -> None:
    """Add the costs of the paths from one side, over some rows.

    The cost along a path is L(p, d) = C(p, d) + min(L(q, d), L(q, d ± 1) + P1, min L(q, ·) + P2)
    − min L(q, ·), where q is the pixel before p. L = C where a path enters the image.

    Parameters
    ----------
    cost
        (last - first, W, D) costs of the rows.
    grey
        (H, W) image that P2 follows.
    p1, p2
        Penalties; P2 for each of 256 grey differences between p and q.
    direction
        1 for paths from the left and from above, -1 for those from the right and from below.
    first, last
        Rows ``first <= y < last``; the next call continues from there with the same state.
    steps
        `path_steps`.
    paths, least, slots
        `path_state`; updated in place.
    sums
        (H, W, D) S(p, d), to which costs are added.
    """
    height, width, layers = sums.shape
    flat_cost, flat_sums, flat_paths = cost.reshape(-1), sums.reshape(-1), paths.reshape(-1)
    count, size, step = np.uint64(layers), np.uint64(layers + 2), np.uint16(p1)
    spare = slots[-1]
    for i in range(last - first):
        y = first + i if direction > 0 else last - 1 - i
        walked = y if direction > 0 else height - 1 - y
        for j in range(width):
            x = j if direction > 0 else width - 1 - j
            cell = np.uint64(y * width + x) * count
            cost_cell = np.uint64((y - first) * width + x) * count
            value = np.int64(grey[y, x])
            owners = 0
            for k in range(len(steps)):
                back, aside = steps[k, 0], steps[k, 1]
                if back == 0:  # the path along the row
                    yq, xq, owner, owners = y, x - direction, 0, 1
                else:
                    # A path that leaves the image on one side passes its slot to one that enters
                    # on the other. Where steps skip a row, odd and even rows have separate paths.
                    yq, xq = y - direction * back, x + aside
                    owner = owners + walked % back * width + (x + aside * (walked // back)) % width
                    owners += back * width
                before, jump = slots[owner], np.uint16(0)
                slots[owner], free = spare, before
                if yq < 0 or yq >= height or xq < 0 or xq >= width:
                    before = 0
                else:
                    jump = p2[abs(value - np.int64(grey[yq, xq]))]
                least[spare] = _extend(
                    flat_cost,
                    cost_cell,
                    flat_paths,
                    np.uint64(before) * size,
                    np.uint64(spare) * size,
                    least[before],
                    step,
                    jump,
                    flat_sums,
                    cell,
                    count,
                )
                spare = free
    slots[-1] = spare
