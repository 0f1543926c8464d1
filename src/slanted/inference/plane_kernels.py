"""Numba kernels on planes and matches: moments of inliers, and planes drawn as a disparity map."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slanted.kernel import kernel

MOMENTS = 9
"""uu, uv, vv, u, v, 1, ud, vd, d: all that a least-squares plane needs to know."""


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
        a, b, c = planes[i]
        # Names of their own, because sums in an array would be written back for every match.
        uu, uv, vv, su, sv, one, ud, vd, sd = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for k in range(start[i], start[i + 1]):
            u, v, d, w = du[k], dv[k], disparity[k], weight[k]
            if abs(a * u + b * v + c - d) <= reach:
                uu += w * u * u
                uv += w * u * v
                vv += w * v * v
                su += w * u
                sv += w * v
                one += w
                ud += w * u * d
                vd += w * v * d
                sd += w * d
        s = sums[i]
        s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8] = uu, uv, vv, su, sv, one, ud, vd, sd
    return sums


@kernel
def draw_planes(
    labels: NDArray[np.int32],
    centre: NDArray[np.float64],
    planes: NDArray[np.float64],
    disparity: NDArray[np.float32],
) -> None:
    """Write each pixel's disparity on the plane of its segment (paper, Eq. 1)."""
    height, width = labels.shape
    for y in range(height):
        for x in range(width):
            i = labels[y, x]
            disparity[y, x] = (
                planes[i, 0] * (x - centre[i, 0]) + planes[i, 1] * (y - centre[i, 1]) + planes[i, 2]
            )


@kernel
def find_hidden(disparity: NDArray[np.float32], hidden: NDArray[np.bool_]) -> None:
    """Mark the pixels of the left view that the right one does not show.

    A pixel is hidden if its place in the right view lies outside it, or if a pixel more than one
    disparity nearer falls on the same place, rounded.
    """
    height, width = disparity.shape
    nearest = np.empty(width, np.float32)
    for y in range(height):
        nearest[:] = -np.inf
        for x in range(width):
            place = int(np.rint(x - disparity[y, x]))
            if 0 <= place < width:
                nearest[place] = max(nearest[place], disparity[y, x])
        for x in range(width):
            place = int(np.rint(x - disparity[y, x]))
            outside = not 0 <= place < width
            hidden[y, x] = outside or nearest[place] > disparity[y, x] + 1
