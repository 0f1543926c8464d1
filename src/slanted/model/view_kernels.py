"""Numba kernels that draw planes, and compare them with what the right view shows."""

from __future__ import annotations

import numpy as np

from slanted.images.census_kernels import Words, popcount
from slanted.runtime.arrays import DisparityMap, Flags, Floats, Ints, Starts
from slanted.runtime.kernel import kernel


@kernel
def draw_rows(
    label_image: Ints, centre: Floats, planes: Floats, first: int, last: int, drawn: DisparityMap
) -> None:
    """Write each pixel's disparity on the plane of its segment (paper, Eq. 1), in some rows."""
    for y in range(first, last):
        for x in range(label_image.shape[1]):
            i = label_image[y, x]
            drawn[y, x] = (
                planes[i, 0] * (x - centre[i, 0]) + planes[i, 1] * (y - centre[i, 1]) + planes[i, 2]
            )


@kernel
def find_hidden(disparity: DisparityMap, first: int, last: int, hidden: Flags) -> None:
    """Mark the pixels of the left view that the right view does not show, in some rows.

    A pixel is hidden if its position in the right view lies outside the image, or if a pixel that
    is nearer by more than one pixel of disparity falls on the same column, rounded.
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


@kernel
def project_matches(
    disparity: DisparityMap, first: int, last: int, right_disparity: DisparityMap
) -> None:
    """Write the disparity that the right view sees, in some rows; the nearest match wins.

    Both maps are (H, W), NaN where unknown.
    """
    width = disparity.shape[1]
    for y in range(first, last):
        right_disparity[y] = np.nan
        for x in range(width):
            d = disparity[y, x]
            if np.isnan(d):
                continue
            place = int(np.rint(x - d))
            if 0 <= place < width and not right_disparity[y, place] >= d:
                right_disparity[y, place] = d


@kernel
def gather_unmatched(pixels: Ints, start: Starts, disparity: Floats) -> tuple[Starts, Ints]:
    """Return the pixels of each set whose disparity is NaN; sets as in `gather_matches`."""
    unknown_start = np.zeros(len(start), np.int64)
    unknown = np.empty(len(pixels), np.int32)
    used = 0
    for k in range(len(start) - 1):
        for p in pixels[start[k] : start[k + 1]]:
            if np.isnan(disparity[p]):
                unknown[used] = p
                used += 1
        unknown_start[k + 1] = used
    return unknown_start, unknown[:used].copy()


@kernel
def contradictions(
    start: Starts,
    pixels: Ints,
    right_disparity: DisparityMap,
    slack: float,
    centre: Floats,
    planes: Floats,
) -> Floats:
    """Count the pixels of each set that the right view should show on each plane, but does not.

    Parameters
    ----------
    start, pixels
        Sets of flat indices of pixels without a match.
    right_disparity
        (H, W) disparity of the right view, NaN where unknown.
    slack
        How much farther, in pixels, something in the right view must be to contradict the plane.
    centre
        (sets, 2) u, v about which the planes are given.
    planes
        (sets, N, 3) planes of each set.

    Returns
    -------
    counts
        (sets, N) numbers of pixels.
    """
    width = right_disparity.shape[1]
    sets, count, _ = planes.shape
    counts = np.zeros((sets, count))
    for k in range(sets):
        for p in pixels[start[k] : start[k + 1]]:
            y = p // width
            x = p - y * width
            u, v = x - centre[k, 0], y - centre[k, 1]
            for m in range(count):
                d = planes[k, m, 0] * u + planes[k, m, 1] * v + planes[k, m, 2]
                place = np.rint(x - d)
                if 0 <= place < width and right_disparity[y, int(place)] < d - slack:
                    counts[k, m] += 1
    return counts


@kernel
def differing_bits(
    start: Starts,
    pixels: Ints,
    left_census: Words,
    right_census: Words,
    right_disparity: DisparityMap,
    slack: float,
    most: float,
    hidden: float,
    centre: Floats,
    planes: Floats,
) -> Floats:
    """Sum the differing bits of census words over a quarter of each set's pixels, for each plane.

    Parameters
    ----------
    start, pixels, right_disparity, centre, planes
        As for `contradictions`; only pixels whose x + 2 y is a multiple of 4 are visited.
    left_census, right_census
        (H, W) census words.
    slack
        How much nearer, in pixels, something in the right view must be to hide the plane.
    most
        Largest number of bits that a pixel counts.
    hidden
        Number of bits that a pixel counts that is out of view or hidden.

    Returns
    -------
    bits
        (sets, N) sums.
    """
    width = left_census.shape[1]
    sets, count, _ = planes.shape
    bits = np.empty((sets, count))
    largest = 0
    for k in range(sets):
        largest = max(largest, start[k + 1] - start[k])
    xs, ys = np.empty(largest, np.int32), np.empty(largest, np.int32)
    for k in range(sets):
        visited, y, stop = 0, 0, 0
        for p in pixels[start[k] : start[k + 1]]:
            if not stop - width <= p < stop:  # another row; a division takes as long as the rest
                y = p // width
                stop = (y + 1) * width
            x = p - stop + width
            if (x + 2 * y) & 3 == 0:
                xs[visited], ys[visited] = x, y
                visited += 1
        for m in range(count):
            a, b, c = planes[k, m]
            total = 0.0
            for n in range(visited):
                x, y = xs[n], ys[n]
                d = a * (x - centre[k, 0]) + b * (y - centre[k, 1]) + c
                place = x - d
                # No branches, which processors cannot predict here, and no negative indices.
                inside = place if place > 0 else 0.0
                inside = inside if inside < width - 1 else width - 1.0
                row, column = np.uint64(y), np.int64(inside)
                nearer = right_disparity[row, np.uint64(inside + 0.5)] > d + slack
                share = inside - column
                word, next_column = left_census[row, np.uint64(x)], min(column + 1, width - 1)
                # Signed, because processors convert unsigned integers to floats slowly.
                here = np.int64(popcount(word ^ right_census[row, np.uint64(column)]))
                beside = np.int64(popcount(word ^ right_census[row, np.uint64(next_column)]))
                seen = min(here + share * (beside - here), most)
                total += hidden if nearer or inside != place else seen
            bits[k, m] = total
    return bits
