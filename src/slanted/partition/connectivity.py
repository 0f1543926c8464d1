"""Label images whose segments are 4-connected and not too small."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from slanted.partition.run_kernels import (
    Runs,
    contacts,
    find_root,
    number_pieces,
    row_runs,
    stable_order,
)
from slanted.runtime.arrays import Bytes, Floats, Ints, Starts
from slanted.runtime.kernel import kernel
from slanted.runtime.threads import lend_threads, share, together


def connected_segments(
    label_image: NDArray[np.integer[Any]],
    lab: Bytes,
    min_size: int,
    counts: tuple[int, int] | None = None,
) -> Ints:
    """Split segments into their 4-connected pieces and merge pieces that are too small.

    A piece with fewer than `min_size` pixels joins the neighbour of the most similar mean colour,
    smallest pieces first. SLIC leaves thousands of such pieces on textured images.

    Parameters
    ----------
    label_image
        (H, W) integers, any values.
    lab
        (3, H, W) 8-bit Lab planes.
    min_size
        Smallest segment to keep, in pixels.
    counts
        Fewest and most segments of the result, where the image allows it: no piece is merged below
        the former, and the smallest pieces are merged until the latter is reached.

    Returns
    -------
    label_image
        (H, W), segments numbered 0 … n−1 in the order of their first pixels.
    """
    lend_threads()
    pieces, runs = pieces_and_runs(label_image)
    count = int(pieces.max()) + 1
    (sizes, colours), (start, neighbours) = together(
        lambda: _piece_colours(lab, pieces, count), lambda: _neighbours(pieces, runs, count)
    )
    fewest, most = (1, count) if counts is None else counts
    root = np.arange(count, dtype=np.int32)
    chains = np.stack([np.full(count, -1, np.int32), np.arange(count, dtype=np.int32)])
    remaining = count
    # First the pieces below min_size; then, if too many are left, the smallest of any size.
    for target, smallest in ((fewest, min_size), (most, np.iinfo(np.int64).max)):
        order = np.argsort(sizes, kind="stable")
        remaining = _merge_small(
            order, sizes, colours, start, neighbours, root, chains, remaining, target, smallest
        )
    rename_all(pieces, _numbered(root))
    return pieces


def _numbered(root: Ints) -> Ints:
    """Return 0 … n−1 for the n values of an array, in the order in which they first occur.

    Pieces are numbered by their first pixels, and so are then the segments that they make up.
    """
    place = np.arange(len(root), dtype=np.int32)
    first = np.empty_like(place)
    first[root[::-1]] = place[::-1]  # of values for one place, the last remains
    number = np.cumsum(first[root] == place, dtype=np.int32) - np.int32(1)
    return np.asarray(number[first[root]])


def split_connected(label_image: NDArray[np.integer[Any]]) -> Ints:
    """Return the 4-connected pieces of a label image, numbered 0 … n−1 in raster order."""
    return pieces_and_runs(label_image)[0]


def pieces_and_runs(label_image: NDArray[np.integer[Any]]) -> tuple[Ints, Runs]:
    """Return the 4-connected pieces, and the runs of both the label image and its pieces."""
    int32 = np.iinfo(np.int32)
    if (
        label_image.dtype != np.int32
        and not int32.min <= label_image.min() <= label_image.max() <= int32.max
    ):
        # 64-bit values such as hashes: only their equality matters.
        label_image = np.unique(label_image, return_inverse=True)[1].reshape(label_image.shape)
    # Always int32, because kernels are compiled for each type.
    whole = np.ascontiguousarray(label_image, np.int32)
    pieces, runs = np.empty(whole.shape, np.int32), row_runs(whole)
    number_pieces(whole, *runs, pieces)
    return pieces, runs


def _neighbours(pieces: Ints, runs: Runs, count: int) -> tuple[Starts, Ints]:
    """Return where each piece's neighbours start, and the neighbours of all pieces.

    A neighbour is listed once for each contact of runs: removing duplicates would take longer than
    visiting them.
    """
    low, high, _ = contacts(pieces, *runs)
    start, order = stable_order(np.concatenate([low, high]), count)
    return start, np.concatenate([high, low])[order]


def rename_all(label_image: Ints, names: NDArray[np.integer[Any]]) -> None:
    """Replace each label k by ``names[k]``, in place; threads share the rows."""
    share(len(label_image), lambda first, last: rename(label_image[first:last], names))


@kernel
def rename(label_image: Ints, names: NDArray[np.integer[Any]]) -> None:
    """Replace each label k by ``names[k]``, in place; NumPy would copy the image twice."""
    flat = label_image.reshape(-1)
    for p in range(flat.size):
        flat[p] = names[flat[p]]


@kernel
def _piece_colours(lab: Bytes, pieces: Ints, count: int) -> tuple[Starts, Floats]:
    """Return each piece's number of pixels and its sums of L, a and b."""
    sizes, sums = np.zeros(count, np.int64), np.zeros((count, 3))
    for y in range(pieces.shape[0]):
        for x in range(pieces.shape[1]):
            piece = pieces[y, x]
            sizes[piece] += 1
            for f in range(3):
                sums[piece, f] += lab[f, y, x]
    return sizes, sums


@kernel
def _merge_small(
    order: Starts,
    sizes: Starts,
    colours: Floats,
    start: Starts,
    neighbours: Ints,
    root: Ints,
    chains: Ints,
    remaining: int,
    fewest: int,
    min_size: int,
) -> int:
    """Merge pieces below `min_size`, in `order`, until `fewest` remain; return how many remain.

    `sizes` and `colours` (sums over pixels) of the remaining pieces are updated. `root` maps each
    piece to the one it was merged into. `chains` holds, for each root, the linked list of the
    pieces merged into it (next and last), whose neighbours are also neighbours of the root.
    """
    following, last = chains[0], chains[1]
    for piece in order:
        if remaining <= fewest:
            break
        here = find_root(root, piece)
        if here != piece or sizes[here] >= min_size:
            continue
        best, best_distance = -1, np.inf
        member = here
        while member != -1:
            for k in range(start[member], start[member + 1]):
                other = find_root(root, neighbours[k])
                if other == here:
                    continue
                distance = 0.0
                for f in range(colours.shape[1]):
                    step = colours[here, f] / sizes[here] - colours[other, f] / sizes[other]
                    distance += step * step
                if distance < best_distance or (distance == best_distance and other < best):
                    best, best_distance = other, distance
            member = following[member]
        if best == -1:  # it is the whole image
            break
        root[here] = best
        remaining -= 1
        sizes[best] += sizes[here]
        for f in range(colours.shape[1]):
            colours[best, f] += colours[here, f]
        following[last[best]] = here
        last[best] = last[here]
    for piece in range(len(root)):
        root[piece] = find_root(root, piece)
        if root[piece] != piece:
            sizes[piece] = np.iinfo(np.int64).max  # merged pieces come last in every later order
    return remaining
