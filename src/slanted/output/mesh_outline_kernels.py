"""Kernels that smooth and simplify outlines in a triangulation, so that they never cross.

A vertex that just two outlines reach lies on a *chain* between two segments. It is removed if the
straight line between its neighbours on the chain passes close enough, and if the triangle between
the old lines and the new one holds no other vertex. So lines cannot cross: one that crosses the new
line would have to cross the old ones, or to end between them. Where the two segments are cut apart,
that triangle must not hold a pixel's centre either, so that every centre stays in its own segment.
"""

from __future__ import annotations

import numpy as np

from slanted.output.mesh_corner_kernels import cells_round
from slanted.output.mesh_join_kernels import Adjacency, edge_value
from slanted.output.mesh_triangle_kernels import (
    GONE,
    QUARTERS,
    Triangulation,
    after,
    before,
    turn,
    within,
)
from slanted.runtime.arrays import Floats, Ints, Starts
from slanted.runtime.kernel import kernel

MOST_ROUND = 4096
"""A vertex with more triangles around it stays."""


@kernel
def round_corners(labels: Ints, corners: Ints, mesh: Triangulation) -> None:
    """Move each vertex at which a chain turns by a quarter of a pixel along both its sides."""
    places, vertices, twin, _, leaving = mesh
    cells = np.empty(4, np.int64)
    for v in range(len(corners)):
        x, y = corners[v]
        cells_round(labels, y, x, cells)
        left, right = cells[0] != cells[2], cells[1] != cells[3]
        up, down = cells[0] != cells[1], cells[2] != cells[3]
        border = x == 0 or y == 0 or x == labels.shape[1] or y == labels.shape[0]
        if border or left + right != 1 or up + down != 1:
            continue
        places[v, 0] += right - left
        places[v, 1] += down - up
        h = leaving[v]
        fits = True
        while True:
            fits = fits and turn(places, v, vertices[after(h)], vertices[before(h)]) > 0
            h = twin[before(h)]
            if h == leaving[v]:
                break
        if not fits:
            places[v, 0] -= right - left
            places[v, 1] -= down - up


@kernel
def _centre_between(places: Starts, a: int, b: int, c: int) -> bool:
    """Return whether a pixel's centre lies in a triangle or on its outline."""
    low = min(places[a, 1], places[b, 1], places[c, 1])
    high = max(places[a, 1], places[b, 1], places[c, 1])
    row = low + (2 - low) % 4
    while row <= high:
        first, last = np.int64(2**62), np.int64(-(2**62))
        for k in range(3):
            p, q = (a, b) if k == 0 else ((b, c) if k == 1 else (c, a))
            if places[p, 1] > places[q, 1]:
                p, q = q, p
            x, y = places[p]
            if row < y or row > places[q, 1]:
                continue
            down = places[q, 1] - y
            if down == 0:
                first = min(first, x, places[q, 0])
                last = max(last, x, places[q, 0])
            else:
                across = (row - y) * (places[q, 0] - x)
                first = min(first, x - (-across) // down)
                last = max(last, x + across // down)
        if first + (2 - first) % 4 <= last:
            return True
        row += 4
    return False


@kernel
def _collect(v: int, mesh: Triangulation, ring: Ints, sides: Ints) -> tuple[int, bool]:
    """Store the neighbours of a vertex in order, and the sides opposite to it.

    Return the number of triangles round it, 0 if there are too many, and whether they close; on
    the border there is one neighbour more.
    """
    _, vertices, twin, _, leaving = mesh
    count, h = 0, leaving[v]
    while True:
        if count == MOST_ROUND:
            return 0, False
        ring[count], sides[count] = vertices[after(h)], after(h)
        count += 1
        following = twin[before(h)]
        if following < 0:
            ring[count] = vertices[before(h)]
            return count, False
        h = following
        if h == leaving[v]:
            ring[count] = ring[0]
            return count, True


@kernel
def _chain_ends(count: int, closed: bool, sides: Ints, owner: Ints, ends: Starts) -> bool:
    """Find where the two outlines that reach a vertex are in its ring; False if it is not two."""
    found = 0
    if not closed:
        for k in range(1, count):
            if owner[sides[k] // 3] != owner[sides[k - 1] // 3]:
                return False
        ends[0], ends[1] = 0, count
        return True
    for k in range(count):
        if owner[sides[k] // 3] != owner[sides[k - 1 if k > 0 else count - 1] // 3]:
            if found == 2:
                return False
            ends[found] = k
            found += 1
    return found == 2


@kernel
def _way(
    v: int, a: int, b: int, ring: Ints, count: int, closed: bool, places: Starts, exact: bool
) -> float:
    """Return how far, in pixels, the line from a to b is from the chain a, v, b.

    It is infinite if the line may not take the chain's place.
    """
    area = turn(places, a, b, v)
    ax, ay = places[a, 0] - places[v, 0], places[a, 1] - places[v, 1]
    bx, by = places[b, 0] - places[v, 0], places[b, 1] - places[v, 1]
    if ax * bx + ay * by >= 0:  # a hairpin
        return np.inf
    if area == 0:
        return 0.0
    if not closed:
        return np.inf
    p, q = (a, b) if area > 0 else (b, a)
    for k in range(count):
        if ring[k] != a and ring[k] != b and within(places, p, q, v, ring[k]):
            return np.inf
    if exact and _centre_between(places, p, q, v):
        return np.inf
    return float(abs(area) / (QUARTERS * np.hypot(bx - ax, by - ay)))


@kernel
def _clip(path: Ints, outer: Ints, slots: Ints, count: int, places: Starts, ears: Ints) -> int:
    """Cut the polygon of a path and the line between its ends into triangles.

    Parameters
    ----------
    path
        (count + 1,) vertices; used up.
    outer
        (count,) the twins of the sides between them; used up.
    slots
        (count − 1,) where the triangles will be stored.
    count
        Number of sides of the path.
    places
        Positions.
    ears
        (count − 1, 5) out: three vertices of each triangle and the twins of its first two sides.

    Returns
    -------
    int
        The twin of the line between the ends; −1 if it cannot be done.
    """
    made, k, tried = 0, 1, 0
    while count > 1:
        if k >= count:
            k = 1
        a, b, c = path[k - 1], path[k], path[k + 1]
        good = turn(places, a, b, c) > 0
        m = 0
        while good and m <= count:
            other = path[m]
            if other not in (a, b, c):
                good = not within(places, a, b, c, other)
            m += 1
        if not good:
            k += 1
            tried += 1
            if tried > count:
                return -1
            continue
        ears[made, 0], ears[made, 1], ears[made, 2] = a, b, c
        ears[made, 3], ears[made, 4] = outer[k - 1], outer[k]
        outer[k - 1] = 3 * slots[made] + 2
        for m in range(k, count):
            path[m] = path[m + 1]
            if m < count - 1:
                outer[m] = outer[m + 1]
        count -= 1
        made += 1
        tried = 0
        k = max(1, k - 1)
    return int(outer[0])


@kernel
def _side(
    ring: Ints,
    sides: Ints,
    around: int,
    ends: tuple[int, int],
    mesh: Triangulation,
    scratch: tuple[Ints, Ints, Ints],
    ears: Ints,
) -> int:
    """Cut up one side of a vertex that goes; return the twin of the new line, −1 if it cannot."""
    places, _, twin, owner, _ = mesh
    path, outer, slots = scratch
    count = ends[1] - ends[0]
    for k in range(count):
        place = (ends[0] + k) % around
        path[k], outer[k] = ring[place], twin[sides[place]]
        slots[k] = sides[place] // 3
    last = ends[0] + count
    path[count] = ring[last] if last <= around else ring[last % around]
    if count == 1 and (outer[0] < 0 or owner[outer[0] // 3] != owner[slots[0]]):
        return -1  # the segment would vanish
    return int(_clip(path, outer, slots, count, places, ears))


@kernel
def _store(
    slots: Ints, count: int, ears: Ints, mesh: Triangulation, limits: tuple[int, int]
) -> None:
    """Store the triangles of one side in the place of the old ones, of which one is left over."""
    places, vertices, twin, owner, leaving = mesh
    for k in range(count - 1):
        first = 3 * slots[k]
        for m in range(3):
            vertices[first + m] = ears[k, m]
        for m in range(2):
            other = ears[k, 3 + m]
            twin[first + m] = other
            if other >= 0:
                twin[other] = first + m
        for m in range(3):
            x, y = places[ears[k, m]]
            on_border = x == 0 or y == 0 or x == limits[0] or y == limits[1]
            if not on_border or (m < 2 and twin[first + m] < 0):
                leaving[ears[k, m]] = first + m
    owner[slots[count - 1]] = GONE


@kernel
def simplify(
    mesh: Triangulation,
    limits: tuple[int, int],
    adjacency: Adjacency,
    loose: Ints,
    reach: float,
    off: Floats,
) -> int:
    """Remove vertices of chains, in one pass; return how many.

    Parameters
    ----------
    mesh
        The triangulation, changed in place.
    limits
        Largest x and y of a position.
    adjacency
        `adjacency_start`, `adjacency_other` and `adjacency_edge` of the regions.
    loose
        (E,) 1 for boundaries whose chains may pass a pixel's centre, else 0.
    reach
        Most pixels between a chain and what it was at first.
    off
        (V,) pixels by which lines at a vertex may have left the chain so far; changed in place.
    """
    places, _, twin, owner, leaving = mesh
    ring, sides = np.empty(MOST_ROUND + 1, np.int32), np.empty(MOST_ROUND + 1, np.int32)
    path, outer = np.empty(MOST_ROUND + 1, np.int32), np.empty(MOST_ROUND + 1, np.int32)
    first, second = np.empty(MOST_ROUND + 1, np.int32), np.empty(MOST_ROUND + 1, np.int32)
    ears, others = np.empty((MOST_ROUND, 5), np.int32), np.empty((MOST_ROUND, 5), np.int32)
    ends = np.empty(2, np.int64)
    removed = 0
    for v in range(len(leaving)):
        if leaving[v] < 0:
            continue
        count, closed = _collect(v, mesh, ring, sides)
        if count == 0 or not _chain_ends(count, closed, sides, owner, ends):
            continue
        one, other = owner[sides[ends[0]] // 3], owner[sides[ends[1] % count] // 3]
        is_loose = closed and edge_value(one, other, adjacency, loose) == 1
        a, b = ring[ends[0]], ring[ends[1]]
        way = off[v] + _way(v, a, b, ring, count, closed, places, not is_loose)
        if way > reach:
            continue
        here = _side(ring, sides, count, (ends[0], ends[1]), mesh, (path, outer, first), ears)
        beyond, there = (ends[1], ends[0] + count), np.int64(-1)
        if closed and here >= 0:
            there = _side(ring, sides, count, beyond, mesh, (path, outer, second), others)
        if here < 0 or (closed and there < 0):
            continue
        _store(first, ends[1] - ends[0], ears, mesh, limits)
        twin[here] = there
        if closed:
            _store(second, beyond[1] - beyond[0], others, mesh, limits)
            twin[there] = here
        else:
            leaving[b] = here
        off[a], off[b] = max(off[a], way), max(off[b], way)
        leaving[v] = -1
        removed += 1
    return removed
