"""Features of a match: what tells whether the matcher's first choice at a pixel is right.

They are differences, shares and ratios, not positions, so that they mean the same for another
camera, size or range. They compare a match with its *surroundings*: the matches that pass the
matcher's filters, with gaps filled from the farther side.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import cv2
import numpy as np

from slanted.confidence.windows import (
    MINIMUM,
    blurred,
    coarse,
    coarse_side,
    extremes,
    fine,
    fit_windows,
    span,
    wide_means,
)
from slanted.matching.interpolation import interpolate_background
from slanted.runtime.threads import together

if TYPE_CHECKING:
    from slanted.images import GreyPair
    from slanted.runtime.arrays import Bytes, DisparityMap, Flags, Float32s

MATCH_FEATURES = (
    *("nearness", "distance", "equal_11", "equal_31", "kept_11", "kept_61", "window_61"),
    *("spread_61", "nearer_beside", "farther_beside", "nearer_above", "farther_above"),
    *("nearer_above_21", "nearer_left", "nearer_right", "agrees_11", "agrees_31", "margin"),
    *("nearer_beside_21", "offset_11", "step_5", "mismatch_5", "contrast_31"),
    *("gradient_x_11", "gradient_x_31", "gradient_y_31", "brightness"),
)
"""Names of the features, in order; numbers are sides of windows, or distances, in pixels."""
CAP, WIDE_CAP = 20.0, 40.0
"""Largest differences, in pixels, that are told apart."""
EQUAL = 1.5
"""Two disparities that differ by less than this, in pixels, are of one surface."""
NEAR = 0.95
"""The disparity of near surfaces is this quantile of the matches."""

Places = dict[str, "DisparityMap"]
"""Where to write each feature."""


@dataclass(frozen=True, eq=False)
class MatchInputs:
    """What the features of matches are computed from."""

    winner: DisparityMap
    """(H, W) the matcher's first choices, smoothed by a median filter."""
    agrees: Flags
    """(H, W) whether they pass the left-right check."""
    margin: DisparityMap
    """(H, W) the matcher's own confidence in them."""
    kept: DisparityMap
    """(H, W) the matches that pass the filters, NaN elsewhere; at least one."""
    grey: GreyPair
    """Both views."""
    low: float
    """The smallest disparity that was searched."""


def match_features(seen: MatchInputs, output: Float32s) -> None:
    """Write the (F, H, W) features of all matches."""
    places = dict(zip(MATCH_FEATURES, output, strict=True))
    known = np.isfinite(seen.kept)
    share, values = known.astype(np.float32), np.where(known, seen.kept, np.float32(0))
    near = float(np.quantile(seen.kept[known][::9], NEAR, method="nearest"))
    scale = np.float32(1 / max(near - seen.low, 1.0))

    def near_by() -> None:
        np.multiply(seen.winner - np.float32(seen.low), scale, out=places["nearness"])
        filled = cv2.medianBlur(interpolate_background(seen.kept), 5)
        _near_by(seen.winner, filled, share, values, places)
        sides(seen.winner, filled, places)

    together(
        near_by,
        partial(texture, seen.grey[0], typical_brightness(seen.grey[0]), places),
        partial(_mismatch, seen, places),
        partial(in_windows, seen.winner, share, values, places),
        partial(_agreement, seen, places),
    )


def _near_by(
    winner: DisparityMap,
    filled: DisparityMap,
    share: DisparityMap,
    values: DisparityMap,
    places: Places,
) -> None:
    """Compare the match with the surroundings at the pixel and around it."""
    difference = np.abs(winner - filled)
    np.minimum(difference, CAP, out=places["distance"])
    equal = (difference < EQUAL).astype(np.float32)
    places["equal_11"][:] = blurred(equal, 11)
    places["equal_31"][:] = wide_means(equal, 31)
    near_by = blurred(share, 11)
    places["kept_11"][:] = near_by
    mean = blurred(values, 11) / np.maximum(near_by, np.float32(MINIMUM))
    offset = np.where(near_by > MINIMUM, winner - mean, np.float32(0))
    np.clip(offset, -CAP, CAP, out=places["offset_11"])
    np.minimum(span(filled, 5), WIDE_CAP, out=places["step_5"])
    places["kept_61"][:] = wide_means(share, 61)


def in_windows(
    disparity: DisparityMap,
    share: DisparityMap,
    values: DisparityMap,
    places: Places,
    pixel: int = 1,
) -> None:
    """Compare the disparity with a plane through the matches of a window; `pixel` as below."""
    value, deviation = fit_windows(coarse(values), coarse(share), 61 // pixel)
    away = np.abs(disparity - fine(value, disparity.shape))
    np.minimum(away, CAP, out=places["window_61"])
    np.minimum(fine(deviation, disparity.shape), CAP, out=places["spread_61"])


def sides(
    disparity: DisparityMap, surroundings: DisparityMap, places: Places, pixel: int = 1
) -> None:
    """Tell how much nearer or farther the surroundings get on one side, or on both sides.

    A pixel that lies behind what is beside *and* above it is in a hole, such as a car's window. Of
    thinned maps, `pixel` says how many pixels of the image one of theirs is.
    """
    grid = coarse(surroundings)
    near, far = extremes(grid, 61 // pixel), extremes(-grid, 61 // pixel)
    close = extremes(grid, 21 // pixel)
    heights = {
        "nearer_beside": np.minimum(near.left, near.right),
        "farther_beside": -np.minimum(far.left, far.right),
        "nearer_above": np.minimum(near.above, near.below),
        "farther_above": -np.minimum(far.above, far.below),
        "nearer_beside_21": np.minimum(close.left, close.right),
        "nearer_above_21": np.minimum(close.above, close.below),
        "nearer_left": near.left,
        "nearer_right": near.right,
    }
    for name, height in heights.items():
        away = fine(height, disparity.shape) - disparity
        np.clip(away, -WIDE_CAP, WIDE_CAP, out=places[name])


def _agreement(seen: MatchInputs, places: Places) -> None:
    """Measure how many matches around the pixel the right view confirms."""
    agrees = seen.agrees.astype(np.float32)
    places["agrees_11"][:] = blurred(agrees, 11)
    places["agrees_31"][:] = wide_means(agrees, 31)
    places["margin"][:] = seen.margin


def _mismatch(seen: MatchInputs, places: Places) -> None:
    """Compare the grey values of both views."""
    left, right = seen.grey
    moved = warped(right, seen.winner)
    places["mismatch_5"][:] = blurred(cv2.absdiff(left, moved).astype(np.float32), 5)


def warped(right: Bytes, disparity: DisparityMap) -> Bytes:
    """Return what the right view shows of each pixel of the left one."""
    height, width = disparity.shape
    x = np.arange(width, dtype=np.float32) - disparity
    y = np.repeat(np.arange(height, dtype=np.float32)[:, None], width, axis=1)
    moved: Bytes = cv2.remap(right, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return moved


def typical_brightness(grey: Bytes) -> float:
    """Return the median grey value of an image, at least 1."""
    return max(float(np.median(coarse(grey.astype(np.float32)))), 1.0)


def texture(grey: Bytes, typical: float, places: Places, pixel: int = 1) -> None:
    """Measure texture, and brightness in multiples of the typical one; `pixel` as for `sides`."""
    large, small = 31 // pixel, 2 * (11 // (2 * pixel)) + 1
    for name, step in (("gradient_x", (1, 0)), ("gradient_y", (0, 1))):
        gradient = cv2.convertScaleAbs(cv2.Sobel(grey, cv2.CV_16S, *step, ksize=1))
        slopes = gradient.astype(np.float32)
        places[f"{name}_31"][:] = wide_means(slopes, large)
        if name == "gradient_x":
            places["gradient_x_11"][:] = blurred(slopes, small)
    values = grey.astype(np.float32)
    side = coarse_side(large)
    mean, square = blurred(coarse(values), side), blurred(coarse(values * values), side)
    deviation = np.sqrt(np.maximum(square - mean * mean, 0))
    places["contrast_31"][:] = fine(deviation, grey.shape)
    np.divide(values, np.float32(typical), out=places["brightness"])
