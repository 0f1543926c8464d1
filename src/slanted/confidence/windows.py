"""Statistics of maps over windows, the large ones on a coarse grid.

A window of 60 pixels hardly changes from one pixel to the next, so it is evaluated at every
`STEP`-th pixel of every `STEP`-th row and interpolated: that takes a tenth of the time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from slanted.runtime.arrays import DisparityMap, Floats
from slanted.runtime.opencv import cv2

STEP = 4
"""Pixels of the image, in each direction, to one of the coarse grid."""


def blurred(values: DisparityMap, side: int) -> DisparityMap:
    """Return the means over square windows."""
    means: DisparityMap = cv2.blur(values, (side, side), borderType=cv2.BORDER_REFLECT)
    return means


def coarse(values: DisparityMap) -> DisparityMap:
    """Return the means over `STEP`×`STEP` pixels."""
    height, width = values.shape
    size = -(-width // STEP), -(-height // STEP)
    means: DisparityMap = cv2.resize(values, size, interpolation=cv2.INTER_AREA)
    return means


def fine(values: DisparityMap, shape: tuple[int, ...]) -> DisparityMap:
    """Interpolate the values of a coarse grid to an image of this shape."""
    interpolated: DisparityMap = cv2.resize(values, shape[::-1], interpolation=cv2.INTER_LINEAR)
    return interpolated


def span(values: DisparityMap, side: int) -> DisparityMap:
    """Return the difference of the largest and the smallest value of square windows."""
    window = np.ones((side, side), np.uint8)
    difference: DisparityMap = cv2.dilate(values, window) - cv2.erode(values, window)
    return difference


def wide_means(values: DisparityMap, side: int) -> DisparityMap:
    """Return the means over windows of about `side` pixels."""
    return fine(blurred(coarse(values), coarse_side(side)), values.shape)


@dataclass(frozen=True, eq=False)
class Extremes:
    """The largest (or smallest) value to each side of every pixel of a coarse grid."""

    left: DisparityMap
    right: DisparityMap
    above: DisparityMap
    below: DisparityMap


def extremes(values: DisparityMap, reach: int) -> Extremes:
    """Return the largest values within `reach` pixels of the image to each side."""
    count, lowest = max(reach // STEP, 1), float(values.min())

    def largest(size: tuple[int, int], anchor: tuple[int, int]) -> DisparityMap:
        found: DisparityMap = cv2.dilate(
            values,
            np.ones(size, np.uint8),
            anchor=anchor,
            borderType=cv2.BORDER_CONSTANT,
            borderValue=lowest,
        )
        return found

    last = count - 1
    return Extremes(
        left=largest((1, count), (last, 0)),
        right=largest((1, count), (0, 0)),
        above=largest((count, 1), (0, last)),
        below=largest((count, 1), (0, 0)),
    )


def row_quantiles(values: DisparityMap, shares: tuple[float, ...]) -> list[DisparityMap]:
    """Return quantiles of the rows of a coarse grid, each averaged with the rows next to it."""
    found = np.quantile(values, shares, axis=1, method="nearest").astype(np.float32)
    smooth = cv2.blur(found, (3, 1), borderType=cv2.BORDER_REFLECT)
    return [np.repeat(row[:, None], values.shape[1], axis=1) for row in smooth]


def fit_windows(
    values: DisparityMap, weight: DisparityMap, side: int
) -> tuple[DisparityMap, DisparityMap]:
    """Fit a plane to the values of each window.

    Parameters
    ----------
    values
        (H, W) disparities on a coarse grid, times `weight`.
    weight
        (H, W) the share of pixels that have one.
    side
        Of the windows, in pixels of the image.

    Returns
    -------
    value, deviation
        (H, W) the value of the plane in the middle of its window and the deviation of the values
        from their mean; 0 in windows without any.
    """
    height, width = values.shape
    # Coordinates are small numbers, since sums of their squares are subtracted from each other.
    u = np.arange(width, dtype=np.float64)[None] - width / 2
    v = np.arange(height, dtype=np.float64)[:, None] - height / 2
    w, z = weight.astype(np.float64), values.astype(np.float64)
    size = (coarse_side(side),) * 2

    def mean(map_: Floats) -> Floats:
        means: Floats = cv2.blur(map_, size, borderType=cv2.BORDER_CONSTANT)
        return means

    total = np.maximum(mean(w), 1e-9)
    mu, mv, mz = mean(w * u) / total, mean(w * v) / total, mean(z) / total
    # One pixel more variance keeps a window of one column from having any slope.
    uu, vv = mean(w * u * u) / total - mu**2 + 1, mean(w * v * v) / total - mv**2 + 1
    uv, uz, vz = (
        mean(w * u * v) / total - mu * mv,
        mean(z * u) / total - mu * mz,
        mean(z * v) / total - mv * mz,
    )
    determinant = uu * vv - uv * uv
    a, b = (vv * uz - uv * vz) / determinant, (uu * vz - uv * uz) / determinant
    spread = mean(np.divide(z * z, w, out=np.zeros_like(z), where=w > 0)) / total - mz**2
    residual = np.sqrt(np.maximum(spread - a * uz - b * vz, 0))
    value = mz + a * (u - mu) + b * (v - mv)
    known = total > MINIMUM
    return (
        np.where(known, value, 0).astype(np.float32),
        np.where(known, residual, 0).astype(np.float32),
    )


MINIMUM = 2e-3
"""The least share of known pixels in a window."""


def coarse_side(side: int) -> int:
    """Return an odd number of coarse pixels."""
    return 2 * (side // (2 * STEP)) + 1
