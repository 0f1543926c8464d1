"""Numba kernels on blocks of pixels, by which an enlarged map gets its own size again."""

from __future__ import annotations

import numpy as np

from slanted.runtime.arrays import DisparityMap
from slanted.runtime.kernel import kernel


@kernel
def block_median_rows(
    values: DisparityMap, side: int, first: int, last: int, medians: DisparityMap
) -> None:
    """Write the medians of what is known in blocks; NaN where less than half of a block is.

    Sorting blocks with NumPy took 0.08 s of the 0.49 s of matching an enlarged pair (Motorcycle).

    Parameters
    ----------
    values
        (H · side, W · side) map, NaN where nothing is known.
    side
        Side of a block, in pixels.
    first, last
        Rows of blocks to write.
    medians
        (H, W), output.
    """
    known = np.empty(side * side, np.float32)
    for y in range(first, last):
        for x in range(medians.shape[1]):
            if side == 2:  # the middle two of four are known without sorting, and without branches
                a, b = values[2 * y, 2 * x], values[2 * y, 2 * x + 1]
                c, d = values[2 * y + 1, 2 * x], values[2 * y + 1, 2 * x + 1]
                if not np.isnan(a + b + c + d):
                    middle = max(min(a, b), min(c, d)) + min(max(a, b), max(c, d))
                    medians[y, x] = np.float32(0.5) * middle
                    continue
            count = 0
            for k in range(side * side):
                value = values[y * side + k // side, x * side + k % side]
                if np.isnan(value):
                    continue
                place = count
                while place > 0 and known[place - 1] > value:
                    known[place] = known[place - 1]
                    place -= 1
                known[place] = value
                count += 1
            medians[y, x] = np.nan
            if 2 * count >= side * side:
                middle = known[(count - 1) // 2] + known[count // 2]
                medians[y, x] = np.float32(0.5) * middle
