"""Numba kernels of semi-global matching on a `SearchGrid`: costs and paths.

They do what those of `cost_kernels` and `sgm_kernels` do, in flat volumes whose pixels have as many
disparities as their square.
"""

from __future__ import annotations

import numpy as np

from slanted.images.census_kernels import Gradients, Words
from slanted.matching.cost_kernels import BOX, BOX_SIDE, _divide
from slanted.matching.lane_kernels import (
    LANES,
    extend_lanes,
    pixel_cost_lanes,
)
from slanted.matching.search_grid import SIDE
from slanted.matching.sgm_kernels import NEVER, Sums
from slanted.matching.winner_kernels import NONE
from slanted.runtime.arrays import Bytes, Ints, Starts
from slanted.runtime.kernel import kernel

ROWS_BACK = 3
"""Rows of paths that are kept: the one of the pixel, and two to which steps go back."""


@kernel
def square_costs(
    left_census: Words,
    right_census: Words,
    left_gradient: Gradients,
    right_gradient: Gradients,
    before: int,
    census_weight: np.uint8,
    gradient_weight: np.uint8,
    low: Ints,
    count: Ints,
    start: Starts,
    first: int,
    last: int,
    cost: Bytes,
) -> None:
    """Write the costs of some rows of squares, as `cost_rows` does.

    Parameters
    ----------
    left_census, left_gradient
        (H, W) census words and capped x-gradients.
    right_census, right_gradient
        Those of the right view, mirrored, with its ends repeated.
    before
        How often the first column of the mirrored view is repeated.
    census_weight, gradient_weight
        As for `cost_rows`.
    low, count, start
        `SearchGrid.arrays`.
    first, last
        Rows of squares to write.
    cost
        The volume of costs, output.
    """
    height, width = left_census.shape
    seen = SIDE + 2 * BOX
    for i in range(first, last):
        top, bottom = i * SIDE, min((i + 1) * SIDE, height)
        for j in range(count.shape[1]):
            x0, layers = j * SIDE, int(count[i, j])
            pixel_costs = np.empty(seen * layers, np.uint8)
            ring = np.zeros((BOX_SIDE, SIDE, layers), np.uint16)
            total = np.zeros((SIDE, layers), np.uint16)
            for y in range(top - BOX, bottom + BOX):
                inside = min(max(y, 0), height - 1)
                words, gradients = right_census[inside], right_gradient[inside]
                for k in range(seen):
                    # Beyond the border the costs are those of the border's own pixel.
                    x = min(max(x0 - BOX + k, 0), width - 1)
                    _pixel_costs(
                        left_census[inside, x],
                        words,
                        left_gradient[inside, x],
                        gradients,
                        np.uint64(before + width - 1 - x + low[i, j]),
                        census_weight,
                        gradient_weight,
                        pixel_costs,
                        np.uint64(k * layers),
                        layers // LANES,
                    )
                _slide(pixel_costs, layers, ring[(y - top + BOX) % BOX_SIDE], total)
                if y >= top + BOX:
                    begin = start[i, j] + (y - BOX - top) * SIDE * layers
                    _divide(total, cost[begin : begin + SIDE * layers])


@kernel
def _pixel_costs(
    word: np.uint64,
    words: Words,
    gradient: np.int16,
    gradients: Gradients,
    start: np.uint64,
    census_weight: np.uint8,
    gradient_weight: np.uint8,
    costs: Bytes,
    cell: np.uint64,
    parts: int,
) -> None:
    """Write the costs of a pixel; see `cost_kernels`."""
    weights = census_weight, gradient_weight
    for _ in range(parts):
        pixel_cost_lanes(word, words, gradient, gradients, start, *weights, costs, cell)
        start, cell = start + np.uint64(LANES), cell + np.uint64(LANES)


@kernel
def _slide(pixel_costs: Bytes, count: int, oldest: Sums, total: Sums) -> None:
    """Replace the oldest row's horizontal sums by those of a new row, and update the total."""
    flat, old, sums = pixel_costs, oldest.reshape(-1), total.reshape(-1)
    layers = np.uint64(count)
    for k in range(len(old)):
        a = np.uint64(k)
        b, c = a + layers, a + np.uint64(2) * layers
        d, e = a + np.uint64(3) * layers, a + np.uint64(4) * layers
        new = np.uint16(
            np.uint16(flat[a])
            + np.uint16(flat[b])
            + np.uint16(flat[c])
            + np.uint16(flat[d])
            + np.uint16(flat[e])
        )
        sums[a] = np.uint16(sums[a] + new - old[a])
        old[a] = new


def grid_path_state(steps: Starts, width: int, most: int) -> tuple[Sums, Sums]:
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
def sweep_squares(
    cost: Bytes,
    grey: Bytes,
    p1: int,
    p2: Sums,
    direction: int,
    low: Ints,
    count: Ints,
    start: Starts,
    first: int,
    last: int,
    steps: Starts,
    paths: Sums,
    least: Sums,
    sums: Sums,
) -> None:
    """Add the costs of the paths from one side, over some rows, as `sweep_rows` does.

    Where a path enters another square its costs move to that square's disparities; one that the
    last square did not search can only be reached by a step that costs P2.

    Parameters
    ----------
    cost
        The volume of costs.
    grey, p1, p2, direction, first, last, steps
        As for `sweep_rows`.
    low, count, start
        `SearchGrid.arrays`.
    paths, least
        `grid_path_state`; updated in place.
    sums
        The volume of sums, to which costs are added.
    """
    height, width = grey.shape
    rows, size = ROWS_BACK, paths.shape[1]
    flat, step, part = paths.reshape(-1), np.uint16(p1), np.uint64(LANES)
    nowhere, moved = len(paths) - 2, len(paths) - 1
    for i in range(last - first):
        y = first + i if direction > 0 else last - 1 - i
        walked = y if direction > 0 else height - 1 - y
        row = y // SIDE
        for j in range(count.shape[1]):
            column = j if direction > 0 else count.shape[1] - 1 - j
            begin, stop = column * SIDE, min((column + 1) * SIDE, width)
            layers = int(count[row, column])
            # The cell of column 0, if the square reached so far.
            cells = start[row, column] + ((y - row * SIDE) * SIDE - begin) * layers
            for k in range(len(steps)):
                back, aside = steps[k, 0], steps[k, 1]
                aside = -direction if back == 0 else aside
                yq = y - direction * back
                here = (k * rows + walked % rows) * width
                there = (k * rows + (walked - back) % rows) * width + aside
                above = yq // SIDE if 0 <= yq < height else -1
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
                    cell = np.uint64(cells + x * layers)
                    floor, lowest = least[slot], np.uint16(NONE)
                    highest, source = np.uint16(floor + jump), np.uint64(place)
                    end = np.uint64(target)
                    for _ in range(layers // LANES):
                        value = extend_lanes(
                            flat, source, end, floor, step, highest, cost, cell, sums
                        )
                        lowest = value if value < lowest else lowest
                        source, end, cell = source + part, end + part, cell + part
                    least[here + x] = lowest
                    # The slot may have had more disparities before.
                    flat[target + layers + 1] = NEVER
