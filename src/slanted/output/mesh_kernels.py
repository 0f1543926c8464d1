"""Kernels that decide which segments share a vertex, and make triangles between vertices.

Corners and the pixels around them are as in `slanted.output.mesh_corner_kernels`.
"""

from __future__ import annotations

import numpy as np

from slanted.boundary_label import BoundaryLabel
from slanted.output.mesh_corner_kernels import OUTSIDE, Flags, cells_round
from slanted.runtime.arrays import Floats, Ints, Starts
from slanted.runtime.kernel import kernel

Adjacency = tuple[Starts, Ints, Ints]
FIRST_OCCLUSION = int(BoundaryLabel.LEFT_OCCLUSION)


@kernel
def _label_between(first: int, second: int, adjacency: Adjacency, labels: Ints) -> int:
    """Return the label of the boundary of two segments, −1 if they have none."""
    starts, others, numbers = adjacency
    low, high = starts[first], starts[first + 1]
    while low < high:
        middle = (low + high) // 2
        if others[middle] < second:
            low = middle + 1
        else:
            high = middle
    if low < starts[first + 1] and others[low] == second:
        return int(labels[numbers[low]])
    return -1


@kernel
def _may_join(
    one: int,
    other: int,
    cells: Starts,
    group: Starts,
    heights: Floats,
    tolerance: float,
    kinds: Starts,
) -> bool:
    """Return whether two groups of pixels agree in disparity and neither hides the other."""
    lowest, highest = np.inf, -np.inf
    for k in range(4):
        if cells[k] != OUTSIDE and (group[k] == one or group[k] == other):
            lowest, highest = min(lowest, heights[k]), max(highest, heights[k])
    if not highest - lowest <= tolerance:
        return False
    for k in range(4):
        for m in range(4):
            if group[k] == one and group[m] == other and kinds[k, m] >= FIRST_OCCLUSION:
                return False
    return True


@kernel
def join_corner(
    cells: Starts, heights: Floats, kinds: Starts, tolerance: float, group: Starts
) -> None:
    """Find which of the four pixels around a corner share a vertex there.

    Neighbours whose boundary is coplanar or a hinge are joined, those with the smallest difference
    of planes first, unless a group would then span more than `tolerance` pixels of disparity or
    hold two segments of which one hides the other.

    Parameters
    ----------
    cells
        (4,) segments, −1 outside the image.
    heights
        (4,) disparity of each one's plane at the corner.
    kinds
        (4, 4) label of the boundary between two of them; −1 if they have none.
    tolerance
        Pixels.
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
        if _may_join(one, other, cells, group, heights, tolerance, kinds):
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
def _line(
    label_image: Ints,
    is_vertex: Flags,
    y: int,
    grid: tuple[int, int, int],
    centre: Floats,
    planes: Floats,
    adjacency: Adjacency,
    kinds_of_edges: Ints,
    tolerance: float,
    ids: Ints,
    out: tuple[Ints, Floats],
    count: int,
) -> int:
    """Make the vertices of one line of corners; return the number of vertices so far."""
    positions, disparities = out
    step, width, height = grid
    row = min(y * step, height)
    cells, group = np.empty(4, np.int64), np.empty(4, np.int64)
    heights, kinds = np.zeros(4), np.empty((4, 4), np.int64)
    for x in range(label_image.shape[1] + 1):
        ids[x, :] = -1
        if not is_vertex[y, x]:
            continue
        cells_round(label_image, y, x, cells)
        column = min(x * step, width)
        kinds[:, :] = -1
        for k in range(4):
            i = cells[k]
            if i == OUTSIDE:
                continue
            du, dv = column - 0.5 - centre[i, 0], row - 0.5 - centre[i, 1]
            heights[k] = planes[i, 0] * du + planes[i, 1] * dv + planes[i, 2]
            for m in range(k):
                if cells[m] != OUTSIDE and cells[m] != i:
                    kind = _label_between(i, cells[m], adjacency, kinds_of_edges)
                    kinds[k, m], kinds[m, k] = kind, kind
        join_corner(cells, heights, kinds, tolerance, group)
        for k in range(4):
            if cells[k] == OUTSIDE:
                continue
            if group[k] == k:
                positions[count, 0], positions[count, 1] = column, row
                disparities[count] = _group_mean(cells, heights, group, k)
                ids[x, k] = count
                count += 1
            else:
                ids[x, k] = ids[x, group[k]]
    return count


@kernel
def _strip(upper: Ints, lower: Ints, start: int, end: int, faces: Ints, done: int) -> int:
    """Fill the rectangle of a run of pixels with triangles, whose fronts face the camera."""
    i, j = start, start
    while i < end or j < end:
        next_i, next_j = i + 1, j + 1
        while next_i < end and upper[next_i, 3] < 0:
            next_i += 1
        while next_j < end and lower[next_j, 1] < 0:
            next_j += 1
        top = upper[i, 3] if i < end else upper[i, 2]
        bottom = lower[j, 1] if j < end else lower[j, 0]
        faces[done, 0], faces[done, 1] = top, bottom
        if j == end or (i < end and next_i <= next_j):
            i = next_i
            faces[done, 2] = upper[i, 3] if i < end else upper[i, 2]
        else:
            j = next_j
            faces[done, 2] = lower[j, 1] if j < end else lower[j, 0]
        done += 1
    return done


@kernel
def fill_mesh(
    label_image: Ints,
    is_vertex: Flags,
    grid: tuple[int, int, int],
    centre: Floats,
    planes: Floats,
    adjacency: Adjacency,
    kinds_of_edges: Ints,
    tolerance: float,
    vertices: tuple[Ints, Floats],
    faces: Ints,
    segments: Ints,
) -> int:
    """Make vertices and triangles; return the number of vertices.

    Parameters
    ----------
    label_image, centre, planes
        Label image, centres and planes of the segments.
    is_vertex
        From `find_vertices`.
    grid
        Image pixels per side of an entry of `label_image`, and the image's width and height.
    adjacency
        `adjacency_start`, `adjacency_other` and `adjacency_edge` of the regions.
    kinds_of_edges
        Label of each edge.
    tolerance
        Pixels of disparity by which planes that share a vertex may differ.
    vertices
        Out: (V, 2) corners and (V,) disparities, long enough.
    faces, segments
        Out: (F, 3) vertices of each triangle and (F,) the segment it lies in.
    """
    height, width = label_image.shape
    upper, lower = np.empty((width + 1, 4), np.int32), np.empty((width + 1, 4), np.int32)
    count, done = 0, 0
    for y in range(height + 1):
        count = _line(
            label_image,
            is_vertex,
            y,
            grid,
            centre,
            planes,
            adjacency,
            kinds_of_edges,
            tolerance,
            lower,
            vertices,
            count,
        )
        if y > 0:
            start = 0
            for x in range(1, width + 1):
                if x == width or label_image[y - 1, x] != label_image[y - 1, start]:
                    first = done
                    done = _strip(upper, lower, start, x, faces, done)
                    segments[first:done] = label_image[y - 1, start]
                    start = x
        upper, lower = lower, upper
    return count
