"""Kernels for triangulations of an image: sides and their twins, and which way sides should run.

Positions are whole numbers of quarters of a pixel, in which corner (x, y) of the image is
(4x, 4y) and the centre of a pixel (4x + 2, 4y + 2), so that every test of a position is exact.
"""

from __future__ import annotations

import numpy as np

from slanted.runtime.arrays import Ints, Starts
from slanted.runtime.kernel import kernel

QUARTERS = 4
"""Steps of a position in each pixel."""
GONE = -1
"""Owner of a triangle that is no more."""
MARGIN = 1e-12
"""Share by which a side must be wrong to be turned, so that rounding cannot go in circles."""

Triangulation = tuple[Starts, Ints, Ints, Ints, Ints]
"""Positions (V, 2); vertices and twins (3F,) and owners (F,) of triangles; and a side that leaves
each vertex (V,), on the border the one along the border, −1 if the vertex is gone. Side h goes from
vertex h to the next of its triangle, and its twin is the same side in the triangle beyond, where it
runs the other way, or −1. The owner is the segment."""


@kernel
def after(side: int) -> int:
    """Return the next side of the same triangle."""
    return side - 2 if side % 3 == 2 else side + 1


@kernel
def before(side: int) -> int:
    """Return the previous side of the same triangle."""
    return side + 2 if side % 3 == 0 else side - 1


@kernel
def turn(places: Starts, a: int, b: int, c: int) -> int:
    """Return twice the area of a triangle, positive if its front faces the camera."""
    across = (places[c, 0] - places[a, 0]) * (places[b, 1] - places[a, 1])
    return int(across - (places[c, 1] - places[a, 1]) * (places[b, 0] - places[a, 0]))


@kernel
def within(places: Starts, a: int, b: int, c: int, p: int) -> bool:
    """Return whether a point lies in a triangle whose front faces the camera, or on its outline."""
    first, second, third = turn(places, a, b, p), turn(places, b, c, p), turn(places, c, a, p)
    return bool(first >= 0 and second >= 0 and third >= 0)


@kernel
def pair_sides(vertices: Ints, count: int, twin: Ints) -> None:
    """Find the other side of each side of a triangle, −1 at the border.

    Parameters
    ----------
    vertices
        (3F,) vertices; side h goes from vertex h of the array to the next of its triangle.
    count
        Number of vertices.
    twin
        (3F,) out: the same side in the other triangle, where it runs the other way.
    """
    start = np.zeros(count + 1, np.int64)
    for h in range(len(vertices)):
        start[vertices[h] + 1] += 1
    for v in range(count):
        start[v + 1] += start[v]
    place = start.copy()
    leaving = np.empty(len(vertices), np.int32)
    for h in range(len(vertices)):
        leaving[place[vertices[h]]] = h
        place[vertices[h]] += 1
    for h in range(len(vertices)):
        here, there = vertices[h], vertices[after(h)]
        twin[h] = -1
        for k in range(start[there], start[there + 1]):
            if vertices[after(leaving[k])] == here:
                twin[h] = leaving[k]


@kernel
def first_sides(vertices: Ints, twin: Ints, leaving: Ints) -> None:
    """Store a side that leaves each vertex; on the border, the one along the border."""
    for h in range(len(vertices)):
        if leaving[vertices[h]] < 0 or twin[h] < 0:
            leaving[vertices[h]] = h


@kernel
def improve(mesh: Triangulation) -> int:
    """Turn inner sides in one pass, where the angles opposite to them are too large together.

    Return how many were turned: none when the triangles of each segment are Delaunay's. Which side
    leaves a vertex is not kept.
    """
    places, vertices, twin, owner, _ = mesh
    turned = 0
    for h in range(len(vertices)):
        g = twin[h]
        if g < h or owner[h // 3] == GONE or owner[h // 3] != owner[g // 3]:
            continue
        a, b, c = vertices[h], vertices[after(h)], vertices[before(h)]
        d = vertices[before(g)]
        if turn(places, c, a, d) <= 0 or turn(places, d, b, c) <= 0:
            continue
        if not _too_wide(places, (a, b, c, d)):
            continue
        # (a, b, c) and (b, a, d) become (a, d, c) and (d, b, c)
        bc, ad = after(h), after(g)
        beyond_bc, beyond_ad = twin[bc], twin[ad]
        vertices[after(h)], vertices[after(g)] = d, c
        twin[h], twin[g] = beyond_ad, beyond_bc
        if beyond_ad >= 0:
            twin[beyond_ad] = h
        if beyond_bc >= 0:
            twin[beyond_bc] = g
        twin[bc], twin[ad] = ad, bc
        turned += 1
    return turned


@kernel
def _too_wide(places: Starts, corners: tuple[int, int, int, int]) -> bool:
    """Return whether the angles at c and d, opposite to the side a b, are more than 180° together.

    Their sum is where its sine, sin c cos d + cos c sin d, is negative.
    """
    a, b, c, d = corners
    sines, cosines = np.empty(2), np.empty(2)
    for k in range(2):
        apex = c if k == 0 else d
        ax, ay = float(places[a, 0] - places[apex, 0]), float(places[a, 1] - places[apex, 1])
        bx, by = float(places[b, 0] - places[apex, 0]), float(places[b, 1] - places[apex, 1])
        cosines[k], sines[k] = ax * bx + ay * by, abs(ax * by - ay * bx)
    first, second = sines[0] * cosines[1], cosines[0] * sines[1]
    return bool(first + second < -MARGIN * (abs(first) + abs(second)))
