"""Numba kernels of the tables over (o_ij, y_i, y_j): w_bdy1 φ_bdy1 + w_bdy2 φ_bdy2."""

from __future__ import annotations

import numpy as np

from slanted.boundary_label import BoundaryLabel
from slanted.runtime.arrays import Floats, Starts
from slanted.runtime.kernel import kernel

COPLANAR = int(BoundaryLabel.COPLANAR)
HINGE = int(BoundaryLabel.HINGE)
LEFT_OCCLUSION = int(BoundaryLabel.LEFT_OCCLUSION)
RIGHT_OCCLUSION = int(BoundaryLabel.RIGHT_OCCLUSION)

TOLERANCE = 1e-9
"""Disparity, in pixels, by which a plane must be behind another, or negative, to be penalised, so
that rounding does not penalise planes that are equal or zero."""


@kernel
def edge_tables(
    planes: Floats,
    corners: Floats,
    corner_start: Starts,
    moments: Floats,
    lambda_occ: float,
    lambda_hinge: float,
    lambda_imp: float,
    boundary: Floats,
    weight_bdy1: float,
    weight_bdy2: float,
    tables: Floats,
) -> None:
    """Tabulate w_bdy1 φ_bdy1 + w_bdy2 φ_bdy2, one edge at a time while its table is in the cache.

    Parameters
    ----------
    planes
        (E, 2, N, 3) planes of i and j, about the centre of B_ij.
    corners, corner_start
        (V, 2) and (E + 1,) corners of the hull of each B_ij, relative to its centre.
    moments
        (E, 2, 5) of B_ij and of S_i ∪ S_j: centre, relative to that of B_ij, and covariance (uu,
        uv, vv).
    lambda_occ, lambda_hinge, lambda_imp
        The paper's constants.
    boundary
        (E, 2, N) sums of φ^TP over B_ij for the planes of i and of j.
    weight_bdy1, weight_bdy2
        The weights of both potentials.
    tables
        (E, 4, N, N), output.
    """
    count = planes.shape[2]
    scratch = _scratch(corner_start, count)
    for e in range(len(planes)):
        hull = corners[corner_start[e] : corner_start[e + 1]]
        table = tables[e]
        _compatibility(
            planes[e], hull, moments[e], lambda_occ, lambda_hinge, lambda_imp, scratch, table
        )
        to_second = boundary[e, 1]
        for a in range(count):
            to_first = boundary[e, 0, a]
            coplanar, hinge = table[COPLANAR, a], table[HINGE, a]
            left, right = table[LEFT_OCCLUSION, a], table[RIGHT_OCCLUSION, a]
            for b in range(count):
                shared = weight_bdy1 * (0.5 * (to_first + to_second[b]))
                coplanar[b] = shared + weight_bdy2 * coplanar[b]
                hinge[b] = shared + weight_bdy2 * hinge[b]
                left[b] = weight_bdy1 * to_first + weight_bdy2 * left[b]
                right[b] = weight_bdy1 * to_second[b] + weight_bdy2 * right[b]


@kernel
def _scratch(corner_start: Starts, count: int) -> Floats:
    """Return memory for the disparities of both segments' planes at the corners of any hull."""
    most = 0
    for e in range(len(corner_start) - 1):
        most = max(most, corner_start[e + 1] - corner_start[e])
    return np.empty((2, count, most))


@kernel
def _compatibility(
    planes: Floats,
    hull: Floats,
    moments: Floats,
    lambda_occ: float,
    lambda_hinge: float,
    lambda_imp: float,
    scratch: Floats,
    table: Floats,
) -> None:
    """Write φ_bdy2 of one edge, (4, N, N).

    An affine function is lowest at a corner of the hull, so the corners decide whether one plane is
    behind the other, or negative, at some pixel of B_ij. The mean of its square over a set follows
    from the set's centre and covariance.
    """
    first, second = planes[0], planes[1]
    at_first, at_second = scratch[0], scratch[1]
    negative_first = _at_corners(first, hull, lambda_imp, at_first)
    negative_second = _at_corners(second, hull, lambda_imp, at_second)
    for a in range(len(first)):
        here = at_first[a]
        coplanar, hinge = table[COPLANAR, a], table[HINGE, a]
        left, right = table[LEFT_OCCLUSION, a], table[RIGHT_OCCLUSION, a]
        for b in range(len(second)):
            there = at_second[b]
            lowest, highest = np.inf, -np.inf
            for k in range(len(hull)):
                step = here[k] - there[k]
                lowest = step if step < lowest else lowest
                highest = step if step > highest else highest
            negative = negative_first[a] + negative_second[b]
            alpha = first[a, 0] - second[b, 0]
            beta = first[a, 1] - second[b, 1]
            gamma = first[a, 2] - second[b, 2]
            coplanar[b] = negative + _mean_square(alpha, beta, gamma, moments[1])
            hinge[b] = negative + lambda_hinge + _mean_square(alpha, beta, gamma, moments[0])
            left[b] = negative + lambda_occ + (lambda_imp if lowest < -TOLERANCE else 0.0)
            right[b] = negative + lambda_occ + (lambda_imp if highest > TOLERANCE else 0.0)


@kernel
def _at_corners(planes: Floats, hull: Floats, lambda_imp: float, disparity: Floats) -> Floats:
    """Write the disparity of each plane at each corner, (N, corners); return φ_neg, (N,)."""
    negative = np.zeros(len(planes))
    for a in range(len(planes)):
        alpha, beta, gamma = planes[a]
        row = disparity[a]
        for k in range(len(hull)):
            row[k] = alpha * hull[k, 0] + beta * hull[k, 1] + gamma
            if row[k] < -TOLERANCE:
                negative[a] = lambda_imp
    return negative


@kernel
def _mean_square(alpha: float, beta: float, gamma: float, moments: Floats) -> float:
    """Return the mean of (α u + β v + γ)² over a set of this centre and covariance."""
    u, v, uu, uv, vv = moments
    middle: float = alpha * u + beta * v + gamma
    spread: float = alpha * alpha * uu + 2 * alpha * beta * uv + beta * beta * vv
    return middle * middle + spread
