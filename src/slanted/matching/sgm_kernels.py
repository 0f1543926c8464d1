"""Numba kernels of semi-global matching (Hirschmüller 2008): costs summed along paths.

Volumes are those of a `SearchGrid`: pixels have as many disparities as their square.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slanted.matching.lane_kernels import LANES, extend_path, least_lane
from slanted.matching.plain_lane_kernels import NONE
from slanted.matching.search_grid import SIDE
from slanted.runtime.arrays import Bytes, Ints, Starts
from slanted.runtime.kernel import kernel

Sums = NDArray[np.uint16]

NEVER = np.uint16(20000)
"""Path cost outside the range: above every real one, and penalties can be added safely."""

ROWS_BACK = 3
"""Rows of paths that are kept: the one of the pixel, and two to which steps go back."""
STEPS = (0, 1), (1, 0), (1, -1), (1, 1), (1, -2), (1, 2), (2, -1), (2, 1)
"""Rows back, and columns aside, to the previous pixel of paths from above or from the left."""


def path_steps(paths: int) -> Starts:
    """Return the steps of half of 4, 8 or 16 paths; the other half is swept the other way."""
    return np.array(STEPS[: paths // 2], np.int64)


def path_state(steps: Starts, width: int, most: int) -> tuple[Sums, Sums]:
    """Return the state of a sweep: path costs in slots, and the least of each.

    A slot holds a cost for each disparity of its pixel, with `NEVER` at both ends. There is one for
    each path and pixel of the last `ROWS_BACK` rows; then one for the place before a path's first
    pixel, where all costs are zero; and one for a path that enters another square.
    """
    slots = len(steps) * ROWS_BACK * width
    paths = np.full((slots + 2, most + 2), NEVER, np.uint16)
    paths[slots, 1:-1] = 0
    return paths, np.zeros(slots + 2, np.uint16)


@kernel
def _rebase(paths: Sums, source: int, layers: int, target: int, shift: int, wanted: int) -> None:
    """Copy the costs of a path to a slot whose first disparity is higher by `shift`.

    The disparities next to those of the slot are wanted too: a step of one leads from them.
    """
    for k in range(wanted + 2):
        paths[target + k] = NEVER
    for k in range(max(-1, -shift), min(wanted + 1, layers - shift)):
        paths[target + 1 + k] = paths[source + 1 + k + shift]


@kernel
def _cut(paths: Sums, first: int, own: int, layers: int) -> np.uint16:
    """Forget the costs of a path beyond the range, and return the least of the others."""
    for k in range(first + own, first + layers):
        paths[k] = NEVER
    least = np.uint16(NONE)
    for k in range(first, first + layers, LANES):
        least = min(least, least_lane(paths, np.uint64(k)))
    return least


@kernel
def sweep_squares(
    cost: Bytes,
    grey: Bytes,
    p1: int,
    p2: Sums,
    direction: int,
    high: int,
    low: Ints,
    count: Ints,
    start: Starts,
    first: int,
    last: int,
    steps: Starts,
    paths: Sums,
    least: Sums,
    is_first: bool,
    sums: Sums,
) -> None:
    """Add the costs of the paths from one side, over some rows.

    The cost along a path is L(p, d) = C(p, d) + min(L(q, d), L(q, d ± 1) + P1, min L(q, ·) + P2)
    − min L(q, ·), where q is the pixel before p. L = C where a path enters the image. Where it
    enters another square its costs move to that square's disparities; one that the last square did
    not search can only be reached by a step that costs P2.

    Parameters
    ----------
    cost
        The volume of costs.
    grey
        (H, W) image that P2 follows.
    p1, p2
        Penalties; P2 for each of 256 grey differences between p and q.
    direction
        1 for paths from the left and from above, -1 for those from the right and from below.
    high
        The end of all disparities, which paths do not reach though a square may have more.
    low, count, start
        `SearchGrid.arrays`.
    first, last
        Rows ``first <= y < last``; the next call continues from there with the same state.
    steps
        `path_steps`.
    paths, least
        `path_state`; updated in place.
    is_first
        Whether this is the first sweep over these rows: the sums start from 0 then.
    sums
        The volume of sums, to which costs are added.
    """
    height, width = grey.shape
    rows, size = ROWS_BACK, paths.shape[1]
    flat, step = paths.reshape(-1), np.uint16(p1)
    nowhere, moved = len(paths) - 2, len(paths) - 1
    for i in range(last - first):
        y = first + i if direction > 0 else last - 1 - i
        walked = y if direction > 0 else height - 1 - y
        row = y // SIDE
        pitch = start[row, count.shape[1]] - start[row, 0]  # cells of a row of pixels
        for j in range(count.shape[1]):
            column = j if direction > 0 else count.shape[1] - 1 - j
            begin, stop = column * SIDE, min((column + 1) * SIDE, width)
            layers = int(count[row, column])
            own = min(layers, high - int(low[row, column]))
            # The cell of column 0, if the square reached so far.
            cells = start[row, column] + (y - row * SIDE) * pitch - begin * layers
            parts = np.uint64(layers // LANES)
            for k in range(len(steps)):
                back, aside = steps[k, 0], steps[k, 1]
                aside = -direction if back == 0 else aside
                yq = y - direction * back
                here = (k * rows + walked % rows) * width
                there = (k * rows + (walked - back) % rows) * width + aside
                above = yq // SIDE if 0 <= yq < height else -1
                kept = np.uint16(0 if is_first and k == 0 else NONE)
                for n in range(stop - begin):
                    x = begin + n if direction > 0 else stop - 1 - n
                    xq = x + aside
                    slot, jump = nowhere, np.uint16(0)
                    if above >= 0 and 0 <= xq < width:
                        slot = there + x
                        jump = p2[abs(np.int64(grey[y, x]) - np.int64(grey[yq, xq]))]
                    place = slot * size
                    if slot != nowhere and (above != row or xq < begin or xq >= stop):
                        beside = xq // SIDE
                        shift = int(low[row, column]) - int(low[above, beside])
                        others = int(count[above, beside])
                        if shift != 0 or others != layers:
                            _rebase(flat, place, others, moved * size, shift, layers)
                            place = moved * size
                    target = (here + x) * size
                    cell, floor = np.uint64(cells + x * layers), least[slot]
                    source, end = np.uint64(place), np.uint64(target)
                    lowest = extend_path(
                        *(flat, source, end, floor, step, np.uint16(floor + jump)),
                        *(cost, cell, sums, kept, parts),
                    )
                    if own < layers:
                        lowest = _cut(flat, target + 1, own, layers)
                    least[here + x] = lowest
                    # The slot may have had more disparities before.
                    flat[target + layers + 1] = NEVER
