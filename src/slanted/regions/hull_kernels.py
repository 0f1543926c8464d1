"""Numba kernel of the convex hulls of sets of pixels."""

from __future__ import annotations

import numpy as np

from slanted.runtime.arrays import Ints, Starts
from slanted.runtime.kernel import kernel


@kernel
def convex_hulls(pixels: Ints, start: Starts, height: int, width: int) -> tuple[Ints, Starts]:
    """Find the corners of the convex hull of each set of pixels (Andrew's monotone chain).

    Parameters
    ----------
    pixels, start
        Sets of pixels, as in `coordinate_sums`.
    height, width
        Size of the image.

    Returns
    -------
    points
        (V, 2) corners (u, v), clockwise on the screen from the first pixel of the set, no three on
        a line.
    hull_start
        (sets + 1,) where each set starts in `points`.
    """
    sets = len(start) - 1
    hull_start = np.zeros(sets + 1, np.int64)
    # Each chain holds a pixel of a set at most once.
    points = np.empty((2 * len(pixels), 2), np.int32)
    rows, lefts = np.empty(height, np.int32), np.empty(height, np.int32)
    rights = np.empty(height, np.int32)
    used = np.int64(0)  # not a literal, for which `_push` would be compiled once more
    for k in range(sets):
        count = _row_ends(pixels[start[k] : start[k + 1]], width, rows, lefts, rights)
        # Down the right side. The row ends are sorted, as the chain requires.
        base = used
        used = _push(points, base, used, lefts[0], rows[0])
        for r in range(count):
            used = _push(points, base, used, rights[r], rows[r])
        # Up the left side to the first pixel, which is a corner already and is removed again.
        base = used - 1
        for r in range(count - 1, -1, -1):
            used = _push(points, base, used, lefts[r], rows[r])
        used = max(used - 1, base + 1)
        hull_start[k + 1] = used
    return points[:used].copy(), hull_start


@kernel
def _row_ends(pixels: Ints, width: int, rows: Ints, lefts: Ints, rights: Ints) -> int:
    """Write the rows of a set, with their first and last columns; return how many there are."""
    count = 0
    row, row_end = 0, 0
    for p in pixels:
        if p >= row_end:
            row = p // width
            row_end = (row + 1) * width
            rows[count] = row
            lefts[count] = p - row * width
            count += 1
        rights[count - 1] = p - row * width
    return count


@kernel
def _push(points: Ints, base: int, used: int, u: int, v: int) -> int:
    """Add a point to the chain from `base`, and drop points that no longer turn clockwise.

    A point that is already the last one, as where a row has one pixel, is not added again.
    """
    if used > base and points[used - 1, 0] == u and points[used - 1, 1] == v:
        return used
    while used - base >= 2:
        last, before = points[used - 1], points[used - 2]
        # In int64 the products cannot overflow.
        du, dv = np.int64(u) - last[0], np.int64(v) - last[1]
        before_u = np.int64(last[0]) - before[0]
        before_v = np.int64(last[1]) - before[1]
        if before_u * dv - before_v * du > 0:
            break
        used -= 1
    points[used, 0], points[used, 1] = u, v
    return used + 1
