"""Particles: the candidate planes of each segment (paper §3.2, Algorithm 1).

Particle 0 is the incumbent, the segment's current plane, except with the proposals ``paper``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from slanted.inference.joint_fit import fit_jointly
from slanted.model.observations import Observations
from slanted.model.planes import shifted_planes
from slanted.regions.structure import Regions
from slanted.runtime.arrays import Floats, Ints
from slanted.runtime.threads import together

if TYPE_CHECKING:
    from slanted.inference.previous_frame import PreviousFrame
    from slanted.settings import InferenceSettings, Settings


def propose(
    regions: Regions,
    observations: Observations | None,
    planes: Floats,
    labels: Ints,
    iteration: int,
    settings: Settings,
    previous_frame: PreviousFrame | None = None,
    moments: Floats | None = None,
) -> Floats:
    """Return (n, N, 3) particles around the current planes.

    Parameters
    ----------
    regions, observations
        The segments and their observations.
    planes, labels
        The current solution, (n, 3) and (E,).
    iteration
        Number of the iteration, from 0; deviations shrink with it.
    settings
        ``inference.proposals``: ``paper`` draws all N from Gaussians with the paper's schedule;
        ``paper+incumbent`` replaces one of them by the current plane; ``mixture`` adds a joint fit
        of all planes and neighbours' planes, and scales its Gaussians to the segment's size.
    previous_frame
        Planes of the last frame of a video, which replace the Gaussians of ``mixture``.
    moments
        Moments for `fit_jointly`, if there are no observations.
    """
    inference = settings.inference
    count = inference.particles
    rng = np.random.default_rng([settings.seed, iteration])
    kind = inference.proposals
    if kind != "mixture":
        slope, disparity = inference.sigma_slope, inference.sigma_disparity
        fall = np.exp(-(iteration + 1) / inference.sigma_decay)
        sigma = fall * np.array([slope, slope, disparity])
        particles: Floats = planes[:, None] + sigma * rng.standard_normal((regions.count, count, 3))
        if kind == "paper+incumbent":
            particles[:, 0] = planes
        return particles
    refit, drawn = together(
        lambda: fit_jointly(regions, observations, planes, labels, settings.model, moments),
        lambda: _draw(regions, planes, iteration, inference, previous_frame, rng),
    )
    return np.concatenate([planes[:, None], refit[:, None], drawn], axis=1)[:, :count]


def _draw(
    regions: Regions,
    planes: Floats,
    iteration: int,
    inference: InferenceSettings,
    previous_frame: PreviousFrame | None,
    rng: np.random.Generator,
) -> Floats:
    """Return the planes of ``mixture`` besides incumbent and joint fit, (n, N − 2, 3)."""
    count = max(0, inference.particles - 2)
    neighbours = round(inference.mixture_neighbours * count)
    deviation = inference.mixture_sigma * inference.mixture_decay**iteration
    drawn = _gaussians(regions, planes, count, deviation, rng)
    if previous_frame is not None:
        neighbours = max(0, min(neighbours, count - 1))  # at least one from the last frame
        rest = drawn[:, neighbours:]
        drawn[:, neighbours:] = previous_frame.at(regions, rest.shape[1], rest)
    drawn[:, :neighbours] = _neighbours_planes(regions, planes, drawn[:, :neighbours], rng)
    return drawn


def _neighbours_planes(
    regions: Regions, planes: Floats, instead: Floats, rng: np.random.Generator
) -> Floats:
    """Replace `instead` (n, count, 3) by the planes of different random neighbours, extended.

    A segment with fewer neighbours keeps the rest of `instead`.
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
    """Return planes whose disparities vary alike at the centre and the rim of the segment."""
    radius = np.sqrt(regions.covariance[:, 0] + regions.covariance[:, 2])
    sigma = np.empty((regions.count, 1, 3))
    sigma[..., 2] = deviation
    sigma[..., :2] = sigma[..., 2:] / (2 * np.maximum(radius, 1.0))[:, None, None]
    return planes[:, None] + sigma * rng.standard_normal((regions.count, count, 3))
