"""The planes of a result as one mesh, joined where surfaces continue and cut where they end.

Every triangle lies inside one segment, whose outline is smooth (`slanted.output.mesh_outlines`).
Two neighbours share vertices along a coplanar or hinge boundary and nowhere else, so no triangle
crosses an occlusion boundary, and two segments of which one hides the other share no vertex.

Planes of neighbours agree only roughly where they meet. A vertex that they share lies at the mean
of their disparities; if these differ too much, the mesh is split there whatever the label says.
How much is too much is a matter of depth: the same pixel of disparity is a centimetre nearby and
metres far away, so `JoinRule` allows a share of the disparity, and less to segments of a low
confidence. Vertices of one segment alone lie on its plane.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from slanted.boundary_label import BoundaryLabel
from slanted.io import Calibration
from slanted.output.mesh_depth import split_where_depth_varies
from slanted.output.mesh_levels import NEAR, cut_at
from slanted.output.mesh_outlines import coarse_labels, still, triangulate
from slanted.output.space import LEAST_DISPARITY, SLOPE, Space
from slanted.regions.structure import Regions
from slanted.runtime.arrays import Flags, Floats, Ints

if TYPE_CHECKING:
    from slanted.output.result_fields import ResultData

TOLERANCE = 2.0
SHARE = 0.05
"""Pixels of disparity, and share of the disparity above that of infinity, by which planes that
share a vertex may differ: what is joined at 10 m may be 50 cm apart, at 1 m 5 cm."""


@dataclass(frozen=True, eq=False)
class PlaneMesh:
    """Triangles in the left image, with a disparity at each of their vertices."""

    corners: Floats
    """(V, 2) position (u, v) in the image, in pixels, whose centres are whole numbers."""
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

    def normals(self, calibration: Calibration) -> NDArray[np.float32]:
        """Return (V, 3) unit vectors towards the camera's side, in the axes of `positions`.

        Where triangles share a vertex it is the mean of theirs by area, so that light passes over
        the small steps between planes of one surface.
        """
        a, b, c = self.positions(calibration).astype(np.float64)[self.faces].transpose(1, 0, 2)
        across = np.cross(b - a, c - a)
        normals = np.empty((len(self.disparity), 3))
        for axis in range(3):
            each = np.repeat(across[:, axis], 3)
            normals[:, axis] = np.bincount(self.faces.ravel(), each, len(normals))
        length = np.linalg.norm(normals, axis=1, keepdims=True)
        unit: NDArray[np.float64] = normals / np.maximum(length, np.finfo(np.float64).tiny)
        return unit.astype(np.float32)

    def texture_coordinates(self, width: int, height: int) -> NDArray[np.float32]:
        """Return (V, 2) place in the image, from its upper left corner, 0 … 1."""
        return ((self.corners + 0.5) / (width, height)).astype(np.float32)

    def within(self, space: Space) -> PlaneMesh:
        """Return the mesh without what is too far or, if the cameras are known, too oblique.

        Triangles are cut where they are too far, so that the mesh ends at that very depth, and
        where their depth varies so much that the image would not fit on them.
        """
        least = space.least - space.cameras.doffs_pixels
        whole = (self.corners, self.disparity, self.faces, self.segment)
        corners, disparity, faces, segment = cut_at(whole, least)
        kept = np.all(disparity[faces] >= least - NEAR, axis=1)
        mesh = PlaneMesh(corners, disparity, faces, segment).only(kept)
        if space.is_known:
            mesh = mesh.only(mesh._slopes(space).max(axis=1) <= SLOPE)
        parts = (mesh.corners, mesh.disparity, mesh.faces, mesh.segment)
        return PlaneMesh(*split_where_depth_varies(parts, space.cameras.doffs_pixels))

    def _slopes(self, space: Space) -> Floats:
        """Return (F, 3) how many times longer each triangle is than it looks, at its vertices."""
        points, disparity = self.corners[self.faces], self.disparity[self.faces]
        sides, rises = points[:, 1:] - points[:, :1], disparity[:, 1:] - disparity[:, :1]
        (ax, ay), (bx, by) = sides[:, 0].T, sides[:, 1].T
        area = ax * by - ay * bx
        first = (rises[:, 0] * by - rises[:, 1] * ay) / area
        second = (rises[:, 1] * ax - rises[:, 0] * bx) / area
        gradient = np.stack([first, second], axis=1)[:, np.newaxis]
        return space.slopes(gradient, disparity, points[..., 0], points[..., 1])

    def only(self, kept: Flags) -> PlaneMesh:
        """Return some of the triangles, with the vertices that they use."""
        used = np.zeros(len(self.disparity), np.bool_)
        used[self.faces[kept]] = True
        number = (np.cumsum(used) - 1).astype(np.int32)
        faces = number[self.faces[kept]]
        return PlaneMesh(self.corners[used], self.disparity[used], faces, self.segment[kept])


@dataclass(frozen=True, eq=False)
class JoinRule:
    """When planes that meet at a coplanar or hinge boundary agree well enough to share a vertex."""

    tolerance: float = TOLERANCE
    """Most pixels of disparity between them."""
    share: float = SHARE
    """Most of it as a share of the disparity above that of infinity."""
    infinity: float = -np.inf
    """Disparity of what is infinitely far; −∞ if it is not known, and shares do not count."""
    trust: Floats | None = None
    """(n,) factor of both for each segment."""


def build_mesh(
    regions: Regions,
    planes: Floats,
    labels: Ints,
    *,
    rule: JoinRule | None = None,
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
    rule
        When planes share a vertex.
    lowest, highest
        Planes that leave this range are cut off at its end, as in a result's disparity map.
    step
        Outlines follow cells with sides of this many pixels, which gives fewer triangles; vertices
        lie on the same planes.
    hidden
        (H, W) pixels that the mesh leaves out.
    """
    from slanted.output.mesh_join_kernels import join_vertices, use_vertices

    rule = rule or JoinRule()
    labels = np.ascontiguousarray(labels, np.int32)
    # Hidden pixels are a segment n of their own, which has no neighbours: it shares no vertex.
    centre, planes = (_with_zeros(each) for each in (regions.centre, planes))
    starts = np.append(regions.adjacency_start, regions.adjacency_start[-1])
    adjacency = (still(starts), regions.adjacency_other, regions.adjacency_edge)
    cells = coarse_labels(labels_apart(regions, hidden), step)
    loose = (labels < BoundaryLabel.LEFT_OCCLUSION) & _agree(regions, planes, rule)
    flat = triangulate(cells, adjacency, loose.astype(np.int32))
    height, width = regions.label_image.shape
    places = flat.points * (width / cells.shape[1], height / cells.shape[0]) - 0.5
    most = 4 * len(places)
    point, disparity = np.empty(most, np.int32), np.empty(most)
    numbers = np.empty((len(places), 4), np.int32)
    trust = np.ones(regions.count) if rule.trust is None else rule.trust
    count = join_vertices(
        cells,
        flat.corners,
        places,
        centre,
        planes,
        adjacency,
        labels,
        (float(rule.tolerance), float(rule.share), float(rule.infinity)),
        np.append(np.asarray(trust, np.float64), 0.0),
        (point, disparity),
        numbers,
    )
    use_vertices(cells, flat.corners, numbers, flat.segment, flat.faces)
    mesh = (places[point[:count]], disparity[:count], flat.faces, flat.segment)
    for level in (lowest, highest):
        if np.isfinite(level):
            mesh = cut_at(mesh, level)
    points, unbounded, *others = mesh
    made = PlaneMesh(points, np.clip(unbounded, lowest, highest), *others)
    return made.only(made.segment < regions.count)


def _agree(regions: Regions, planes: Floats, rule: JoinRule) -> Flags:
    """Return (E,) whether the planes of neighbours agree in the middle of their boundary."""
    away = regions.boundary_centre[:, np.newaxis] - regions.centre[regions.edges]
    sides = planes[regions.edges]
    disparity = (sides[..., :2] * away).sum(axis=-1) + sides[..., 2]
    room = np.minimum(rule.tolerance, rule.share * (disparity.min(axis=1) - rule.infinity))
    if rule.trust is not None:
        room = room * rule.trust[regions.edges].min(axis=1)
    agree: Flags = np.ptp(disparity, axis=1) <= room
    return agree


def _with_zeros(array: Floats) -> Floats:
    return still(np.append(array, np.zeros((1, array.shape[1])), axis=0).astype(np.float64))


def labels_apart(regions: Regions, hidden: Flags | None) -> Ints:
    """Return the label image, in which hidden pixels have the label n."""
    if hidden is None:
        return regions.label_image
    return still(np.where(hidden, np.int32(regions.count), regions.label_image))


def hidden_from_mesh(result: ResultData, space: Space, min_confidence: float) -> Flags | None:
    """Return the (H, W) pixels that a mesh leaves out wherever they are; None if there are none."""
    masks = (result.left_out(min_confidence), space.oblique(result))
    hidden = [mask for mask in masks if mask is not None]
    return np.logical_or.reduce(hidden) if hidden else None


def mesh_of(
    result: ResultData, space: Space | None = None, *, step: int = 1, min_confidence: float = 0.0
) -> PlaneMesh:
    """Return the mesh of a result; see `build_mesh`.

    The sky, and pixels whose confidence is below `min_confidence`, are left out. So is what is too
    far or too oblique in `space`, which by default is that of the result's own calibration.

    Examples
    --------
    >>> import slanted
    >>> from slanted.synthetic import make_scene
    >>> scene = make_scene(96, 64, segments=40, seed=1)
    >>> mesh = mesh_of(slanted.estimate(scene.left, scene.right))
    >>> mesh.faces.shape[1], len(mesh.corners) == len(mesh.disparity)
    (3, True)
    """
    space = space or Space.of(result, result.calibration)
    hidden = hidden_from_mesh(result, space, min_confidence)
    return mesh_without(hidden, result, space, step)


def mesh_without(
    hidden: Flags | None, result: ResultData, space: Space, step: int = 1
) -> PlaneMesh:
    """Return the mesh of a result as `mesh_of` does, of which it is known what is left out."""
    from slanted.model.drawing import drawn_range

    lowest, highest = drawn_range(result.settings, result.searched, result.matched)
    mesh = build_mesh(
        result.regions,
        result.planes,
        result.labels,
        rule=JoinRule(infinity=space.infinity, trust=_trust(result)),
        lowest=lowest,
        highest=highest,
        step=step,
        hidden=hidden,
    )
    return mesh.within(space)


def _trust(result: ResultData) -> Floats | None:
    """Return the mean confidence of each segment's pixels; None if there is none."""
    if result.confidence is None:
        return None
    regions = result.regions
    total = np.bincount(regions.label_image.ravel(), result.confidence.ravel(), regions.count)
    trust: Floats = total / regions.size
    return trust
