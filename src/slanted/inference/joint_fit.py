"""A joint fit of all planes: the minimum of the energy's quadratic parts, with fixed labels.

This particle carries slopes over long distances into segments without matches, where fitting one
neighbour after the other would drift. The paper's particles are Gaussians around the current planes
only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from slanted.boundary_label import BoundaryLabel
from slanted.inference.joint_kernels import add_blocks, solve_blocks
from slanted.inference.local_fit import moments_near, normal_equations
from slanted.model.observations import Observations
from slanted.regions.structure import Regions
from slanted.runtime.arrays import Floats, Ints

if TYPE_CHECKING:
    from slanted.settings import ModelSettings

PULL = 1e-3
"""Weight, in matches, of each segment's current plane, which keeps undetermined slopes."""
TOLERANCE = 1e-3
"""Residual norm that ends the solver; about the square root of the excess cost of the fit."""
MOST_ROUNDS = 200
"""Most rounds of the solver; photographs take 20 to 80."""


def fit_jointly(
    regions: Regions,
    observations: Observations | None,
    planes: Floats,
    labels: Ints,
    model: ModelSettings,
    moments: Floats | None = None,
) -> Floats:
    """Return (n, 3) planes that minimise φ_seg over inliers plus the gaps of φ_bdy2.

    Inliers are the matches within K of the current planes. Gaps are the mean squared differences
    between planes that are coplanar (over S_i ∪ S_j) or form a hinge (over B_ij). The minimum
    solves one sparse linear system in the 3 n parameters.

    Parameters
    ----------
    regions, observations, planes, labels
        As for `slanted.inference.particles.propose`.
    model
        Section ``model``, for the weights and K.
    moments
        Moments of the inliers, from `moments_near`; needed without observations.
    """
    if moments is None:
        if observations is None:
            raise TypeError("fit_jointly needs observations or their moments")
        moments = moments_near(observations.segments, planes, model.truncation)
    normal, target = normal_equations(model.weights.seg * moments)
    pull = _pull(regions)
    diagonal, target = normal + pull, target + (pull @ planes[..., None])[..., 0]
    joined = np.flatnonzero(labels <= BoundaryLabel.HINGE).astype(np.int32)
    i, j = np.ascontiguousarray(regions.edges[joined].T)
    hinge = (labels[joined] == BoundaryLabel.HINGE)[:, None]
    centre = np.where(hinge, regions.boundary_centre[joined], regions.union_centre[joined])
    spread = np.where(hinge, regions.boundary_covariance[joined], regions.union_covariance[joined])
    first, second = (centre - regions.centre[side] for side in (i, j))
    add_blocks(_gap(first, first, spread, model), i, diagonal)
    add_blocks(_gap(second, second, spread, model), j, diagonal)
    across = _gap(first, second, spread, model)
    found: Floats = solve_blocks(diagonal, i, j, across, target, planes, TOLERANCE, MOST_ROUNDS)
    usable = np.isfinite(found).all(axis=1, keepdims=True)
    return np.where(usable, found, planes)


def _pull(regions: Regions) -> Floats:
    """Return the (n, 3, 3) weights of the current planes."""
    pull = np.zeros((regions.count, 3, 3))
    pull[:, 0, 0] = regions.covariance[:, 0] + 1
    pull[:, 1, 1] = regions.covariance[:, 2] + 1
    pull[:, 2, 2] = 1
    return PULL * pull


def _gap(one: Floats, other: Floats, spread: Floats, model: ModelSettings) -> Floats:
    """Return w · mean f_one f_otherᵀ over B_ij or S_i ∪ S_j, with f = (u, v, 1) about centres.

    `one` and `other` are the mean positions of these pixels about the segments' centres, and
    `spread` is their covariance.
    """
    (u, v), (s, t), (uu, uv, vv) = one.T, other.T, spread.T
    rows = [uu + u * s, uv + u * t, u, uv + v * s, vv + v * t, v, s, t, np.ones_like(u)]
    return model.weights.bdy2 * np.stack(rows, axis=1).reshape(-1, 3, 3)
