"""Kernels that find the vertices of the mesh among the corners of pixels.

Outlines of segments run between pixels, along the lattice of pixel corners. Corner (x, y) is the
upper left one of pixel (x, y); the four pixels around it are numbered

    0 1
    2 3

A corner on an outline is a vertex unless the outline passes straight along its row, so every run
of pixels of a segment in a row is a rectangle with a vertex at each corner. Vertices on outlines
may be shared, and then lie off the plane. There are vertices inside as well, where a line of
corners, or the line above or below it, meets an outline: so the mesh bends only within a pixel of
the outline, and not along whole rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slanted.runtime.arrays import Ints, Starts
from slanted.runtime.kernel import kernel

Flags = NDArray[np.uint8]
OUTSIDE = -1
"""The label beyond the border of the image."""


@kernel
def _label_at(labels: Ints, y: int, x: int) -> int:
    if y < 0 or x < 0 or y >= labels.shape[0] or x >= labels.shape[1]:
        return OUTSIDE
    return int(labels[y, x])


@kernel
def cells_round(labels: Ints, y: int, x: int, cells: Starts) -> None:
    """Store the segments of the four pixels around a corner."""
    cells[0] = _label_at(labels, y - 1, x - 1)
    cells[1] = _label_at(labels, y - 1, x)
    cells[2] = _label_at(labels, y, x - 1)
    cells[3] = _label_at(labels, y, x)


@kernel
def find_vertices(labels: Ints) -> Flags:
    """Return (H + 1, W + 1) whether each corner is a vertex."""
    height, width = labels.shape
    inside = np.zeros((height + 1, width + 1), np.uint8)
    for y in range(1, height):
        above, below, row = labels[y - 1], labels[y], inside[y]
        for x in range(1, width):
            here = below[x]
            row[x] = above[x - 1] == here and above[x] == here and below[x - 1] == here
    last = np.zeros((height + 1, width + 1), np.uint8)
    for y in range(1, height):
        row, marks = inside[y], last[y]
        for x in range(1, width):
            marks[x] = row[x] & ((row[x - 1] & row[x + 1]) ^ 1)
    found = np.zeros((height + 1, width + 1), np.uint8)
    for y in range(1, height):
        for x in range(1, width):
            found[y, x] = inside[y, x] & (last[y - 1, x] | last[y, x] | last[y + 1, x])
    cells = np.empty(4, np.int64)
    for y in range(height + 1):
        for x in range(width + 1):
            if not inside[y, x]:
                cells_round(labels, y, x, cells)
                found[y, x] = cells[0] != cells[1] or cells[2] != cells[3]
    return found


@kernel
def count_mesh(labels: Ints, is_vertex: Flags) -> tuple[int, int]:
    """Return an upper bound on the number of vertices, and the number of triangles."""
    height, width = labels.shape
    cells = np.empty(4, np.int64)
    vertices, triangles = 0, 0
    above = np.zeros(width + 2, np.int64)  # vertices on the row's upper line, left of a corner
    below = np.zeros(width + 2, np.int64)
    for y in range(height + 1):
        for x in range(width + 1):
            below[x + 1] = below[x] + is_vertex[y, x]
            if is_vertex[y, x]:
                cells_round(labels, y, x, cells)
                for k in range(4):
                    is_new = cells[k] != OUTSIDE
                    for m in range(k):
                        is_new = is_new and cells[m] != cells[k]
                    vertices += is_new
        if y > 0:
            start = 0
            for x in range(1, width + 1):
                if x == width or labels[y - 1, x] != labels[y - 1, x - 1]:
                    inside = above[x + 1] - above[start] + below[x + 1] - below[start]
                    triangles += inside - 2
                    start = x
        above[:] = below
    return vertices, triangles
