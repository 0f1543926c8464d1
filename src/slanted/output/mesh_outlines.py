"""A label image as few triangles, each inside one segment, with smooth outlines.

The image is filled with triangles between corners of pixels. Then outlines lose their steps: a
corner moves a quarter of a pixel along both its sides, and what lies close enough to a straight
line between others is removed, from both segments at once. So neighbours share their outlines, no
two outlines cross, and what is left between two of them is triangles without a gap.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from slanted.output.mesh_join_kernels import Adjacency
from slanted.output.mesh_triangle_kernels import Triangulation
from slanted.runtime.arrays import Floats, Ints

Array = TypeVar("Array", bound=NDArray[Any])
REACHES = (0.25, 0.5, 0.75, 1.0)
"""Pixels by which a simplified outline may leave the corners of pixels, one after the other, so
that what is nearly straight goes first. More than the last makes curves look like polygons."""
MOST_PASSES = 20
"""Passes for each; on KITTI's and Middlebury's images the fifth and the fifteenth find nothing."""


@dataclass(frozen=True, eq=False)
class FlatTriangles:
    """Triangles that fill an image."""

    corners: Ints
    """(P, 2) the corner of pixels, (x, y), that each point was at first."""
    points: Floats
    """(P, 2) where it is, in pixels from the image's upper left corner."""
    faces: Ints
    """(F, 3) points, the front towards the camera."""
    segment: Ints
    """(F,) the label of the pixels that each triangle covers."""


def triangulate(labels: Ints, adjacency: Adjacency, loose: Ints) -> FlatTriangles:
    """Fill a label image with triangles whose outlines are smooth.

    Parameters
    ----------
    labels
        (H, W) segments.
    adjacency, loose
        As for `slanted.output.mesh_outline_kernels.simplify`: outlines of other boundaries leave
        every pixel's centre in its own segment.
    """
    from slanted.output.mesh_outline_kernels import simplify
    from slanted.output.mesh_triangle_kernels import GONE, QUARTERS, improve

    corners, mesh = first_triangles(labels)
    places, vertices, _, owner, leaving = mesh
    off, limits = np.zeros(len(corners)), (QUARTERS * labels.shape[1], QUARTERS * labels.shape[0])
    for reach in REACHES:
        for _ in range(MOST_PASSES):
            if not simplify(mesh, limits, adjacency, loose, reach, off):
                break
    for _ in range(MOST_PASSES):
        if not improve(mesh):
            break
    kept, stays = owner != GONE, leaving >= 0
    renumbered = (np.cumsum(stays) - 1).astype(np.int32)
    faces = renumbered[vertices.reshape(-1, 3)[kept]]
    return FlatTriangles(corners[stays], places[stays] / QUARTERS, faces, owner[kept])


def first_triangles(labels: Ints) -> tuple[Ints, Triangulation]:
    """Return the corners of pixels, (P, 2), and triangles between them, with corners rounded."""
    from slanted.output.mesh_corner_kernels import fill_runs, number_corners
    from slanted.output.mesh_outline_kernels import round_corners
    from slanted.output.mesh_triangle_kernels import QUARTERS, first_sides, pair_sides

    height, width = labels.shape
    numbers = np.empty((height + 1, width + 1), np.int32)
    count, triangles = number_corners(labels, numbers)
    vertices, twin = np.empty(3 * triangles, np.int32), np.empty(3 * triangles, np.int32)
    owner, leaving = np.empty(triangles, np.int32), np.full(count, -1, np.int32)
    fill_runs(labels, numbers, vertices, owner)
    pair_sides(vertices, count, twin)
    first_sides(vertices, twin, leaving)
    rows, columns = np.nonzero(numbers >= 0)
    corners = np.stack([columns, rows], axis=1).astype(np.int32)
    mesh = (QUARTERS * corners.astype(np.int64), vertices, twin, owner, leaving)
    round_corners(labels, corners, mesh)
    return corners, mesh


def still(array: Array) -> Array:
    """Return an array as read-only, as those of regions are: kernels are compiled for that."""
    array.setflags(write=False)
    return array


def coarse_labels(labels: Ints, step: int) -> Ints:
    """Return the segment in the middle of each cell of about `step` pixels a side."""
    if step == 1:
        return labels
    middles = []
    for size in labels.shape:
        cells = -(-size // step)
        middles.append(((np.arange(cells) + 0.5) * size / cells).astype(np.intp))
    return still(np.ascontiguousarray(labels[np.ix_(*middles)]))


def step_for(labels: Ints, most_triangles: int) -> int:
    """Return the least step whose mesh, before it is simplified, has at most `most_triangles`."""
    from slanted.output.mesh_corner_kernels import number_corners

    step, largest = 1, max(labels.shape)
    while step < largest:
        coarse = coarse_labels(labels, step)
        numbers = np.empty((coarse.shape[0] + 1, coarse.shape[1] + 1), np.int32)
        if number_corners(coarse, numbers)[1] <= most_triangles:
            break
        step += 1
    return step
