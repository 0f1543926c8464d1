"""Points where three or four segments meet.

The paper does not say how junctions are found. Here they are corners between four pixels: three
segments meet where exactly one side of the 2 × 2 window joins pixels of one segment, four where all
four pixels differ. If a segment occurs twice across the diagonal there is no junction, because the
other two do not touch there. Segments that meet at several points form one junction, so that its
potential counts once. Four segments cannot meet in two cyclic orders: between two such points each
would have to be a path that crosses none of the others.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slanted.regions.edges import edge_numbers
from slanted.runtime.arrays import Floats, Ints

Corners = NDArray[np.intp]


def find_junctions(label_image: Ints) -> tuple[tuple[Ints, Floats], tuple[Ints, Floats]]:
    """Find the three-way and the four-way junctions.

    Returns
    -------
    three, four
        For each kind the segments, (J, 3) or (J, 4) as in `Regions`, and the (J, 2) position of the
        first window that shows them.
    """
    top_left, top_right = label_image[:-1, :-1], label_image[:-1, 1:]
    bottom_left, bottom_right = label_image[1:, :-1], label_image[1:, 1:]
    across = (label_image[:, :-1] != label_image[:, 1:]).view(np.uint8)
    down = (label_image[:-1] != label_image[1:]).view(np.uint8)
    unequal_sides = across[:-1] + across[1:] + down[:, :-1] + down[:, 1:]
    corners3 = np.flatnonzero(unequal_sides == 3)
    corners4 = np.flatnonzero(unequal_sides == 4)

    def clockwise(corners: Corners) -> Ints:
        v, u = np.divmod(corners, max(label_image.shape[1] - 1, 1))
        around = (top_left, top_right, bottom_right, bottom_left)
        return np.stack([window[v, u] for window in around], axis=1)

    four = clockwise(corners4)
    distinct = (four[:, 0] != four[:, 2]) & (four[:, 1] != four[:, 3])
    return (
        _unique(_three_segments(clockwise(corners3)), corners3, label_image.shape[1]),
        _unique(_canonical_cycles(four[distinct]), corners4[distinct], label_image.shape[1]),
    )


def junction_edges(edges: Ints, junctions: Ints, count: int) -> Ints:
    """Return the edges between consecutive segments of each junction, the last with the first.

    For i, j, k these are ij, jk, ik; for p, q, r, s they are pq, qr, rs, ps, as in the paper.
    """
    return edge_numbers(edges, junctions, np.roll(junctions, -1, axis=1), count)


def _three_segments(windows: Ints) -> Ints:
    """Reduce (M, 4) segments, of which two are equal, to (M, 3), ascending."""
    ordered = np.sort(windows, axis=1)
    new = np.ones(ordered.shape, np.bool_)
    new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    return ordered[new].reshape(-1, 3)


def _canonical_cycles(cycles: Ints) -> Ints:
    """Rotate and reverse (M, 4) cycles: the smallest comes first, then its smaller neighbour.

    A cycle and its mirror image are the same junction.
    """
    place = (cycles.argmin(axis=1)[:, None] + np.arange(4)) % 4
    turned = np.take_along_axis(cycles, place, axis=1)
    return np.where(turned[:, 1:2] < turned[:, 3:4], turned, turned[:, [0, 3, 2, 1]])


def _unique(rows: Ints, corners: Corners, width: int) -> tuple[Ints, Floats]:
    """Sort rows lexicographically and keep the first, in raster order, of equal ones."""
    order = np.lexsort(rows.T[::-1])  # a stable sort, and corners ascend
    ordered = rows[order]
    new = np.ones(len(rows), np.bool_)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    v, u = np.divmod(corners[order[new]], max(width - 1, 1))
    return ordered[new], np.stack([u + 0.5, v + 0.5], axis=1)
