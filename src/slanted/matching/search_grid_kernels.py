"""Numba kernels of semi-global matching on a `SearchGrid`: costs, paths and winners.

They do what those of `cost_kernels`, `sgm_kernels` and `winner_kernels` do, in flat volumes whose
pixels have as many disparities as their square.
"""

from __future__ import annotations

import numpy as np

from slanted.images.census_kernels import Gradients, Words
from slanted.matching.cost_kernels import BOX, BOX_SIDE, _divide
from slanted.matching.lane_kernels import (
    LANES,
    better_lanes,
    extend_lanes,
    first_lane,
    least_lane,
    most_lane,
    pixel_cost_lanes,
    second_lane,
    sum_lanes,
)
from slanted.matching.search_grid import SIDE
from slanted.matching.sgm_kernels import NEVER, Sums
from slanted.matching.winner_kernels import (
    NONE,
    _has_rival,
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
