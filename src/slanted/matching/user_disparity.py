"""The user's own initial disparity, from any other matcher."""

from __future__ import annotations

from typing import Any

import numpy as np

from slanted.errors import InputError
from slanted.runtime.arrays import DisparityMap, Flags, refuse_masked


def disparity_from_user(
    disparity: Any,
    size: tuple[int, int],
    *,
    valid: Flags | None = None,
    allow_negative: bool = False,
) -> DisparityMap:
    """Check a user's disparity map and mark unknown pixels by NaN.

    Parameters
    ----------
    disparity
        (H, W) pixels, positive for left-to-right; NaN or +inf where unknown.
    size
        Height and width of the left image.
    valid
        Optional (H, W) mask; where it is False (or 0) the disparity counts as unknown.
    allow_negative
        Whether disparities below zero are allowed, as in a range that starts below zero.

    Returns
    -------
    disparity
        (H, W) float32 copy, NaN where unknown: the paper's D(p), finite on F.
    """
    refuse_masked("disparity", disparity)
    array = np.asarray(disparity)
    if array.dtype.kind not in "fiu" or array.shape != size:
        raise InputError(
            f"disparity: expected numbers of shape {size}, as the left image, got shape "
            f"{array.shape} of type {array.dtype}"
        )
    result = array.astype(np.float32)
    result[np.isposinf(result)] = np.nan
    if valid is not None:
        refuse_masked("valid", valid)
        mask = np.asarray(valid)
        if mask.shape != size:
            raise InputError(
                f"valid: expected a mask of shape {size}, as the left image, got {mask.shape}"
            )
        result[mask == 0] = np.nan
    _check_values(result, size[1], allow_negative=allow_negative)
    return result


def _check_values(disparity: DisparityMap, width: int, *, allow_negative: bool) -> None:
    known = np.isfinite(disparity)
    widest = float(np.abs(disparity[known]).max(initial=0))
    if widest > width:
        raise InputError(
            f"disparity: expected pixels, at most the image's width of {width}, got up to "
            f"{widest:g}; divide by the format's scale first (16 for OpenCV, 256 for KITTI)"
        )
    if np.isneginf(disparity).any() or (not allow_negative and (disparity[known] < 0).any()):
        raise InputError(
            "disparity: expected pixels ≥ 0 with NaN for unknown, got negative values; mark "
            "unknown pixels as NaN, or set matching.min_disparity below zero if they are meant"
        )
    if not known.any():
        raise InputError("disparity: expected at least one known pixel, got none")
