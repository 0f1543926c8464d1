"""Numba kernels that fit planes to matches by the moments of inliers."""

from __future__ import annotations

import numpy as np

from slanted.runtime.arrays import Flags, Floats, Starts
from slanted.runtime.kernel import kernel

MOMENTS = 9
"""The sums uu, uv, vv, u, v, 1, ud, vd, d, from which a least-squares plane follows."""
FEWEST_MATCHES = 3
"""Fewest matches that determine a plane."""


@kernel
def inlier_moments(
    start: Starts, du: Floats, dv: Floats, disparity: Floats, weight: Floats, planes: Floats,
    reach: float,
) -> Floats:  # fmt: skip
    """Return (n, MOMENTS) weighted sums over each segment's matches within `reach` of its plane."""
    sums = np.empty((len(planes), MOMENTS))
    for i in range(len(planes)):
        some = slice(start[i], start[i + 1])
        _moments(du[some], dv[some], disparity[some], weight[some], planes[i], reach, sums[i])
    return sums


# Summing in any order allows vector instructions, which take a third of the time.
@kernel(fastmath={"reassoc"})
def _moments(
    du: Floats, dv: Floats, disparity: Floats, weight: Floats, plane: Floats, reach: float,
    sums: Floats,
) -> None:  # fmt: skip
    """Write the sums over the matches within `reach` of one plane."""
    a, b, c = plane
    # Scalars, because sums in an array would be written to memory for every match.
    uu, uv, vv, su, sv, one, ud, vd, sd = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(len(du)):
        u, v, d = du[k], dv[k], disparity[k]
        w = weight[k] if abs(a * u + b * v + c - d) <= reach else 0.0
        uu += w * u * u
        uv += w * u * v
        vv += w * v * v
        su += w * u
        sv += w * v
        one += w
        ud += w * u * d
        vd += w * v * d
        sd += w * d
    sums[0], sums[1], sums[2], sums[3], sums[4] = uu, uv, vv, su, sv
    sums[5], sums[6], sums[7], sums[8] = one, ud, vd, sd


@kernel
def fit_robustly(
    start: Starts,
    du: Floats,
    dv: Floats,
    disparity: Floats,
    weight: Floats,
    level: Floats,
    spread: Floats,
    reaches: Floats,
) -> tuple[Floats, Flags]:
    """Fit two planes to each segment's matches, each refined on its inliers.

    One starts level, the other at the least squares over all matches. Each is then fitted to the
    matches within each of `reaches` in turn, and does not change where these determine no slope.

    Parameters
    ----------
    start, du, dv, disparity, weight
        The fields of `Matches`.
    level
        (n,) disparity at which the first plane starts.
    spread
        (n,) least determinant of the matches' covariance that determines a slope.
    reaches
        Largest residual of an inlier in each round, in pixels.

    Returns
    -------
    planes
        (n, 2, 3) both planes.
    sloped
        (n,) whether all matches together determine a slope.
    """
    count = len(level)
    planes, sloped = np.zeros((count, 2, 3)), np.empty(count, np.bool_)
    moments = np.empty(MOMENTS)
    for i in range(count):
        some = slice(start[i], start[i + 1])
        u, v, d, w = du[some], dv[some], disparity[some], weight[some]
        planes[i, :, 2] = level[i]
        _moments(u, v, d, w, planes[i, 1], np.inf, moments)
        sloped[i] = _least_squares(moments, spread[i], planes[i, 1])
        for choice in range(2):
            candidate = planes[i, choice]
            for reach in reaches:
                _moments(u, v, d, w, candidate, reach, moments)
                _least_squares(moments, spread[i], candidate)
    return planes, sloped


@kernel
def _least_squares(moments: Floats, spread: float, plane: Floats) -> bool:
    """Write the least-squares plane, and return True, if there are enough matches.

    The determinant of their covariance must exceed `spread`.
    """
    uu, uv, vv, u, v, one, ud, vd, d = moments
    if one < FEWEST_MATCHES:
        return False
    u, v, d = u / one, v / one, d / one
    uu, uv, vv = uu / one - u * u, uv / one - u * v, vv / one - v * v
    ud, vd = ud / one - u * d, vd / one - v * d
    determinant = uu * vv - uv * uv
    if not determinant > spread:
        return False
    plane[0] = (vv * ud - uv * vd) / determinant
    plane[1] = (uu * vd - uv * ud) / determinant
    plane[2] = d - plane[0] * u - plane[1] * v
    return True
