"""Numba kernels on planes and matches: moments of inliers, and planes drawn as a disparity map."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slanted.runtime.kernel import kernel

MOMENTS = 9
"""uu, uv, vv, u, v, 1, ud, vd, d: all that a least-squares plane needs to know."""
FEWEST_MATCHES = 3
"""That tell a plane."""


@kernel
def inlier_moments(
    start: NDArray[np.int64],
    du: NDArray[np.float64],
    dv: NDArray[np.float64],
    disparity: NDArray[np.float64],
    weight: NDArray[np.float64],
    planes: NDArray[np.float64],
    reach: float,
) -> NDArray[np.float64]:
    """Return (n, MOMENTS) weighted sums over each segment's matches within `reach` of its plane."""
    sums = np.empty((len(planes), MOMENTS))
    for i in range(len(planes)):
        own = slice(start[i], start[i + 1])
        _moments(du[own], dv[own], disparity[own], weight[own], planes[i], reach, sums[i])
    return sums


# Sums in any order: only so they become vector sums, in a third of the time.
@kernel(fastmath={"reassoc"})
def _moments(
    du: NDArray[np.float64],
    dv: NDArray[np.float64],
    disparity: NDArray[np.float64],
    weight: NDArray[np.float64],
    plane: NDArray[np.float64],
    reach: float,
    sums: NDArray[np.float64],
) -> None:
    """Write the sums over the matches within `reach` of one plane."""
    a, b, c = plane
    # Names of their own, because sums in an array would be written back for every match.
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
    start: NDArray[np.int64],
    du: NDArray[np.float64],
    dv: NDArray[np.float64],
    disparity: NDArray[np.float64],
    weight: NDArray[np.float64],
    level: NDArray[np.float64],
    spread: NDArray[np.float64],
    reaches: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Fit two planes to each segment's matches, each refined on its inliers.

    One starts level, one as the least squares over all matches; each then goes to the least squares
    over the matches within each of `reaches` in turn, and stays where these tell no slope.

    Parameters
    ----------
    start, du, dv, disparity, weight
        The fields of `Matches`.
    level
        (n,) disparity at which the first starts.
    spread
        (n,) least spread of matches that tells a slope, as `_least_squares` takes it.
    reaches
        Of the rounds, in pixels.

    Returns
    -------
    planes
        (n, 2, 3).
    told
        (n,) whether all matches together tell a slope.
    """
    count = len(level)
    planes, told = np.zeros((count, 2, 3)), np.empty(count, np.bool_)
    moments = np.empty(MOMENTS)
    for i in range(count):
        own = slice(start[i], start[i + 1])
        u, v, d, w = du[own], dv[own], disparity[own], weight[own]
        planes[i, :, 2] = level[i]
        _moments(u, v, d, w, planes[i, 1], np.inf, moments)
        told[i] = _least_squares(moments, spread[i], planes[i, 1])
        for candidate in planes[i]:
            for reach in reaches:
                _moments(u, v, d, w, candidate, reach, moments)
                _least_squares(moments, spread[i], candidate)
    return planes, told


@kernel
def _least_squares(moments: NDArray[np.float64], spread: float, plane: NDArray[np.float64]) -> bool:
    """Write the plane of least squares, if there are enough matches; return whether there are.

    Their covariance must have more than `spread` as its determinant.
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
