"""A disparity map of the user's own, from any other matcher."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from slanted.errors import InputError


def given_disparity(
    disparity: Any,
    size: tuple[int, int],
    *,
    valid: NDArray[np.bool_] | None = None,
    allow_negative: bool = False,
) -> NDArray[np.float32]:
    """Check a given disparity map and bring it to our convention.

    Parameters
    ----------
    disparity
        (H, W) pixels, positive for left-to-right; NaN or +inf where unknown.
    size
        Height and width of the left image.
    valid
        Optional (H, W) mask; where it is False (or 0) the disparity counts as unknown.
    allow_negative
        Whether disparities below zero are meant (a search range that starts below zero).

    Returns
    -------
    disparity
        float32 copy, NaN where unknown: the paper's D(p), finite on F.
    """
    array = np.asarray(disparity)
    if array.dtype.kind not in "fiu" or array.shape != size:
        raise InputError(
            f"disparity: expected numbers of shape {size}, as the left image, got shape "
            f"{array.shape} of type {array.dtype}"
        )
    result = array.astype(np.float32)
    result[np.isposinf(result)] = np.nan
    if valid is not None:
        mask = np.asarray(valid)
        if mask.shape != size:
            raise InputError(
                f"valid: expected a mask of shape {size}, as the left image, got {mask.shape}"
            )
        result[mask == 0] = np.nan
    known = np.isfinite(result)
    widest = float(np.abs(result[known]).max(initial=0))
    if widest > size[1]:
        raise InputError(
            f"disparity: expected pixels, at most the image's width of {size[1]}, got up to "
            f"{widest:g}; divide by the format's scale first (16 for OpenCV, 256 for KITTI)"
        )
    if np.isneginf(result).any() or (not allow_negative and (result[known] < 0).any()):
        raise InputError(
            "disparity: expected pixels ≥ 0 with NaN for unknown, got negative values; mark "
            "unknown pixels as NaN, or set matching.min_disparity below zero if they are meant"
        )
    if not known.any():
        raise InputError("disparity: expected at least one known pixel, got none")
    return result
