"""Numba kernels of semi-global matching on a `SearchGrid`: costs, paths and winners.

They do what those of `cost_kernels`, `sgm_kernels` and `winner_kernels` do, in flat volumes whose
pixels have as many disparities as their square.
"""

from __future__ import annotations

import numpy as np

from slanted.images.census_kernels import Gradients, Words
from slanted.matching.cost_kernels import BOX, DIVIDE_SHIFT, _pixel_costs
from slanted.matching.search_grid import TALL, WIDE
from slanted.matching.sgm_kernels import NEVER, Sums, _extend
from slanted.matching.winner_kernels import (
    NONE,
    _first_index,
    _has_rival,
    _least,
    _least_and_most,
    _offset,
    _stands_out,
    _update_right,
)
from slanted.runtime.arrays import Bytes, DisparityMap, Flags, Ints, Starts
from slanted.runtime.kernel import kernel

ROWS_BACK = 3
"""Rows of paths that are kept: the one of the pixel, and two to which steps go back."""


@kernel
def square_costs(
    left_census: Words,
    right_census: Words,
    left_gradient: Gradients,
    right_gradient: Gradients,
    census_weight: np.uint8,
    gradient_weight: np.uint8,
    above: int,
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
    left_census, right_census, left_gradient, right_gradient, census_weight, gradient_weight
        As for `cost_rows`.
    above
        Costs are averaged over so many rows above and below a pixel, and over 5 columns.
    low, count, start
        `SearchGrid.arrays`.
    first, last
        Rows of squares to write.
    cost
        The volume of costs, output.
    """
    height, width = left_census.shape
    seen, side = WIDE + 2 * BOX, 2 * above + 1
    divide = np.uint32((1 << DIVIDE_SHIFT) // ((2 * BOX + 1) * side) + 1)
    for i in range(first, last):
        top, bottom = i * TALL, min((i + 1) * TALL, height)
        for j in range(count.shape[1]):
            x0, layers = j * WIDE, int(count[i, j])
            pixel_costs = np.empty((seen, layers), np.uint8)
            ring = np.zeros((side, WIDE, layers), np.uint16)
            total = np.zeros((WIDE, layers), np.uint16)
            words, gradients = np.empty(seen + layers, np.uint64), np.empty(seen + layers, np.int16)
            for y in range(top - above, bottom + above):
                inside = min(max(y, 0), height - 1)
                # A mirrored part of the right row, which a rising disparity walks forward.
                for k in range(seen + layers):
                    x = min(max(x0 + WIDE + BOX - 1 - k - low[i, j], 0), width - 1)
                    words[k], gradients[k] = right_census[inside, x], right_gradient[inside, x]
                for k in range(seen):
                    # Beyond the border the costs are those of the border's own pixel.
                    x = min(max(x0 - BOX + k, 0), width - 1)
                    _pixel_costs(
                        left_census[inside, x],
                        words,
                        left_gradient[inside, x],
                        gradients,
                        np.uint64(x0 + WIDE + BOX - 1 - x),
                        census_weight,
                        gradient_weight,
                        pixel_costs,
                        np.uint64(k),
                    )
                _slide(pixel_costs, ring[(y - top + above) % side], total)
                if y >= top + above:
                    begin = start[i, j] + (y - above - top) * WIDE * layers
                    _divide(total, divide, cost[begin : begin + WIDE * layers])


@kernel
def _divide(total: Sums, factor: np.uint32, mean: Bytes) -> None:
    flat = total.reshape(-1)
    for k in range(len(flat)):
        mean[k] = np.uint8((np.uint32(flat[k]) * factor) >> DIVIDE_SHIFT)


@kernel
def _slide(pixel_costs: Bytes, oldest: Sums, total: Sums) -> None:
    """Replace the oldest row's horizontal sums by those of a new row, and update the total."""
    flat, old, sums = pixel_costs.reshape(-1), oldest.reshape(-1), total.reshape(-1)
    layers = np.uint64(pixel_costs.shape[1])
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
def _rebase(
    paths: Sums, source: int, layers: int, target: int, shift: int, wanted: int
) -> None:
    """Copy the costs of a path to a slot whose first disparity is higher by `shift`."""
    for k in range(wanted + 2):
        paths[target + k] = NEVER
    for k in range(max(0, -shift), min(wanted, layers - shift)):
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
    flat, step = paths.reshape(-1), np.uint16(p1)
    nowhere, moved = len(paths) - 2, len(paths) - 1
    for i in range(last - first):
        y = first + i if direction > 0 else last - 1 - i
        walked = y if direction > 0 else height - 1 - y
        row = y // TALL
        for j in range(count.shape[1]):
            column = j if direction > 0 else count.shape[1] - 1 - j
            begin, end = column * WIDE, min((column + 1) * WIDE, width)
            layers = int(count[row, column])
            # The cell of column 0, if the square reached so far.
            cells = start[row, column] + ((y - row * TALL) * WIDE - begin) * layers
            for k in range(len(steps)):
                back, aside = steps[k, 0], steps[k, 1]
                aside = -direction if back == 0 else aside
                yq = y - direction * back
                here = (k * rows + walked % rows) * width
                there = (k * rows + (walked - back) % rows) * width + aside
                above = yq // TALL if 0 <= yq < height else -1
                for n in range(end - begin):
                    x = begin + n if direction > 0 else end - 1 - n
                    xq = x + aside
                    slot, jump = nowhere, np.uint16(0)
                    if above >= 0 and 0 <= xq < width:
                        slot = there + x
                        jump = p2[abs(np.int64(grey[y, x]) - np.int64(grey[yq, xq]))]
                    place = slot * size
                    if slot != nowhere and (above != row or xq < begin or xq >= end):
                        beside = xq // WIDE
                        shift = int(low[row, column]) - int(low[above, beside])
                        others = int(count[above, beside])
                        if shift != 0 or others != layers:
                            _rebase(flat, place, others, moved * size, shift, layers)
                            place = moved * size
                    target = (here + x) * size
                    cell = np.uint64(cells + x * layers)
                    least[here + x] = _extend(
                        cost,
                        cell,
                        flat,
                        np.uint64(place),
                        np.uint64(target),
                        least[slot],
                        step,
                        jump,
                        sums,
                        cell,
                        np.uint64(layers),
                    )
                    # The slot may have had more disparities before.
                    flat[target + layers + 1] = NEVER


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
    for y in range(first, last):
        best[:] = NONE
        layer[:] = lowest - 1
        row = y // TALL
        for x in range(width):
            column = x // WIDE
            layers, base = int(count[row, column]), int(low[row, column])
            cell = start[row, column] + ((y - row * TALL) * WIDE + x - column * WIDE) * layers
            pixel = sums[cell : cell + layers]
            least, most = _least_and_most(pixel)
            winner = _first_index(pixel, least)
            second = min(_least(pixel[: max(winner - 1, 0)]), _least(pixel[winner + 2 :]))
            begin, end = max(0, x - base - width + 1), min(layers, x - base + 1)
            alone = second == NONE
            clear = alone or (second > least and second * 100 >= least * (100 + uniqueness))
            if clear and least * 100 > contrast * second and contrast:
                clear = _stands_out(pixel, least, winner, begin, end, contrast)
            if clear and (second - least) * 100 < rival * (most - least):
                clear = not _has_rival(pixel, least, winner, rival)
            left[y, x] = winner + base
            confidence[y, x] = 0.0 if second == 0 else 1.0 - least / second
            if alone:
                confidence[y, x] = 1.0
            disparity[y, x] = winner + _offset(pixel, winner) + base
            unique[y, x] = clear
            if begin < end:
                place = width - 1 - x + base + begin
                _update_right(pixel[begin:end], base + begin, best[place:], layer[place:])
        for x in range(width):
            right[y, x] = layer[width - 1 - x]
