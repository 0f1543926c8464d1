"""Numba kernel of the oriented histogram gradient, and its discs."""

from __future__ import annotations

import numpy as np

from slanted.runtime.arrays import Bytes, Float32s, Ints
from slanted.runtime.kernel import kernel

ORIENTATIONS = 8
SLICES = 2 * ORIENTATIONS
BINS = 16
EMPTY = np.float32(1e-6)
"""Added to denominators, so that an empty bin has χ² = 0."""


def disc_slices(radius: int) -> tuple[Ints, Ints, Float32s]:
    """Cut the pixels of a disc into `SLICES` equal slices.

    Returns
    -------
    offsets
        (N, 2) row and column of each pixel, relative to the centre.
    slices
        (N,) slice of each pixel: slice s spans the angles from s π / 8 to (s + 1) π / 8.
    shares
        (N,) share of the pixel in the slice: 1, or ½ in each of two slices that it lies between.
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
    bins: Bytes,
    fractions: Float32s,
    offsets: Ints,
    slices: Ints,
    shares: Float32s,
    gradient: Float32s,
) -> None:
    """Add the χ² distance between the histograms on both sides of a line through each pixel.

    A half disc is the sum of eight neighbouring slices, so the pixels of a disc are counted once
    for all orientations; the next half disc gains one slice and loses one.

    Parameters
    ----------
    bins, fractions
        Image padded by the disc's radius on all sides: a pixel counts 1 − fraction in its bin and
        fraction in the next one.
    offsets, slices, shares
        The disc, from `disc_slices`.
    gradient
        (ORIENTATIONS, H, W), to which distances are added; the gradient of orientation k has the
        angle k π / 8, measured from the x axis towards the y axis.
    """
    height, width = gradient.shape[1:]
    stride = bins.shape[1]
    radius = (stride - width) // 2
    # Flat, unsigned indices need no check for negative values, which halves the time.
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
                upper = shares[k] * flat_fractions[place]
                flat[cell] += shares[k] - upper
                flat[cell + np.uint64(1)] += upper
            # The half disc around angle 0 has the slices from −π / 2 to π / 2.
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
