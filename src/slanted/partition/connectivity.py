"""Label images whose segments are 4-connected and not too small."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from slanted.runtime.kernel import kernel
from slanted.runtime.threads import together

if TYPE_CHECKING:
    from slanted.partition.run_kernels import Runs

Labels = NDArray[np.int32]


def connected_segments(
    label_image: NDArray[np.integer[Any]],
    lab: NDArray[np.uint8],
    min_size: int,
    counts: tuple[int, int] | None = None,
) -> Labels:
    """Split labels into their 4-connected parts and merge parts that are too small.

    A part with fewer than `min_size` pixels joins the neighbour of the most similar mean colour;
    the smallest go first. SLIC leaves thousands of such crumbs on textured images.

    Parameters
    ----------
    label_image
        (H, W) integers, any values.
    lab
        (3, H, W) 8-bit Lab planes.
    min_size
        Smallest segment to keep, in pixels.
    counts
        Fewest and most segments to end with, if the image allows: small ones are spared at the
        former, and the smallest are merged until the latter.

    Returns
    -------
    label_image
        (H, W), numbered 0 … n−1 in the order of their first pixels.
    """
    parts, runs = _parts_and_runs(label_image)
    count = int(parts.max()) + 1
    (sizes, colours), (start, neighbours) = together(
        lambda: _part_colours(lab, parts, count), lambda: _neighbours(parts, runs, count)
    )
    fewest, most = (1, count) if counts is None else counts
    root = np.arange(count, dtype=np.int32)
    chains = np.stack([np.full(count, -1, np.int32), np.arange(count, dtype=np.int32)])
    remaining = count
    # First what is too small; then, if there are still too many, the smallest whatever their size.
    for target, smallest in ((fewest, min_size), (most, np.iinfo(np.int64).max)):
        order = np.argsort(sizes, kind="stable")
        remaining = _merge_small(
            order, sizes, colours, start, neighbours, root, chains, remaining, target, smallest
        )
    rename(parts, root)
    merged: Labels = _renumber(parts, count)
    return merged


def split_connected(label_image: NDArray[np.integer[Any]]) -> Labels:
    """Give the 4-connected parts of equal labels numbers 0 … n−1, in raster order."""
    return _parts_and_runs(label_image)[0]


def _parts_and_runs(label_image: NDArray[np.integer[Any]]) -> tuple[Labels, Runs]:
    """Return the connected parts, and the runs of equal labels in the rows, which they share."""
    # Not above: regions need this module's connected parts.
    from slanted.partition.run_kernels import number_pieces, row_runs

    bounds = np.iinfo(np.int32)
    if (
        label_image.dtype != np.int32
        and not bounds.min <= label_image.min() <= label_image.max() <= bounds.max
    ):
        # 64-bit names such as hashes: only their being equal matters.
        label_image = np.unique(label_image, return_inverse=True)[1].reshape(label_image.shape)
    # Of one type, whatever they were: kernels are compiled for each.
    names, parts = (
        np.ascontiguousarray(label_image, np.int32),
        np.empty(label_image.shape, np.int32),
    )
    runs = row_runs(names)
    number_pieces(names, *runs, parts)
    return parts, runs


def _neighbours(parts: Labels, runs: Runs, count: int) -> tuple[NDArray[np.int64], Labels]:
    """Return each part's neighbours, as one list, and the start of each part's share.

    A neighbour stands there as often as runs touch: finding the duplicates costs more than meeting
    them again.
    """
    from slanted.partition.run_kernels import contacts, stable_order

    low, high, _ = contacts(parts, *runs)
    start, order = stable_order(np.concatenate([low, high]), count)
    return start, np.concatenate([high, low])[order]


@kernel
def rename(label_image: Labels, names: NDArray[np.integer[Any]]) -> None:
    """Give each pixel the name of its label, in place; NumPy would copy the image twice for it."""
    flat = label_image.reshape(-1)
    for p in range(flat.size):
        flat[p] = names[flat[p]]


@kernel
def _part_colours(
    lab: NDArray[np.uint8], parts: Labels, count: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return each part's number of pixels and its sums of L, a, b."""
    sizes, sums = np.zeros(count, np.int64), np.zeros((count, 3))
    for y in range(parts.shape[0]):
        for x in range(parts.shape[1]):
            part = parts[y, x]
            sizes[part] += 1
            for f in range(3):
                sums[part, f] += lab[f, y, x]
    return sizes, sums


@kernel
def _renumber(label_image: Labels, count: int) -> Labels:
    """Overwrite the labels that occur by 0 … n−1, in raster order."""
    number = np.full(count, -1, np.int32)
    used = 0
    flat = label_image.reshape(-1)
    for p in range(flat.size):
        if number[flat[p]] < 0:
            number[flat[p]] = used
            used += 1
        flat[p] = number[flat[p]]
    return label_image


@kernel
def _merge_small(
    order: NDArray[np.int64],
    sizes: NDArray[np.int64],
    colours: NDArray[np.float64],
    start: NDArray[np.int64],
    neighbours: Labels,
    root: Labels,
    chains: Labels,
    remaining: int,
    fewest: int,
    min_size: int,
) -> int:
    """Merge parts below `min_size`, in the given order, until `fewest` remain; return how many do.

    `sizes` and `colours` (sums) of the parts that remain are kept up to date, `root` tells where
    each part has gone, and `chains` holds, from each root, the linked list of the parts merged into
    it (next, and last): their neighbours are its neighbours.
    """
    following, last = chains[0], chains[1]
    for part in order:
        if remaining <= fewest:
            break
        here = _find(root, part)
        if here != part or sizes[here] >= min_size:
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
    for part in range(len(root)):
        root[part] = _find(root, part)
        if root[part] != part:
            sizes[part] = np.iinfo(np.int64).max  # merged: at the end of every later order
    return remaining


@kernel
def _find(root: Labels, part: int) -> int:
    while root[part] != part:
        root[part] = root[root[part]]
        part = root[part]
    return part
