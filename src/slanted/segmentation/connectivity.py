"""Label images whose segments are 4-connected and not too small."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Labels = NDArray[np.int32]


def connected_segments(
    labels: NDArray[np.integer[Any]],
    lab: NDArray[np.uint8],
    min_size: int,
    max_count: int | None = None,
) -> Labels:
    """Split labels into their 4-connected parts and merge parts that are too small.

    A part with fewer than `min_size` pixels joins the neighbour of the most similar mean colour;
    the smallest go first. SLIC leaves thousands of such crumbs on textured images.

    Parameters
    ----------
    labels
        (H, W) integers, any values.
    lab
        (3, H, W) 8-bit Lab planes.
    min_size
        Smallest segment to keep, in pixels.
    max_count
        Most segments to keep; the smallest are merged until no more are left.

    Returns
    -------
    labels
        (H, W), numbered 0 … n−1 in the order of their first pixels.
    """
    parts = split_connected(labels)
    count = int(parts.max()) + 1
    sizes, colours = _part_colours(lab, parts, count)
    order = np.argsort(sizes, kind="stable")
    start, neighbours = _neighbour_lists(parts, count)
    limit = count if max_count is None else max_count
    root = _merge_small(order, sizes, colours, start, neighbours, min_size, limit)
    merged: Labels = _renumber(root[parts], count)
    return merged


def split_connected(labels: NDArray[np.integer[Any]]) -> Labels:
    """Give the 4-connected parts of equal labels numbers 0 … n−1, in raster order."""
    from skimage.measure import label

    # skimage calls one value background; a value that does not occur makes it none.
    parts = label(labels, background=int(labels.min()) - 1, connectivity=1)
    return np.asarray(parts, np.int32) - np.int32(1)


def _part_colours(
    lab: NDArray[np.uint8], parts: Labels, count: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return each part's number of pixels and its sums of L, a, b."""
    flat = parts.reshape(-1)
    sizes = np.bincount(flat, minlength=count)
    sums = [np.bincount(flat, weights=plane.reshape(-1), minlength=count) for plane in lab]
    return sizes, np.stack(sums, axis=1)


@njit(cache=True, nogil=True)
def _renumber(labels: Labels, count: int) -> Labels:
    """Overwrite the labels that occur by 0 … n−1, in raster order."""
    number = np.full(count, -1, np.int32)
    used = 0
    flat = labels.reshape(-1)
    for p in range(flat.size):
        if number[flat[p]] < 0:
            number[flat[p]] = used
            used += 1
        flat[p] = number[flat[p]]
    return labels


@njit(cache=True, nogil=True)
def _neighbour_lists(parts: Labels, count: int) -> tuple[NDArray[np.int64], Labels]:
    """Return each part's neighbours, as one list with the start of each part's share.

    A neighbour stands there once for each edge of two pixels: finding the duplicates costs more
    than meeting them again.
    """
    height, width = parts.shape
    start = np.zeros(count + 2, np.int64)
    neighbours = np.empty(0, np.int32)
    for filling in range(2):
        for y in range(height):
            for x in range(width):
                here = parts[y, x]
                for step in range(2):
                    if (x + 1 == width) if step == 0 else (y + 1 == height):
                        continue
                    there = parts[y, x + 1] if step == 0 else parts[y + 1, x]
                    if here == there:
                        continue
                    if filling:
                        neighbours[start[here + 1]] = there
                        neighbours[start[there + 1]] = here
                        start[here + 1] += 1
                        start[there + 1] += 1
                    else:
                        start[here + 2] += 1
                        start[there + 2] += 1
        if not filling:
            # start[k + 1] now walks from the first to one past the last neighbour of k.
            for k in range(2, count + 2):
                start[k] += start[k - 1]
            neighbours = np.empty(start[count + 1], np.int32)
    return start[: count + 1], neighbours


@njit(cache=True, nogil=True)
def _merge_small(
    order: NDArray[np.int64],
    sizes: NDArray[np.int64],
    colours: NDArray[np.float64],
    start: NDArray[np.int64],
    neighbours: Labels,
    min_size: int,
    max_count: int,
) -> Labels:
    """Return for each part the part it ends up in; `sizes` and `colours` (sums) are overwritten."""
    count = remaining = len(sizes)
    root = np.arange(count, dtype=np.int32)
    # The parts that were merged, as a linked list from each root: its neighbours are theirs.
    following = np.full(count, -1, np.int32)
    last = np.arange(count, dtype=np.int32)
    for part in order:
        here = _find(root, part)
        if sizes[here] >= min_size and remaining <= max_count:
            continue
        best, best_distance = -1, np.inf
        member = here
        while member != -1:
            for k in range(start[member], start[member + 1]):
                other = _find(root, neighbours[k])
                if other == here:
                    continue
                distance = 0.0
                for f in range(colours.shape[1]):
                    step = colours[here, f] / sizes[here] - colours[other, f] / sizes[other]
                    distance += step * step
                if distance < best_distance or (distance == best_distance and other < best):
                    best, best_distance = other, distance
            member = following[member]
        if best == -1:  # the whole image
            break
        root[here] = best
        remaining -= 1
        sizes[best] += sizes[here]
        for f in range(colours.shape[1]):
            colours[best, f] += colours[here, f]
        following[last[best]] = here
        last[best] = last[here]
    for part in range(count):
        root[part] = _find(root, part)
    return root


@njit(cache=True, nogil=True)
def _find(root: Labels, part: int) -> int:
    while root[part] != part:
        root[part] = root[root[part]]
        part = root[part]
    return part
