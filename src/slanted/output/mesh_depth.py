"""Triangles cut in parts where their depth varies, so that the image fits on them in every program.

A program that draws a mesh takes texture coordinates to vary evenly along an edge in space. In the
image they vary evenly along the edge's picture, which is not the same if one end is farther than
the other. On an edge of L pixels between the depths Z and rZ, the texture is off by at most

    L (√r − 1) / (√r + 1)

pixels, since at the share t of the way in space, the share in the picture is tr / (1 − t + tr), and
their difference is largest at t = 1 / (1 + √r). At shares t₀, t₁, t₂ of its vertices p₀, p₁, p₂, of
depth Z₀, Z₁, Z₂, a triangle's texture is off by

    Σ tᵢ tⱼ (Zⱼ − Zᵢ) (pⱼ − pᵢ) / Σ tₖ Zₖ,    the first sum over its three edges,

which is at most 4/3 of what the worst of its edges is.
"""

from __future__ import annotations

import numpy as np

from slanted.output.mesh_levels import Triangles, turned
from slanted.runtime.arrays import Flags, Floats, Ints

MOST_SHIFT = 0.75
"""Pixels by which the texture of an edge may be off; that of a triangle is then off by less than a
pixel."""
MOST_PASSES = 30
"""Halving an edge makes its shift a quarter, or less: far more than any image needs."""
SIDES = np.array([[0, 1], [1, 2], [2, 0]])


def split_where_depth_varies(mesh: Triangles, doffs: float) -> Triangles:
    """Halve edges until the texture is off by less than a pixel everywhere.

    Parameters
    ----------
    mesh
        Triangles, whose surface stays as it is. Those that share an edge share its middle.
    doffs
        What is added to disparities so that they are those above infinity, all of them positive.
    """
    for _ in range(MOST_PASSES):
        corners, disparity, faces, _ = mesh
        too_far = texture_shift(corners, disparity + doffs, faces) > MOST_SHIFT
        if not too_far.any():
            break
        mesh = _halved(mesh, too_far)
    return mesh


def texture_shift(corners: Floats, above: Floats, faces: Ints) -> Floats:
    """Return (F, 3) by how many pixels the texture is off at most, on each edge of each triangle.

    Parameters
    ----------
    corners, faces
        As in `slanted.output.mesh.PlaneMesh`.
    above
        (V,) disparity above that of infinity.
    """
    start, end = np.sort(faces[:, SIDES], axis=2).transpose(2, 0, 1)
    root = np.sqrt(above)
    length = np.linalg.norm(corners[end] - corners[start], axis=-1)
    shift: Floats = length * np.abs(root[end] - root[start]) / (root[end] + root[start])
    return shift


def _halved(mesh: Triangles, chosen: Flags) -> Triangles:
    """Return the mesh with a vertex in the middle of each chosen (F, 3) edge."""
    corners, disparity, faces, segment = mesh
    edges = np.sort(faces[:, SIDES][chosen], axis=1)
    halved, number = np.unique(edges, axis=0, return_inverse=True)
    middle = np.full(faces.shape, -1, faces.dtype)
    middle[chosen] = number.reshape(-1) + len(disparity)
    count = chosen.sum(axis=1)
    parts, owners = [faces[count == 0]], [segment[count == 0]]
    # One edge chosen: turn it to be the first. Two: the one that is not is the last.
    first = {1: chosen.argmax(axis=1), 2: (~chosen).argmax(axis=1) + 1, 3: np.zeros_like(count)}
    for edges_chosen, start in first.items():
        these = count == edges_chosen
        a, b, c = turned(faces[these], start[these]).T
        ab, bc, ca = turned(middle[these], start[these]).T
        new = {
            1: ((a, ab, c), (ab, b, c)),
            2: ((ab, b, bc), (a, ab, bc), (a, bc, c)),
            3: ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)),
        }[edges_chosen]
        parts += [np.stack(face, axis=1) for face in new]
        owners += [segment[these]] * len(new)
    return (
        np.concatenate([corners, corners[halved].mean(axis=1)]),
        np.concatenate([disparity, disparity[halved].mean(axis=1)]),
        np.concatenate(parts),
        np.concatenate(owners),
    )
