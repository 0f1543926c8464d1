"""Particles: the planes among which each segment may choose (paper §3.2, Algorithm 1).

Particle 0 is the incumbent, the segment's current plane, in all sets but ``paper``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from slanted.inference.local_fit import moments_near, normal_equations
from slanted.labels import BoundaryLabel
from slanted.model.observations import Observations
from slanted.model.planes import shifted_planes
from slanted.regions.structure import Floats, Ints, Regions

if TYPE_CHECKING:
    from slanted.settings import Settings


def propose(
    regions: Regions,
    observations: Observations,
    planes: Floats,
    labels: Ints,
    iteration: int,
    settings: Settings,
) -> Floats:
    """Return (n, N, 3) particles around the current planes.

    Parameters
    ----------
    regions, observations
        The segments and their matches.
    planes, labels
        The current solution, (n, 3) and (E,).
    iteration
        Counted from 0; deviations shrink with it.
    settings
        ``inference.proposals``: ``paper`` draws all N from Gaussians with the paper's schedule;
        ``paper+incumbent`` keeps the current plane among them; ``mixture`` adds a closed-form refit
        and neighbours' planes, and scales its Gaussians to the segment's size.
    """
    inference = settings.inference
    count = inference.particles
    rng = np.random.default_rng([settings.seed, iteration])
    kind = inference.proposals
    if kind != "mixture":
        slope, disparity = inference.sigma_slope, inference.sigma_disparity
        sigma = np.exp(-iteration / inference.sigma_decay) * np.array([slope, slope, disparity])
        particles: Floats = planes[:, None] + sigma * rng.standard_normal((regions.count, count, 3))
        if kind == "paper+incumbent":
            particles[:, 0] = planes
        return particles
    refit = refit_planes(regions, observations, planes, labels, settings)
    neighbours = round(inference.mixture_neighbours * max(0, count - 2))
    deviation = inference.mixture_sigma * inference.mixture_decay**iteration
    drawn = _gaussians(regions, planes, max(0, count - 2), deviation, rng)
    drawn[:, :neighbours] = _neighbours_planes(regions, planes, drawn[:, :neighbours], rng)
    return np.concatenate([planes[:, None], refit[:, None], drawn], axis=1)[:, :count]


def refit_planes(
    regions: Regions, observations: Observations, planes: Floats, labels: Ints, settings: Settings
) -> Floats:
    """Return the planes that minimise the energy's quadratic parts, neighbours held fixed.

    These are φ_seg over the matches within K of the current plane, and the mean squared gaps of
    φ_bdy2 to neighbours that are coplanar (over S_i ∪ S_j) or hinged (over B_ij).
    """
    model = settings.model
    moments = moments_near(observations.segments, planes, model.truncation)
    normal, right = normal_equations(model.weights.seg * moments)
    segment = np.repeat(np.arange(regions.count, dtype=np.int32), np.diff(regions.adjacency_start))
    edge, other = regions.adjacency_edge, regions.adjacency_other
    joined = labels[edge] <= BoundaryLabel.HINGE
    segment, edge, other = segment[joined], edge[joined], other[joined]
    gaps = model.weights.bdy2 * _mean_outer_products(regions, segment, edge, labels[edge])
    theirs = shifted_planes(planes[other], regions.centre[segment] - regions.centre[other])
    np.add.at(normal, segment, gaps)
    np.add.at(right, segment, (gaps @ theirs[..., None])[..., 0])
    # A segment without matches or joined neighbours has nothing to be fitted to.
    scale = np.trace(normal, axis1=1, axis2=2)
    normal += (1e-9 * scale + (scale == 0))[:, None, None] * np.eye(3)
    refit = np.linalg.solve(normal, right[..., None])[..., 0]
    return np.where((scale > 0)[:, None] & np.isfinite(refit), refit, planes)


def _mean_outer_products(regions: Regions, segment: Ints, edge: Ints, labels: Ints) -> Floats:
    """Return the mean of f fᵀ, f = (u, v, 1) about the segment's centre, over B_ij or S_i ∪ S_j."""
    hinge = (labels == BoundaryLabel.HINGE)[:, None]
    centre = np.where(hinge, regions.boundary_centre[edge], regions.union_centre[edge])
    spread = np.where(hinge, regions.boundary_covariance[edge], regions.union_covariance[edge])
    u, v = (centre - regions.centre[segment]).T
    uu, uv, vv = spread.T
    rows = [uu + u * u, uv + u * v, u, uv + u * v, vv + v * v, v, u, v, np.ones_like(u)]
    return np.stack(rows, axis=1).reshape(-1, 3, 3)


def _neighbours_planes(
    regions: Regions, planes: Floats, instead: Floats, rng: np.random.Generator
) -> Floats:
    """Return planes of different random neighbours, extended to each segment's own centre.

    As many as `instead` (n, count, 3) has; a segment with fewer neighbours keeps the rest of it.
    """
    segment = np.repeat(np.arange(regions.count), np.diff(regions.adjacency_start))
    shuffled = np.lexsort((rng.random(len(segment)), segment))
    rank = np.arange(len(segment)) - regions.adjacency_start[segment]
    taken = rank < instead.shape[1]
    here, there, rank = segment[taken], regions.adjacency_other[shuffled][taken], rank[taken]
    particles = instead.copy()
    shift = regions.centre[here] - regions.centre[there]
    particles[here, rank] = shifted_planes(planes[there], shift)
    return particles


def _gaussians(
    regions: Regions, planes: Floats, count: int, deviation: float, rng: np.random.Generator
) -> Floats:
    """Return planes whose disparities vary alike at the centre and at the rim of the segment."""
    radius = np.sqrt(regions.covariance[:, 0] + regions.covariance[:, 2])
    sigma = np.empty((regions.count, 1, 3))
    sigma[..., 2] = deviation
    sigma[..., :2] = sigma[..., 2:] / (2 * np.maximum(radius, 1.0))[:, None, None]
    return planes[:, None] + sigma * rng.standard_normal((regions.count, count, 3))
