"""Initial planes: a robust fit to each segment's matches (paper §3.2, Algorithm 1)."""

from __future__ import annotations

import numpy as np

from slanted.inference.plane_kernels import fit_robustly, inlier_moments
from slanted.model.observations import Matches, Observations
from slanted.model.planes import shifted_planes
from slanted.model.potentials import disparity_rows
from slanted.regions.structure import Regions
from slanted.runtime.arrays import Flags, Floats, Starts
from slanted.runtime.threads import share, share_rows

ENOUGH_FOR_LEVEL = 10
"""Fewest matches that determine a level plane where they do not determine a slope."""
SMALLEST_SPREAD = 0.02
"""Smallest determinant of the matches' covariance, as a share of that of all the segment's pixels,
that determines a slope; below it matches cover too little, or lie nearly on a line."""
MEDIAN_SAMPLE = 64
"""Number of matches per segment whose median starts the fit."""
NOISE_SAMPLED = 5
"""One match in so many is used to estimate the noise."""
NOISE_QUANTILE, NOISE_QUANTILE_OF_ONE = 0.8, 1.2816
"""A quantile of absolute residuals, and its value for a standard normal distribution."""
REACHES = (4.0, 2.0, 1.0, 1.0)
"""Largest residuals of the matches that each round fits, in units of the truncation K."""


def fit_local_planes(regions: Regions, observations: Observations, K: float) -> Floats:
    """Fit a plane to every segment's matches, or take a neighbour's where there are too few.

    The paper only says "local fitting". Here least squares over all matches, and over those near
    their median disparity, are each refined on their inliers, and the plane of the lower φ_seg is
    kept. Where matches do not determine a slope, the plane is level at their median. A segment with
    too few matches takes the extended plane of its farthest neighbour, because what cannot be
    matched is mostly hidden background.

    Returns
    -------
    planes
        (n, 3) planes about the segments' centres.
    """
    return fill_unknown(regions, *fit_own_matches(regions, observations, K))


def fit_own_matches(
    regions: Regions, observations: Observations, K: float
) -> tuple[Floats, Flags, Starts]:
    """Fit planes as `fit_local_planes` does, but do not fill in segments with too few matches.

    Returns
    -------
    planes, known, matched
        (n, 3) planes, (n,) whether matches determine them, and (n,) numbers of matches.
    """
    matches = observations.segments
    return *fit_sets(matches, regions.covariance, K), np.diff(matches.start)


def fit_sets(matches: Matches, covariance: Floats, K: float) -> tuple[Floats, Flags]:
    """Fit a plane to each of n sets of matches, about the centre of the set.

    Parameters
    ----------
    matches
        The sets.
    covariance
        (n, 3) covariance of the pixels that a plane is for; see `SMALLEST_SPREAD`.
    K
        Truncation of residuals, in pixels.

    Returns
    -------
    planes, known
        (n, 3) planes, and (n,) whether matches determine them.
    """
    arrays = matches.du, matches.dv, matches.disparity, matches.weight
    count = len(covariance)
    level = _medians(matches, count)
    uu, uv, vv = covariance.T
    spread = SMALLEST_SPREAD * (uu * vv - uv * uv) + 1e-9
    reaches = K * np.array(REACHES)

    def fit(first: int, last: int) -> tuple[Floats, Flags]:
        start, some = matches.start[first : last + 1], slice(first, last)
        found: tuple[Floats, Flags]
        found = fit_robustly(start, *arrays, level[some], spread[some], reaches)
        return found

    candidates, sloped = map(np.concatenate, zip(*share(count, fit), strict=True))
    costs = share_rows(count, lambda *some: disparity_rows(matches, candidates, K, *some))
    known = sloped | (np.diff(matches.start) >= ENOUGH_FOR_LEVEL)
    return candidates[np.arange(count), np.argmin(costs, axis=1)], known


def fill_unknown(regions: Regions, planes: Floats, known: Flags, matched: Starts) -> Floats:
    """Give segments whose matches determine no plane that of a neighbour."""
    # A neighbour is more reliable than a few matches, unless no segment has more.
    return fill_from_neighbours(regions, planes, known if known.any() else matched > 0)


def match_noise(observations: Observations, planes: Floats) -> float:
    """Return the standard deviation of the matches from fitted planes, in pixels.

    It is estimated from a quantile, which outliers and curved surfaces hardly change.
    """
    return noise_of_residuals(sampled_residuals(observations, planes))


def sampled_residuals(
    observations: Observations, planes: Floats, number: Starts | None = None
) -> Floats:
    """Return the absolute residual of one match in `NOISE_SAMPLED`.

    If the regions are a part of an image, `number` (n,) is the position of each segment's first
    match among those of the whole image, so that the sample is that of the whole image.
    """
    matches = observations.segments
    begin, size = matches.start[:-1], np.diff(matches.start)
    number = begin if number is None else number
    # Matches whose position is a multiple: how many each segment has, and where they are.
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
    """Return the standard deviation of normal noise with the same quantile of residuals."""
    if residuals.size == 0:
        return 0.0
    place = int(NOISE_QUANTILE * (residuals.size - 1))
    return float(np.partition(residuals, place)[place]) / NOISE_QUANTILE_OF_ONE


def fill_from_neighbours(regions: Regions, planes: Floats, known: Flags) -> Floats:
    """Give segments that are not `known` the extended plane of their farthest known neighbour.

    Rounds repeat until planes have spread into large holes; if nothing is known, nothing changes.
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
    """Return the median of `MEDIAN_SAMPLE` evenly spaced matches per segment; 0 without any."""
    size = np.diff(matches.start)[:, None]
    sample = matches.start[:-1, None] + np.arange(MEDIAN_SAMPLE) * size // MEDIAN_SAMPLE
    medians = np.zeros(count)
    filled = size[:, 0] > 0
    medians[filled] = np.sort(matches.disparity[sample[filled]], axis=1)[:, MEDIAN_SAMPLE // 2]
    return medians


def moments_near(matches: Matches, planes: Floats, reach: float) -> Floats:
    """Return the moments of each segment's matches within `reach` pixels of its plane."""
    arrays = matches.du, matches.dv, matches.disparity, matches.weight

    def rows(first: int, last: int) -> Floats:
        start = matches.start[first : last + 1]
        sums: Floats = inlier_moments(start, *arrays, planes[first:last], reach)
        return sums

    return share_rows(len(planes), rows)


def normal_equations(moments: Floats) -> tuple[Floats, Floats]:
    """Return the (n, 3, 3) matrices and (n, 3) right sides of least-squares planes."""
    uu, uv, vv, u, v, one, ud, vd, d = moments.T
    normal = np.stack([uu, uv, u, uv, vv, v, u, v, one], axis=1).reshape(-1, 3, 3)
    return normal, np.stack([ud, vd, d], axis=1)
