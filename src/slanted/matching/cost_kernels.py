"""Numba kernels of the matching cost: the cost volume from census words and gradients.

Each call does the rows ``first <= y < last``, so that threads can share them; a row's result does
not depend on how rows are shared.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slanted.images.census_kernels import Gradients, Words, popcount
from slanted.runtime.arrays import Bytes
from slanted.runtime.kernel import kernel

BOX = 2
"""Radius, in pixels, of the box over which costs are averaged."""
BOX_SIDE = 2 * BOX + 1
DIVIDE_FACTOR, DIVIDE_SHIFT = np.uint32(41944), np.uint32(20)
"""``(n · 41944) >> 20`` is ``n // 25`` for all n up to 25 · 255; divisions do not vectorise."""


@kernel
def cost_rows(
    left_census: Words,
    right_census: Words,
    left_gradient: Gradients,
    right_gradient: Gradients,
    low: int,
    census_weight: np.uint8,
    gradient_weight: np.uint8,
    first: int,
    last: int,
    cost: Bytes,
) -> None:
    """Write the mean over 5×5 pixels of the weighted census and gradient differences.

    Parameters
    ----------
    left_census, right_census
        (H, W) census words.
    left_gradient, right_gradient
        (H, W) capped x-gradients.
    low
        Disparity of the volume's first layer, in pixels.
    census_weight, gradient_weight
        Cost of a differing bit and of a grey level; the cost of a pixel must not exceed 255.
    first, last
        Rows to write.
    cost
        (rows, W, D) costs, output. Images are extended beyond their borders by the border's
        values.
    """
    height, width = left_census.shape
    count = cost.shape[2]
    pixel_costs = np.empty((width, count), np.uint8)
    ring = np.zeros((BOX_SIDE, width, count), np.uint16)  # horizontal sums of the last rows
    total = np.zeros((width, count), np.uint16)  # sum of the ring
    # A mirrored row of the right image, which a rising disparity walks forward.
    mirrored_census = np.empty(width + count, np.uint64)
    mirrored_gradient = np.empty(width + count, np.int16)
    for y in range(first - BOX, last + BOX):
        inside = min(max(y, 0), height - 1)
        for j in range(width + count):
            x = min(max(width - 1 - j - low, 0), width - 1)
            mirrored_census[j] = right_census[inside, x]
            mirrored_gradient[j] = right_gradient[inside, x]
        for x in range(width):
            _pixel_costs(
                left_census[inside, x],
                mirrored_census,
                left_gradient[inside, x],
                mirrored_gradient,
                np.uint64(width - 1 - x),
                census_weight,
                gradient_weight,
                pixel_costs,
                np.uint64(x),
            )
        _slide(pixel_costs, ring[(y - first + BOX) % BOX_SIDE], total)
        if y >= first + BOX:
            _divide(total, cost[y - BOX - first])


@kernel
def _pixel_costs(
    left_word: np.uint64,
    right_words: Words,
    gradient: np.int16,
    gradients: Gradients,
    start: np.uint64,
    census_weight: np.uint8,
    gradient_weight: np.uint8,
    costs: Bytes,
    x: np.uint64,
) -> None:
    # Unsigned indices instead of slices, which would count references for each pixel.
    for k in range(costs.shape[1]):
        d = np.uint64(k)
        step = np.int16(gradient - gradients[start + d])
        step = step if step >= 0 else np.int16(-step)
        bits = np.uint8(popcount(left_word ^ right_words[start + d]))
        costs[x, d] = np.uint8(bits * census_weight + np.uint8(step) * gradient_weight)


@kernel
def _slide(pixel_costs: Bytes, oldest: NDArray[np.uint16], total: NDArray[np.uint16]) -> None:
    """Replace the oldest row's horizontal sums by those of a new row, and update the total."""
    width, count = pixel_costs.shape
    for k in range(width):
        x = np.uint64(k)
        a, b = np.uint64(max(k - 2, 0)), np.uint64(max(k - 1, 0))
        c, e = np.uint64(min(k + 1, width - 1)), np.uint64(min(k + 2, width - 1))
        for layer in range(count):
            d = np.uint64(layer)
            new = np.uint16(
                np.uint16(pixel_costs[a, d])
                + np.uint16(pixel_costs[b, d])
                + np.uint16(pixel_costs[x, d])
                + np.uint16(pixel_costs[c, d])
                + np.uint16(pixel_costs[e, d])
            )
            total[x, d] = np.uint16(total[x, d] + new - oldest[x, d])
            oldest[x, d] = new


@kernel
def _divide(total: NDArray[np.uint16], mean: Bytes) -> None:
    flat, out = total.reshape(-1), mean.reshape(-1)
    for k in range(len(flat)):
        out[k] = np.uint8((np.uint32(flat[k]) * DIVIDE_FACTOR) >> DIVIDE_SHIFT)
