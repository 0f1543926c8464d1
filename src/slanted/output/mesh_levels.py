"""Triangles cut along a level of disparity.

A run of pixels has vertices at its ends only. Where a plane leaves the range of disparities on the
way, the mesh has to bend there, and where it comes too close to infinity it has to end there: so
triangles that cross the level are cut in two.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slanted.runtime.arrays import Floats, Ints

NEAR = 1e-6
"""Pixels of disparity within which a vertex counts as on the level, to avoid slivers."""

Triangles = tuple[Floats, Floats, Ints, Ints]
"""Corners, disparities, faces and segments, as in `slanted.output.mesh.PlaneMesh`."""


def cut_at(mesh: Triangles, level: float) -> Triangles:
    """Cut triangles so that none has vertices on both sides of a level.

    Two triangles that share an edge share the vertex at which the level crosses it.
    """
    corners, disparity, faces, segment = mesh
    off = disparity - level
    side = np.where(np.abs(off) <= NEAR, 0, np.sign(off)).astype(np.int8)
    sides = side[faces]
    crosses = (sides.min(axis=1) < 0) & (sides.max(axis=1) > 0)
    if not crosses.any():
        return mesh
    on_level = crosses & (sides == 0).any(axis=1)
    apart = crosses & ~on_level
    # With three vertices off the level, one is alone on its side; with two, the third is on it.
    alone = sides[apart] == -np.sign(sides[apart].sum(axis=1, keepdims=True))
    lone, after, before = turned(faces[apart], alone.argmax(axis=1)).T
    still, right, left = turned(faces[on_level], (sides[on_level] == 0).argmax(axis=1)).T
    edges = np.concatenate(
        [np.stack(pair, axis=1) for pair in ((lone, after), (before, lone), (right, left))]
    )
    crossed, number = np.unique(np.sort(edges, axis=1), axis=0, return_inverse=True)
    number = (number.reshape(-1) + len(disparity)).astype(faces.dtype)
    first, last, middle = np.split(number, [len(lone), 2 * len(lone)])
    new = [(lone, first, last), (first, after, before), (first, before, last)]
    new += [(still, right, middle), (still, middle, left)]
    parts = [np.stack(face, axis=1) for face in new]
    owners = [segment[apart]] * 3 + [segment[on_level]] * 2
    return (
        np.concatenate([corners, _crossings(corners, off, crossed)]),
        np.concatenate([disparity, np.full(len(crossed), level)]),
        np.concatenate([faces[~crosses], *parts]),
        np.concatenate([segment[~crosses], *owners]),
    )


def turned(faces: Ints, first: NDArray[np.int64]) -> Ints:
    """Return triangles that start at another of their vertices and keep their orientation."""
    places = (first[:, np.newaxis] + np.arange(3)) % 3
    return np.take_along_axis(faces, places, axis=1)


def _crossings(corners: Floats, off: Floats, edges: Ints) -> Floats:
    """Return where the disparity on each edge is that of the level."""
    start, end = edges.T
    share = (off[start] / (off[start] - off[end]))[:, np.newaxis]
    places: Floats = corners[start] + share * (corners[end] - corners[start])
    return places
