"""Planes to start from: a robust fit to each segment's own matches (paper §3.2, Algorithm 1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slanted.inference.plane_kernels import fit_robustly, inlier_moments
from slanted.model.observations import Matches, Observations
from slanted.model.planes import shifted_planes
from slanted.model.potentials import disparity_cost
from slanted.regions.structure import Regions
from slanted.runtime.arrays import Floats
from slanted.runtime.threads import share, share_rows

ENOUGH_FOR_LEVEL = 10
"""Matches that are believed even where they cannot tell a slope."""
SMALLEST_SPREAD = 0.02
"""Of the matches' covariance, as the determinant's share of that of all the segment's pixels: below
it they cover too little of the segment, or lie too nearly on a line, to tell its slope."""
MEDIAN_SAMPLE = 64
"""Matches a segment whose median starts the fit; it need not be exact."""
NOISE_SAMPLED = 5
"""One match in so many tells the noise."""
NOISE_QUANTILE, NOISE_QUANTILE_OF_ONE = 0.8, 1.2816
"""Of absolute residuals, and what it is for a normal distribution of deviation 1."""
REACHES = (4.0, 2.0, 1.0, 1.0)
"""Of the truncation K: the residuals of the matches that each round fits."""


def fit_local_planes(regions: Regions, observations: Observations, K: float) -> Floats:
    """Fit a plane to every segment's matches, or take a neighbour's where there are too few.

    The paper says "local fitting" and no more. Here least squares over all matches and over those
    near their median disparity are each refined on their inliers, and the one with the lower
    truncated cost φ_seg is kept. Where the matches are too narrow to tell a slope, the plane is
    level at their median. A segment with hardly any takes the plane, extended, of the neighbour
    that lies farthest away, because what cannot be matched is mostly hidden background.

    Returns
    -------
    planes
        (n, 3) about the segments' centres.
    """
    return fill_unknown(regions, *fit_own_matches(regions, observations, K))


def fit_own_matches(
    regions: Regions, observations: Observations, K: float
) -> tuple[Floats, NDArray[np.bool_], NDArray[np.int64]]:
    """Fit planes as `fit_local_planes` does, but leave segments with too few matches alone.

    Returns
    -------
    planes, known, matched
        (n, 3); (n,) whether the matches tell a plane; (n,) how many there are.
    """
    matches = observations.segments
    arrays = matches.du, matches.dv, matches.disparity, matches.weight
    level = _medians(matches, regions.count)
    uu, uv, vv = regions.covariance.T
    spread = SMALLEST_SPREAD * (uu * vv - uv * uv) + 1e-9
    reaches = K * np.array(REACHES)

    def some(first: int, last: int) -> tuple[Floats, NDArray[np.bool_]]:
        start, own = matches.start[first : last + 1], slice(first, last)
        found: tuple[Floats, NDArray[np.bool_]]
        found = fit_robustly(start, *arrays, level[own], spread[own], reaches)
        return found

    candidates, told = map(np.concatenate, zip(*share(regions.count, some), strict=True))
    best = np.argmin(disparity_cost(regions, observations, candidates, K), axis=1)
    matched = np.diff(matches.start)
    known = told | (matched >= ENOUGH_FOR_LEVEL)
    return candidates[np.arange(regions.count), best], known, matched


def fill_unknown(
    regions: Regions, planes: Floats, known: NDArray[np.bool_], matched: NDArray[np.int64]
) -> Floats:
    """Give segments whose matches tell no plane that of a neighbour."""
    # A few stray matches say less than a neighbour, unless they are all there is.
    return fill_from_neighbours(regions, planes, known if known.any() else matched > 0)


def match_noise(observations: Observations, planes: Floats) -> float:
    """Return the deviation of the matches from planes fitted to them, in pixels.

    From the share of small residuals: outliers and segments that are not flat hardly change it.
    """
    return noise_of_residuals(sampled_residuals(observations, planes))


def sampled_residuals(
    observations: Observations, planes: Floats, number: NDArray[np.int64] | None = None
) -> Floats:
    """Return the distance from its plane of one match in `NOISE_SAMPLED`.

    `number` (n,) is that of each segment's first match among those of the whole image, if this is
    only a part of it: the whole image's sample is taken.
    """
    matches = observations.segments
    begin, size = matches.start[:-1], np.diff(matches.start)
    number = begin if number is None else number
    # Those whose number among all is a multiple: how many of each segment, and where they are.
    before = -(-number // NOISE_SAMPLED)
    count = -(-(number + size) // NOISE_SAMPLED) - before
    first = begin + before * NOISE_SAMPLED - number
    rank = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    chosen = np.repeat(first, count) + NOISE_SAMPLED * rank
    a, b, c = (np.repeat(parameter, count) for parameter in planes.T)
    du, dv, disparity = (v[chosen] for v in (matches.du, matches.dv, matches.disparity))
    residuals: Floats = np.abs(a * du + b * dv + c - disparity)
    return residuals


def noise_of_residuals(residuals: Floats) -> float:
    """Return the deviation of a normal distribution with as many small residuals."""
    if residuals.size == 0:
        return 0.0
    place = int(NOISE_QUANTILE * (residuals.size - 1))
    return float(np.partition(residuals, place)[place]) / NOISE_QUANTILE_OF_ONE


def fill_from_neighbours(regions: Regions, planes: Floats, known: NDArray[np.bool_]) -> Floats:
    """Give segments that are not `known` the extended plane of their farthest known neighbour.

    Done in rounds, so that planes spread into large holes; where nothing is known all stay.
    """
    planes, known = planes.copy(), known.copy()
    segment = np.repeat(np.arange(regions.count), np.diff(regions.adjacency_start))
    other = regions.adjacency_other
    while not known.all():
        usable = known[other] & ~known[segment]
        if not usable.any():
            break
        here, there = segment[usable], other[usable]
        extended = shifted_planes(planes[there], regions.centre[here] - regions.centre[there])
        order = np.lexsort((there, extended[:, 2], here))
        first = np.unique(here[order], return_index=True)[1]
        planes[here[order][first]] = extended[order][first]
        known[here] = True
    return planes


def _medians(matches: Matches, count: int) -> Floats:
    """Return the median of `MEDIAN_SAMPLE` matches a segment, evenly spaced; 0 without any."""
    size = np.diff(matches.start)[:, None]
    sample = matches.start[:-1, None] + np.arange(MEDIAN_SAMPLE) * size // MEDIAN_SAMPLE
    medians = np.zeros(count)
    filled = size[:, 0] > 0
    medians[filled] = np.sort(matches.disparity[sample[filled]], axis=1)[:, MEDIAN_SAMPLE // 2]
    return medians


def moments_near(matches: Matches, planes: Floats, reach: float) -> Floats:
    """Return the moments of each segment's matches within `reach` of its plane."""
    arrays = matches.du, matches.dv, matches.disparity, matches.weight

    def some(first: int, last: int) -> Floats:
        start = matches.start[first : last + 1]
        sums: Floats = inlier_moments(start, *arrays, planes[first:last], reach)
        return sums

    return share_rows(len(planes), some)


def normal_equations(moments: Floats) -> tuple[Floats, Floats]:
    """Return the (n, 3, 3) matrices and (n, 3) right sides of least-squares planes."""
    uu, uv, vv, u, v, one, ud, vd, d = moments.T
    normal = np.stack([uu, uv, u, uv, vv, v, u, v, one], axis=1).reshape(-1, 3, 3)
    return normal, np.stack([ud, vd, d], axis=1)
