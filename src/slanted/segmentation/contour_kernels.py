"""Numba kernel of the oriented histogram gradient."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slanted.runtime.kernel import kernel

ORIENTATIONS = 8
SLICES = 2 * ORIENTATIONS
BINS = 16
EMPTY = np.float32(1e-6)
"""Keeps the χ² of an empty bin at 0."""


def disc_slices(radius: int) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float32]]:
    """Cut a disc into equal slices of its pixels.

    Returns
    -------
    offsets
        (N, 2) row and column of each pixel from the centre.
    slices
        (N,) the slice it lies in: slice s spans the angles from s to s + 1 times π / 8.
    weights
        (N,) 1, or ½ twice for a pixel on the line between two slices.
    """
    rows, columns = np.mgrid[-radius : radius + 1, -radius : radius + 1]
    inside = (rows**2 + columns**2 <= radius * (radius + 0.5)) & ((rows != 0) | (columns != 0))
    rows, columns = rows[inside], columns[inside]
    place = np.arctan2(rows, columns) / (np.pi / ORIENTATIONS)
    below = np.floor(place + 1e-9).astype(np.int32)
    on_line = np.abs(place - np.rint(place)) < 1e-9
    offsets = np.stack([rows, columns], axis=1).astype(np.int32)
    return (
        np.concatenate([offsets, offsets[on_line]]),
        np.concatenate([below, below[on_line] - 1]) % SLICES,
        np.concatenate([np.where(on_line, 0.5, 1.0), np.full(on_line.sum(), 0.5)]).astype(
            np.float32
        ),
    )


@kernel
def add_histogram_gradient(
    bins: NDArray[np.uint8],
    fractions: NDArray[np.float32],
    offsets: NDArray[np.int32],
    slices: NDArray[np.int32],
    weights: NDArray[np.float32],
    gradient: NDArray[np.float32],
) -> None:
    """Add the χ² distance of the histograms on both sides of a line through each pixel.

    Half discs are sums of eight neighbouring slices, so the pixels of a disc are counted once for
    all orientations; each next half disc gains one slice and loses one.

    Parameters
    ----------
    bins, fractions
        Image padded by the disc's radius on all sides: a value lies between bin b, with weight
        1 − fraction, and bin b + 1.
    offsets, slices, weights
        The disc, from `disc_slices`.
    gradient
        (ORIENTATIONS, H, W), added to; orientation k is that of the gradient, at the angle k π / 8
        from the columns' direction towards the rows'.
    """
    height, width = gradient.shape[1:]
    stride = bins.shape[1]
    radius = (stride - width) // 2
    # Flat, unsigned indices: two-dimensional ones, checked for negative values, take half the time.
    flat_bins, flat_fractions = bins.reshape(-1), fractions.reshape(-1)
    steps = np.empty(len(offsets), np.uint64)
    for k in range(len(offsets)):
        steps[k] = np.uint64((offsets[k, 0] + radius) * stride + offsets[k, 1] + radius)
    targets = (slices * BINS).astype(np.uint64)
    flat = np.empty(SLICES * BINS, np.float32)
    counts = flat.reshape(SLICES, BINS)
    first, second = np.empty(BINS, np.float32), np.empty(BINS, np.float32)
    for y in range(height):
        for x in range(width):
            flat[:] = 0
            corner = np.uint64(y * stride + x)
            for k in range(len(steps)):
                place = corner + steps[k]
                cell = targets[k] + np.uint64(flat_bins[place])
                upper = weights[k] * flat_fractions[place]
                flat[cell] += weights[k] - upper
                flat[cell + np.uint64(1)] += upper
            # The half around angle 0 is made of the slices from −π / 2 to π / 2.
            first[:] = 0
            second[:] = 0
            for s in range(ORIENTATIONS):
                one = counts[(s + SLICES - ORIENTATIONS // 2) % SLICES]
                other = counts[s + ORIENTATIONS // 2]
                for b in range(BINS):
                    first[b] += one[b]
                    second[b] += other[b]
            for k in range(ORIENTATIONS):
                distance, total = np.float32(0), np.float32(0)
                for b in range(BINS):
                    both = first[b] + second[b]
                    differ = first[b] - second[b]
                    distance += differ * differ / (both + EMPTY)
                    total += both
                gradient[k, y, x] += distance / total
                gained = counts[(k + ORIENTATIONS // 2) % SLICES]
                lost = counts[(k + SLICES - ORIENTATIONS // 2) % SLICES]
                for b in range(BINS):
                    change = gained[b] - lost[b]
                    first[b] += change
                    second[b] -= change
