"""Kernels that decide which segments share a vertex, and where in depth it lies.

Corners and the pixels around them are as in `slanted.output.mesh_corner_kernels`.
"""

from __future__ import annotations

import numpy as np

from slanted.boundary_label import BoundaryLabel
from slanted.output.mesh_corner_kernels import OUTSIDE, cells_round
from slanted.runtime.arrays import Floats, Ints, Starts
from slanted.runtime.kernel import kernel

Adjacency = tuple[Starts, Ints, Ints]
FIRST_OCCLUSION = int(BoundaryLabel.LEFT_OCCLUSION)


@kernel
def edge_value(first: int, second: int, adjacency: Adjacency, values: Ints) -> int:
    """Return the value of the boundary of two segments, −1 if they have none."""
    starts, others, numbers = adjacency
    low, high = starts[first], starts[first + 1]
    while low < high:
        middle = (low + high) // 2
        if others[middle] < second:
            low = middle + 1
        else:
            high = middle
    if low < starts[first + 1] and others[low] == second:
        return int(values[numbers[low]])
    return -1


@kernel
def _may_join(
    one: int,
    other: int,
    cells: Starts,
    group: Starts,
    heights: Floats,
    rooms: Floats,
    kinds: Starts,
) -> bool:
    """Return whether two groups of pixels agree in disparity and neither hides the other."""
    lowest, highest, room = np.inf, -np.inf, np.inf
    for k in range(4):
        if cells[k] != OUTSIDE and (group[k] == one or group[k] == other):
            lowest, highest = min(lowest, heights[k]), max(highest, heights[k])
            room = min(room, rooms[k])
    if not highest - lowest <= room:
        return False
    for k in range(4):
        for m in range(4):
            if group[k] == one and group[m] == other and kinds[k, m] >= FIRST_OCCLUSION:
                return False
    return True


@kernel
def join_corner(
    cells: Starts, heights: Floats, kinds: Starts, rooms: Floats, group: Starts
) -> None:
    """Find which of the four pixels around a corner share a vertex there.

    Neighbours whose boundary is coplanar or a hinge are joined, those with the smallest difference
    of planes first, unless a group would then span more disparity than one of its segments has room
    for, or hold two segments of which one hides the other.

    Parameters
    ----------
    cells
        (4,) segments, −1 outside the image.
    heights
        (4,) disparity of each one's plane at the corner.
    kinds
        (4, 4) label of the boundary between two of them; −1 if they have none.
    rooms
        (4,) pixels of disparity by which what shares a vertex with a segment may differ.
    group
        (4,) out: the lowest index of a pixel in each pixel's group.
    """
    for k in range(4):
        group[k] = k
        for m in range(k):
            if cells[m] == cells[k]:
                group[k] = group[m]
                break
    sides = ((0, 1), (0, 2), (1, 3), (2, 3))
    tried = np.zeros(4, np.bool_)
    for _ in range(4):
        best, least = -1, np.inf
        for s in range(4):
            a, b = sides[s]
            joins = kinds[a, b] >= 0 and kinds[a, b] < FIRST_OCCLUSION
            if joins and not tried[s] and group[a] != group[b]:
                gap = abs(heights[a] - heights[b])
                if gap < least:
                    best, least = s, gap
        if best < 0:
            return
        tried[best] = True
        a, b = sides[best]
        one, other = min(group[a], group[b]), max(group[a], group[b])
        if _may_join(one, other, cells, group, heights, rooms, kinds):
            for k in range(4):
                if group[k] == other:
                    group[k] = one


@kernel
def _group_mean(cells: Starts, heights: Floats, group: Starts, which: int) -> float:
    """Return the mean disparity of a group's segments at a corner."""
    total, count = 0.0, 0
    for k in range(4):
        if group[k] == which and cells[k] != OUTSIDE:
            new = True
            for m in range(k):
                new = new and cells[m] != cells[k]
            if new:
                total += heights[k]
                count += 1
    return total / count


@kernel
def join_vertices(
    label_image: Ints,
    corners: Ints,
    places: Floats,
    centre: Floats,
    planes: Floats,
    adjacency: Adjacency,
    kinds_of_edges: Ints,
    rule: tuple[float, float, float],
    trust: Floats,
    vertices: tuple[Ints, Floats],
    numbers: Ints,
) -> int:
    """Make the vertices of a mesh at points of the image; return their number.

    Parameters
    ----------
    label_image, centre, planes
        Label image, centres and planes of the segments.
    corners
        (P, 2) corners of `label_image` where the points were at first.
    places
        (P, 2) where they are in the image, in pixels whose centres are whole numbers.
    adjacency
        `adjacency_start`, `adjacency_other` and `adjacency_edge` of the regions.
    kinds_of_edges
        Label of each edge.
    rule
        Most pixels of disparity by which planes that share a vertex may differ, the most as a share
        of the disparity, and the disparity of infinity.
    trust
        (n,) factor of that for each segment.
    vertices
        Out: (4P,) point and disparity of each vertex.
    numbers
        (P, 4) out: the vertex of each of the four pixels around the corner, −1 outside.
    """
    most, share, infinity = rule
    points, disparities = vertices
    cells, group = np.empty(4, np.int64), np.empty(4, np.int64)
    heights, rooms, kinds = np.zeros(4), np.zeros(4), np.empty((4, 4), np.int64)
    count = 0
    for p in range(len(corners)):
        cells_round(label_image, corners[p, 1], corners[p, 0], cells)
        kinds[:, :] = -1
        for k in range(4):
            i = cells[k]
            numbers[p, k] = -1
            if i == OUTSIDE:
                continue
            du, dv = places[p, 0] - centre[i, 0], places[p, 1] - centre[i, 1]
            heights[k] = planes[i, 0] * du + planes[i, 1] * dv + planes[i, 2]
            rooms[k] = min(most, share * (heights[k] - infinity)) * trust[i]
            for m in range(k):
                if cells[m] != OUTSIDE and cells[m] != i:
                    kind = edge_value(i, cells[m], adjacency, kinds_of_edges)
                    kinds[k, m], kinds[m, k] = kind, kind
        join_corner(cells, heights, kinds, rooms, group)
        for k in range(4):
            if cells[k] != OUTSIDE and group[k] == k:
                points[count] = p
                disparities[count] = _group_mean(cells, heights, group, k)
                numbers[p, k] = count
                count += 1
            elif cells[k] != OUTSIDE:
                numbers[p, k] = numbers[p, group[k]]
    return count


@kernel
def use_vertices(
    label_image: Ints, corners: Ints, numbers: Ints, segments: Ints, faces: Ints
) -> None:
    """Replace the points of triangles by the vertices that their segments have there, in place."""
    cells = np.empty(4, np.int64)
    for f in range(len(faces)):
        for m in range(3):
            p = faces[f, m]
            cells_round(label_image, corners[p, 1], corners[p, 0], cells)
            for k in range(4):
                if cells[k] == segments[f]:
                    faces[f, m] = numbers[p, k]
                    break
