"""Kernels that fill an image with triangles between the corners of pixels.

Outlines of segments run between pixels, along the lattice of pixel corners. Corner (x, y) is the
upper left one of pixel (x, y); the four pixels around it are numbered

    0 1
    2 3

A corner is a vertex if an outline reaches it from above or below, so every run of pixels of a
segment in a row is a rectangle with a vertex at each corner, and all vertices lie on outlines.
"""

from __future__ import annotations

from slanted.runtime.arrays import Ints, Starts
from slanted.runtime.kernel import kernel

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
def number_corners(labels: Ints, numbers: Ints) -> tuple[int, int]:
    """Give vertices numbers in raster order; return how many there are, and how many triangles.

    Parameters
    ----------
    labels
        (H, W) segments.
    numbers
        (H + 1, W + 1) out: the number of each corner that is a vertex, −1 elsewhere.
    """
    height, width = labels.shape
    count, on_border = 0, 0
    for y in range(height + 1):
        for x in range(width + 1):
            side = x in (0, width)
            above = y > 0 and (side or labels[y - 1, x - 1] != labels[y - 1, x])
            below = y < height and (side or labels[y, x - 1] != labels[y, x])
            numbers[y, x] = -1
            if above or below:
                numbers[y, x] = count
                count += 1
                on_border += side or y in (0, height)
    return count, 2 * count - on_border - 2  # by Euler's formula


@kernel
def _strip(upper: Ints, lower: Ints, start: int, end: int, vertices: Ints, done: int) -> int:
    """Fill the rectangle of a run of pixels with triangles, whose fronts face the camera."""
    i, j = start, start
    while i < end or j < end:
        next_i, next_j = i + 1, j + 1
        while next_i < end and upper[next_i] < 0:
            next_i += 1
        while next_j < end and lower[next_j] < 0:
            next_j += 1
        vertices[3 * done], vertices[3 * done + 1] = upper[i], lower[j]
        if j == end or (i < end and next_i <= next_j):
            i = next_i
            vertices[3 * done + 2] = upper[i]
        else:
            j = next_j
            vertices[3 * done + 2] = lower[j]
        done += 1
    return done


@kernel
def fill_runs(labels: Ints, numbers: Ints, vertices: Ints, owner: Ints) -> None:
    """Fill each row of each segment with triangles.

    Parameters
    ----------
    labels, numbers
        From `number_corners`.
    vertices
        (3F,) out: the vertices of one triangle after the other.
    owner
        (F,) out: the segment of each.
    """
    height, width = labels.shape
    done = 0
    for y in range(height):
        start = 0
        for x in range(1, width + 1):
            if x == width or labels[y, x] != labels[y, start]:
                first = done
                done = _strip(numbers[y], numbers[y + 1], start, x, vertices, done)
                for k in range(first, done):
                    owner[k] = labels[y, start]
                start = x
