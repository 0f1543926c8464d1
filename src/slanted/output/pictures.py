"""Pictures of disparities and of their errors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from slanted.errors import InputError

UNKNOWN_COLOUR = (0, 0, 0)

ERROR_STEPS = np.array([0.1875, 0.375, 0.75, 1.5, 3.0, 6.0, 12.0, 24.0, 48.0], np.float32)
"""Pixels at which the error picture changes colour: KITTI 2015's scale, doubling each time."""
ERROR_COLOURS = np.array(
    [
        (49, 54, 149),
        (69, 117, 180),
        (116, 173, 209),
        (171, 217, 233),
        (224, 243, 248),
        (254, 224, 144),
        (253, 174, 97),
        (244, 109, 67),
        (215, 48, 39),
        (165, 0, 38),
    ],
    np.uint8,
)
"""ColorBrewer's RdYlBu: blue below 3 px, warm above, safe for colour-blind readers."""


def colour_disparity(
    disparity: NDArray[np.float32], low: float | None = None, high: float | None = None
) -> NDArray[np.uint8]:
    """Paint a disparity map: dark violet is far, yellow near, black unknown.

    Parameters
    ----------
    disparity
        Pixels, NaN for unknown.
    low, high
        Ends of the scale; by default the map's own 1 % and 99 % quantiles, so that a few outliers
        do not wash out the rest.
    """
    import cv2

    known = np.isfinite(disparity)
    if low is None or high is None:
        quantiles = np.quantile(disparity[known], [0.01, 0.99]) if known.any() else (0.0, 1.0)
        low = float(quantiles[0]) if low is None else low
        high = float(quantiles[1]) if high is None else high
    span = max(high - low, 1e-6)
    level = np.clip((np.where(known, disparity, low) - low) / span, 0, 1) * 255
    picture = cv2.applyColorMap(np.rint(level).astype(np.uint8), cv2.COLORMAP_VIRIDIS)
    painted: NDArray[np.uint8] = cv2.cvtColor(picture, cv2.COLOR_BGR2RGB)
    painted[~known] = UNKNOWN_COLOUR
    return painted


def colour_error(
    disparity: NDArray[np.float32], ground_truth: NDArray[np.float32]
) -> NDArray[np.uint8]:
    """Paint the absolute error on KITTI 2015's logarithmic scale, black without ground truth.

    A pixel with ground truth but no estimate has the colour of the largest error.
    """
    if disparity.shape != ground_truth.shape:
        raise InputError(
            f"ground_truth: expected the shape of the disparity, {disparity.shape}, got "
            f"{ground_truth.shape}"
        )
    error = np.abs(disparity - ground_truth)
    known = np.isfinite(ground_truth)
    error[known & ~np.isfinite(disparity)] = np.inf
    steps = np.searchsorted(ERROR_STEPS, np.where(known, error, 0), side="left")
    painted = ERROR_COLOURS[steps]
    painted[~known] = UNKNOWN_COLOUR
    return painted


def mosaic(pictures: Sequence[NDArray[np.uint8]], columns: int = 2) -> NDArray[np.uint8]:
    """Lay pictures of equal size out in rows, filled up with black."""
    blank = np.zeros_like(pictures[0])
    filled = [*pictures, *[blank] * (-len(pictures) % columns)]
    rows = [np.hstack(filled[k : k + columns]) for k in range(0, len(filled), columns)]
    return np.vstack(rows)
