"""Numba kernel that measures patches: connected pixels of about the same disparity."""

from __future__ import annotations

import numpy as np

from slanted.runtime.arrays import DisparityMap, Ints
from slanted.runtime.kernel import kernel


@kernel
def measure_patches(disparity: DisparityMap, step: float, size: Ints) -> None:
    """Write the number of pixels of each pixel's patch.

    Neighbours to the left, right, above and below are of one patch if their disparities differ by
    at most `step`. OpenCV's speckle filter knows these sizes, but keeps them to itself.

    Parameters
    ----------
    disparity
        (H, W) pixels.
    step
        In pixels.
    size
        (H, W) output.
    """
    height, width = disparity.shape
    parent = np.arange(height * width)
    for y in range(height):
        for x in range(width):
            here = y * width + x
            if x > 0 and abs(disparity[y, x] - disparity[y, x - 1]) <= step:
                _join(parent, here, here - 1)
            if y > 0 and abs(disparity[y, x] - disparity[y - 1, x]) <= step:
                _join(parent, here, here - width)
    count = np.zeros(height * width, np.int32)
    for here in range(height * width):
        count[_root(parent, here)] += 1
    for y in range(height):
        for x in range(width):
            size[y, x] = count[_root(parent, y * width + x)]


@kernel
def _root(parent: Ints, pixel: int) -> int:
    """Return the first pixel of a patch, and shorten the way to it."""
    while parent[pixel] != pixel:
        parent[pixel] = parent[parent[pixel]]
        pixel = parent[pixel]
    return pixel


@kernel
def _join(parent: Ints, one: int, other: int) -> None:
    """Make one patch of two; its first pixel is the lower of theirs."""
    a, b = _root(parent, one), _root(parent, other)
    if a < b:
        parent[b] = a
    else:
        parent[a] = b
