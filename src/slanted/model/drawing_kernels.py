"""Kernels that draw planes as pixels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slanted.runtime.kernel import kernel


@kernel
def draw_rows(
    label_image: NDArray[np.int32],
    centre: NDArray[np.float64],
    planes: NDArray[np.float64],
    first: int,
    last: int,
    disparity: NDArray[np.float32],
) -> None:
    """Write each pixel's disparity on the plane of its segment (paper, Eq. 1), in some rows."""
    for y in range(first, last):
        for x in range(label_image.shape[1]):
            i = label_image[y, x]
            disparity[y, x] = (
                planes[i, 0] * (x - centre[i, 0]) + planes[i, 1] * (y - centre[i, 1]) + planes[i, 2]
            )


@kernel
def find_hidden(
    disparity: NDArray[np.float32], first: int, last: int, hidden: NDArray[np.bool_]
) -> None:
    """Mark the pixels of the left view that the right one does not show, in some rows.

    A pixel is hidden if its place in the right view lies outside it, or if a pixel more than one
    disparity nearer falls on the same place, rounded.
    """
    width = disparity.shape[1]
    nearest = np.empty(width, np.float32)
    for y in range(first, last):
        nearest[:] = -np.inf
        for x in range(width):
            place = int(np.rint(x - disparity[y, x]))
            if 0 <= place < width:
                nearest[place] = max(nearest[place], disparity[y, x])
        for x in range(width):
            place = int(np.rint(x - disparity[y, x]))
            outside = not 0 <= place < width
            hidden[y, x] = outside or nearest[place] > disparity[y, x] + 1
