"""Numba kernels on patches: connected pixels of similar disparity."""

from __future__ import annotations

import numpy as np

from slanted.runtime.arrays import DisparityMap, Flags, Ints, Starts
from slanted.runtime.kernel import kernel

SIDES = ((-1, 0), (0, 1), (1, 0), (0, -1))
"""Row and column offsets of the four pixels that share a side with a pixel."""


@kernel
def find_patches(candidate: Flags, disparity: DisparityMap, step: float, smallest: int) -> Ints:
    """Find patches of candidate pixels, numbered in the raster order of their first pixels.

    Parameters
    ----------
    candidate
        (H, W) pixels that patches may hold.
    disparity
        (H, W), known at all candidates.
    step
        Largest difference in disparity, in pixels, of two linked pixels that share a side.
    smallest
        Smallest patch to return, in pixels.

    Returns
    -------
    patches
        (H, W) patch of each pixel, 0 … m−1, or −1.
    """
    height, width = candidate.shape
    patches = np.full((height, width), -1, np.int32)
    reached = ~candidate
    most = 0
    for y in range(height):
        for x in range(width):
            most += candidate[y, x]
    queue = np.empty((most, 2), np.int32)
    count = 0
    for y in range(height):
        for x in range(width):
            if reached[y, x]:
                continue
            size = _reach(y, x, disparity, step, reached, queue)
            if size >= smallest:
                for k in range(size):
                    patches[queue[k, 0], queue[k, 1]] = count
                count += 1
    return patches


@kernel
def _reach(
    row: int,
    column: int,
    disparity: DisparityMap,
    step: float,
    reached: Flags,
    queue: Ints,
) -> int:
    """Write the pixels linked to one into the queue, mark them as reached and count them."""
    height, width = disparity.shape
    reached[row, column] = True
    queue[0, 0], queue[0, 1] = row, column
    done, size = 0, 1
    while done < size:
        y, x = queue[done]
        done += 1
        for k in range(4):
            v, u = y + SIDES[k][0], x + SIDES[k][1]
            if not (0 <= v < height and 0 <= u < width) or reached[v, u]:
                continue
            if abs(disparity[v, u] - disparity[y, x]) <= step:
                reached[v, u] = True
                queue[size, 0], queue[size, 1] = v, u
                size += 1
    return size


@kernel
def count_implausible(
    patches: Ints,
    trusted: Flags,
    disparity: DisparityMap,
    step: float,
) -> Starts:
    """Count the pixels of each patch that are probably wrong matches.

    These are pixels whose next trusted match on the right, in the same row, is nearer by more than
    `step` and would lie outside the right view if its surface continued to the pixel.

    Parameters
    ----------
    patches
        (H, B) patch of each pixel of the first B columns, or −1.
    trusted
        Whether each patch is trusted; matches from column B on always are.
    disparity
        (H, W), NaN where unknown.
    step
        Pixels of disparity.
    """
    counts = np.zeros(len(trusted), np.int64)
    height, width = disparity.shape
    band = patches.shape[1]
    for y in range(height):
        nearer = np.float32(np.nan)
        for x in range(band, width):
            if not np.isnan(disparity[y, x]):
                nearer = disparity[y, x]
                break
        for i in range(band):
            x = band - 1 - i
            patch = patches[y, x]
            if patch < 0:
                continue
            if trusted[patch]:
                nearer = disparity[y, x]
            elif nearer - disparity[y, x] > step and x < nearer:
                counts[patch] += 1
    return counts
