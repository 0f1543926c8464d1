"""The planes of a result as one mesh, joined where surfaces continue and cut where they end.

The mesh is exact in the image: every triangle lies inside one segment, its vertices are corners of
pixels, or lie where a plane leaves the range of disparities or comes too close to infinity. Two
neighbours share vertices along a coplanar or hinge boundary and nowhere else, so no triangle
crosses an occlusion boundary, and two segments of which one hides the other share no vertex.

Planes of neighbours agree only roughly where they meet. A vertex that they share lies at the mean
of their disparities; if these differ by more than a tolerance, the mesh is split there whatever
the label says. So no vertex is further than the tolerance from the plane of a triangle that it
belongs to, and vertices of one segment alone lie on its plane; farther than a pixel inside a
segment's outline, the mesh is the plane.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from slanted.io import Calibration
from slanted.output.mesh_levels import NEAR, cut_at
from slanted.regions.structure import Regions
from slanted.runtime.arrays import Flags, Floats, Ints, Starts

if TYPE_CHECKING:
    from slanted.output.result_fields import ResultData

TOLERANCE = 3.0
"""Pixels of disparity by which planes that share a vertex may differ. In Motorcycle this
splits the mesh on 1 in 100 of the coplanar sides of pixels."""
LEAST_DISPARITY = 0.5
"""Pixels above the disparity of infinity; anything farther has no usable depth."""
ASSUMED_BASELINE = 1.0


@dataclass(frozen=True, eq=False)
class PlaneMesh:
    """Triangles in the left image, with a disparity at each of their vertices."""

    corners: Floats
    """(V, 2) position (u, v) in the image, in pixels: corners of pixels, whose centres are whole
    numbers, but for those where a triangle was cut at a level of disparity."""
    disparity: Floats
    """(V,) pixels."""
    faces: Ints
    """(F, 3) vertices, the front towards the camera."""
    segment: Ints
    """(F,) the segment that each triangle lies in."""

    def positions(self, calibration: Calibration) -> NDArray[np.float32]:
        """Return (V, 3) X right, Y down, Z forward, metres; NaN where the depth is unbounded."""
        u, v = self.corners.T
        return calibration.positions(u, v, self.disparity, LEAST_DISPARITY - 2 * NEAR)

    def texture_coordinates(self, width: int, height: int) -> NDArray[np.float32]:
        """Return (V, 2) place in the image, from its upper left corner, 0 … 1."""
        return ((self.corners + 0.5) / (width, height)).astype(np.float32)

    def in_front(self, calibration: Calibration) -> PlaneMesh:
        """Return the mesh without the parts too close to infinity."""
        least = LEAST_DISPARITY - calibration.doffs_pixels
        whole = (self.corners, self.disparity, self.faces, self.segment)
        corners, disparity, faces, segment = cut_at(whole, least)
        has_depth = np.all(disparity[faces] >= least - NEAR, axis=1)
        return PlaneMesh(corners, disparity, faces, segment).only(has_depth)

    def only(self, kept: Flags) -> PlaneMesh:
        """Return some of the triangles, with the vertices that they use."""
        used = np.zeros(len(self.disparity), np.bool_)
        used[self.faces[kept]] = True
        number = (np.cumsum(used) - 1).astype(np.int32)
        faces = number[self.faces[kept]]
        return PlaneMesh(self.corners[used], self.disparity[used], faces, self.segment[kept])


def build_mesh(
    regions: Regions,
    planes: Floats,
    labels: Ints,
    *,
    tolerance: float = TOLERANCE,
    lowest: float = -np.inf,
    highest: float = np.inf,
    step: int = 1,
    hidden: Flags | None = None,
) -> PlaneMesh:
    """Turn segments, planes and boundary labels into a mesh.

    Parameters
    ----------
    regions, planes, labels
        The segments, their planes (n, 3) about their centres, and the labels (E,) of boundaries.
    tolerance
        Pixels of disparity; see the module.
    lowest, highest
        Planes that leave this range are cut off at its end, as in a result's disparity map.
    step
        Outlines follow squares with sides of this many pixels, which gives fewer triangles;
        vertices lie on the same planes. 1 is exact.
    hidden
        (H, W) pixels that the mesh leaves out.
    """
    from slanted.output.mesh_corner_kernels import count_mesh, find_vertices
    from slanted.output.mesh_kernels import fill_mesh

    parts = _Parts.of(regions, planes, hidden)
    coarse = coarse_labels(parts.labels, step)
    is_vertex = find_vertices(coarse)
    most, triangles = count_mesh(coarse, is_vertex)
    corners, disparity = np.empty((most, 2), np.int32), np.empty(most)
    faces, segment = np.empty((triangles, 3), np.int32), np.empty(triangles, np.int32)
    adjacency = (parts.adjacency_start, regions.adjacency_other, regions.adjacency_edge)
    height, width = regions.label_image.shape
    count = fill_mesh(
        coarse,
        is_vertex,
        (step, width, height),
        parts.centre,
        parts.planes,
        adjacency,
        np.ascontiguousarray(labels, np.int32),
        float(tolerance),
        (corners, disparity),
        faces,
        segment,
    )
    mesh = (corners[:count] - 0.5, disparity[:count], faces, segment)
    for level in (lowest, highest):
        if np.isfinite(level):
            mesh = cut_at(mesh, level)
    places, unbounded, *others = mesh
    made = PlaneMesh(places, np.clip(unbounded, lowest, highest), *others)
    return made if hidden is None else made.only(made.segment < regions.count)


@dataclass(frozen=True, eq=False)
class _Parts:
    """The segments of a mesh, in which hidden pixels of segment i are a part n + i of their own.

    Such parts have no neighbours, so that they share no vertex with what is shown.
    """

    labels: Ints
    centre: Floats
    planes: Floats
    adjacency_start: Starts

    @classmethod
    def of(cls, regions: Regions, planes: Floats, hidden: Flags | None) -> _Parts:
        planes, starts = np.ascontiguousarray(planes, np.float64), regions.adjacency_start
        if hidden is None:
            return cls(regions.label_image, regions.centre, planes, starts)
        centre = np.tile(regions.centre, (2, 1))
        starts = np.append(starts, np.full(regions.count, starts[-1]))
        for array in (centre, starts):  # as those of regions are, for the kernels
            array.setflags(write=False)
        return cls(labels_apart(regions, hidden), centre, np.tile(planes, (2, 1)), starts)


def labels_apart(regions: Regions, hidden: Flags | None) -> Ints:
    """Return the label image, in which hidden pixels of segment i have the label n + i."""
    if hidden is None:
        return regions.label_image
    labels: Ints = regions.label_image + np.int32(regions.count) * hidden.astype(np.int32)
    labels.setflags(write=False)
    return labels


def coarse_labels(labels: Ints, step: int) -> Ints:
    """Return the segment in the middle of each square of `step` pixels a side."""
    if step == 1:
        return labels
    height, width = labels.shape
    rows = np.minimum(np.arange(step // 2, height + step // 2, step), height - 1)
    columns = np.minimum(np.arange(step // 2, width + step // 2, step), width - 1)
    coarse = np.ascontiguousarray(labels[np.ix_(rows, columns)])
    coarse.setflags(write=False)  # as the full ones are: kernels are compiled for read-only arrays
    return coarse


def step_for(labels: Ints, most_triangles: int) -> int:
    """Return the least step whose mesh has at most `most_triangles`."""
    from slanted.output.mesh_corner_kernels import count_mesh, find_vertices

    step, largest = 1, max(labels.shape)
    while step < largest:
        coarse = coarse_labels(labels, step)
        if count_mesh(coarse, find_vertices(coarse))[1] <= most_triangles:
            break
        step += 1
    return step


def mesh_of(
    result: ResultData,
    tolerance: float = TOLERANCE,
    step: int = 1,
    min_confidence: float = 0.0,
) -> PlaneMesh:
    """Return the mesh of a result; see `build_mesh`.

    The sky, and pixels whose confidence is below `min_confidence`, are left out.

    Examples
    --------
    >>> import slanted
    >>> from slanted.synthetic import make_scene
    >>> scene = make_scene(96, 64, segments=40, seed=1)
    >>> mesh = mesh_of(slanted.estimate(scene.left, scene.right))
    >>> mesh.faces.shape[1], len(mesh.corners) == len(mesh.disparity)
    (3, True)
    """
    from slanted.model.drawing import drawn_range

    lowest, highest = drawn_range(result.settings, result.searched, result.matched)
    return build_mesh(
        result.regions,
        result.planes,
        result.labels,
        tolerance=tolerance,
        lowest=lowest,
        highest=highest,
        step=step,
        hidden=result.left_out(min_confidence),
    )


def assumed_calibration(height: int, width: int) -> Calibration:
    """Return cameras for a pair of which nothing is known.

    The focal length is taken to be the image's width (a field of view of 53°), the principal point
    its centre; lengths are then in baselines.
    """
    return Calibration(width, width, (width - 1) / 2, (height - 1) / 2, ASSUMED_BASELINE)
