"""Numba kernels of the matching cost: the cost volume from census words and gradients.

Volumes are those of a `SearchGrid`. Each call does the rows of squares ``first <= i < last``, so
that threads can share them; a square's costs do not depend on how rows are shared.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slanted.images.census_kernels import Gradients, Words
from slanted.matching.lane_kernels import LANES, pixel_cost_lanes
from slanted.matching.search_grid import SIDE
from slanted.runtime.arrays import Bytes, Ints, Starts
from slanted.runtime.kernel import kernel

BOX = 2
"""Radius, in pixels, of the box over which costs are averaged."""
BOX_SIDE = 2 * BOX + 1
DIVIDE_FACTOR, DIVIDE_SHIFT = np.uint32(41944), np.uint32(20)
"""``(n · 41944) >> 20`` is ``n // 25`` for all n up to 25 · 255; divisions do not vectorise."""


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
    """Write the mean over 5×5 pixels of the weighted census and gradient differences.

    Parameters
    ----------
    left_census, left_gradient
        (H, W) census words and capped x-gradients. Images are extended beyond their borders by the
        border's values.
    right_census, right_gradient
        Those of the right view, mirrored, so that a rising disparity walks them forward, with their
        ends repeated.
    before
        How often the first column of the mirrored view is repeated.
    census_weight, gradient_weight
        Cost of a differing bit and of a grey level; the cost of a pixel must not exceed 255.
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
        pitch = start[i, count.shape[1]] - start[i, 0]  # cells of a row of pixels
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
                    begin = start[i, j] + (y - BOX - top) * pitch
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
    """Write the weighted differences of a pixel and those of the right view that it may match."""
    weights = census_weight, gradient_weight
    for _ in range(parts):
        pixel_cost_lanes(word, words, gradient, gradients, start, *weights, costs, cell)
        start, cell = start + np.uint64(LANES), cell + np.uint64(LANES)


@kernel
def _slide(
    pixel_costs: Bytes, count: int, oldest: NDArray[np.uint16], total: NDArray[np.uint16]
) -> None:
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


@kernel
def _divide(total: NDArray[np.uint16], mean: Bytes) -> None:
    flat, out = total.reshape(-1), mean.reshape(-1)
    for k in range(len(flat)):
        out[k] = np.uint8((np.uint32(flat[k]) * DIVIDE_FACTOR) >> DIVIDE_SHIFT)
