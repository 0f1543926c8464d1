"""Features that tell whether a disparity is right: a match, or a pixel of a result.

Both are judged against a *surface*, which the planes of the segments make. The disparity of a
result is that surface; a match may be far from it. Features are differences, shares and ratios, not
positions, so that they mean the same for another camera, size or range.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from slanted.confidence.scene import SMALL_CAP, THIN, distances, support
from slanted.confidence.windows import (
    MINIMUM,
    blurred,
    coarse,
    coarse_side,
    extremes,
    fine,
    fit_windows,
    row_quantiles,
    span,
    wide_means,
)
from slanted.runtime.opencv import cv2
from slanted.runtime.threads import together

if TYPE_CHECKING:
    from slanted.confidence.scene import Scene, Seen
    from slanted.runtime.arrays import Bytes, DisparityMap, Float32s, Ints

SURROUNDINGS = (
    *("nearness", "residual", "residual_11", "matched_11", "matched_61", "window_61", "spread_61"),
    *("nearer_beside", "farther_beside", "nearer_above", "farther_above", "nearer_above_21"),
    *("nearer_beside_21", "nearer_left", "nearer_right", "row_far", "row_middle", "row_span"),
    *("step_11", "hidden_11", "in_view", "mismatch_5"),
    *("segment_matched", "segment_residual", "segment_mismatch", "segment_size", "segment_margin"),
    *("slope_x", "slope_y"),
    *("contrast_31", "gradient_x_11", "gradient_x_31", "gradient_y_31", "brightness"),
)
"""Features of matches and of pixels; numbers are sides of windows, or distances, in pixels."""
MATCH_FEATURES = (
    *SURROUNDINGS,
    *("distance", "offset_11", "deviation_11", "patch", "agrees_11", "agrees_31", "margin"),
)
"""Names of the features of the matcher's first choices, in order."""
PLAIN_FEATURES = (*SURROUNDINGS, "image_matched", "image_residual", "image_mismatch")
"""Names of the features of a result's disparity where no first choices are known, in order."""
PIXEL_FEATURES = (
    *PLAIN_FEATURES,
    *("doubt", "doubt_11", "doubt_31", "doubt_61", "segment_doubt"),
    *("away", "away_11", "away_61", "segment_away"),
    *("support_31", "support_61", "segment_support"),
    *("agrees_11", "agrees_31", "margin"),
)
"""Names of the features of a result's disparity beside first choices, in order: the plain ones come
first."""
CAP, WIDE_CAP = 20.0, 40.0
"""Largest differences, in pixels, that are told apart."""
SMALL, MIDDLE, LARGE = 5, 15, 30
"""Sides of windows of about 11, 31 and 61 pixels, in pixels of the thinned image."""
UNMATCHED = -1.0
"""The residual of a pixel without a match."""
IN_VIEW_CAP = 64.0
"""Columns from the left border of the right view, beyond which all are alike."""
ROW_QUANTILES = 0.1, 0.5, 0.9
"""What is far, in the middle and near in a row of the surface."""

Places = dict[str, "DisparityMap"]
"""Where to write each feature."""


def names_of(seen: Seen) -> tuple[str, ...]:
    """Return the names of the features of first choices, or of a result."""
    if seen.patch is not None:
        return MATCH_FEATURES
    return PLAIN_FEATURES if seen.doubt is None else PIXEL_FEATURES


def write_features(seen: Seen, scene: Scene, output: Float32s) -> None:
    """Write the (F, H, W) features of a thinned image."""
    places = dict(zip(names_of(seen), output, strict=True))
    known = np.isfinite(seen.matched)
    share, values = known.astype(np.float32), np.where(known, seen.matched, np.float32(0))
    scale = np.float32(1 / max(scene.near - scene.low, 1.0))
    np.multiply(seen.disparity - np.float32(scene.low), scale, out=places["nearness"])
    # The longest first, so that no thread begins with one while the others have nothing left.
    tasks = [] if seen.doubt is None else [partial(_beside_choices, seen, places)]
    tasks.append(partial(_sides, seen.disparity, seen.surface, places))
    if seen.patch is not None:
        tasks.append(partial(_choices, seen, share, values, places))
    else:
        for name, value in scene.image.items():
            places[name][:] = value
    tasks += [
        partial(_segments, seen.labels, scene, places),
        partial(_texture, seen.grey, scene.brightness, places),
        partial(_residuals, seen, share, values, places),
        partial(_windows, seen.disparity, share, values, places),
        partial(_borders, seen, places),
    ]
    together(*tasks)


def _residuals(seen: Seen, share: DisparityMap, values: DisparityMap, places: Places) -> None:
    """Compare the surface with the matches at the pixel and around it."""
    known = share > 0
    residual = np.where(known, np.abs(values - seen.surface), np.float32(0))
    places["residual"][:] = np.where(known, np.minimum(residual, CAP), np.float32(UNMATCHED))
    near_by = blurred(share, SMALL)
    places["matched_11"][:] = near_by
    places["matched_61"][:] = wide_means(share, LARGE)
    total = blurred(np.minimum(residual, SMALL_CAP), SMALL)
    places["residual_11"][:] = total / np.maximum(near_by, np.float32(0.01))


def _windows(
    disparity: DisparityMap, share: DisparityMap, values: DisparityMap, places: Places
) -> None:
    """Compare the disparity with a plane through the matches of a window."""
    value, deviation = fit_windows(coarse(values), coarse(share), LARGE)
    away = np.abs(disparity - fine(value, disparity.shape))
    np.minimum(away, CAP, out=places["window_61"])
    np.minimum(fine(deviation, disparity.shape), CAP, out=places["spread_61"])


def _sides(disparity: DisparityMap, surface: DisparityMap, places: Places) -> None:
    """Tell how much nearer or farther the surface gets to the sides, and along the row.

    A pixel that lies behind what is beside *and* above it is in a hole, such as a car's window.
    """
    grid = coarse(surface)
    near, far, close = extremes(grid, LARGE), extremes(-grid, LARGE), extremes(grid, 10)
    quantiles = row_quantiles(grid, ROW_QUANTILES)
    heights = {
        "nearer_beside": np.minimum(near.left, near.right),
        "farther_beside": -np.minimum(far.left, far.right),
        "nearer_above": np.minimum(near.above, near.below),
        "farther_above": -np.minimum(far.above, far.below),
        "nearer_beside_21": np.minimum(close.left, close.right),
        "nearer_above_21": np.minimum(close.above, close.below),
        "nearer_left": near.left,
        "nearer_right": near.right,
        "row_far": quantiles[0],
        "row_middle": quantiles[1],
    }
    for name, height in heights.items():
        away = fine(height, disparity.shape) - disparity
        np.clip(away, -WIDE_CAP, WIDE_CAP, out=places[name])
    places["row_span"][:] = fine(quantiles[2] - quantiles[0], disparity.shape)


def _borders(seen: Seen, places: Places) -> None:
    """Measure the closeness of depth edges, of hidden pixels and of the border of the view."""
    np.minimum(span(seen.surface, SMALL), WIDE_CAP, out=places["step_11"])
    places["hidden_11"][:] = blurred(seen.occluded.astype(np.float32), SMALL)
    column = THIN * np.arange(seen.disparity.shape[1], dtype=np.float32) - seen.disparity
    np.clip(column, -CAP, IN_VIEW_CAP, out=places["in_view"])
    places["mismatch_5"][:] = blurred(seen.mismatch, 3)


def _segments(labels: Ints, scene: Scene, places: Places) -> None:
    """Give each pixel what is known of its segment."""
    for name, values in scene.segments.items():
        np.take(values, labels, out=places[name])


def _texture(grey: Bytes, typical: float, places: Places) -> None:
    """Measure texture, and brightness in multiples of the typical one."""
    for name, step in (("gradient_x", (1, 0)), ("gradient_y", (0, 1))):
        gradient = cv2.convertScaleAbs(cv2.Sobel(grey, cv2.CV_16S, *step, ksize=1))
        slopes = gradient.astype(np.float32)
        places[f"{name}_31"][:] = wide_means(slopes, MIDDLE)
        if name == "gradient_x":
            places["gradient_x_11"][:] = blurred(slopes, SMALL)
    values = grey.astype(np.float32)
    side = coarse_side(MIDDLE)
    mean, square = blurred(coarse(values), side), blurred(coarse(values * values), side)
    deviation = np.sqrt(np.maximum(square - mean * mean, 0))
    places["contrast_31"][:] = fine(deviation, grey.shape)
    np.divide(values, np.float32(typical), out=places["brightness"])


def _choices(seen: Seen, share: DisparityMap, values: DisparityMap, places: Places) -> None:
    """Compare first choices with the surface, with matches and with each other."""
    choice = seen.disparity
    np.minimum(np.abs(choice - seen.surface), CAP, out=places["distance"])
    near_by = blurred(share, SMALL)  # again, since `matched_11` may not be written yet
    mean = blurred(values, SMALL) / np.maximum(near_by, np.float32(MINIMUM))
    offset = np.where(near_by > MINIMUM, choice - mean, np.float32(0))
    np.clip(offset, -CAP, CAP, out=places["offset_11"])
    # Differences from the surface are small numbers, whose squares lose nothing to rounding.
    away = np.clip(choice - seen.surface, -WIDE_CAP, WIDE_CAP)
    middle, square = blurred(away, SMALL), blurred(away * away, SMALL)
    deviation = np.sqrt(np.maximum(square - middle * middle, 0))
    np.minimum(deviation, CAP, out=places["deviation_11"])
    assert seen.patch is not None
    places["patch"][:] = seen.patch
    _matcher(seen, places)


def _beside_choices(seen: Seen, places: Places) -> None:
    """Compare a result with the first choices around, and tell how doubtful these are."""
    assert seen.choice is not None
    assert seen.doubt is not None
    away = distances(seen.choice, seen.disparity)
    np.minimum(away, CAP, out=places["away"])
    capped = np.minimum(away, np.float32(SMALL_CAP))
    places["away_11"][:] = blurred(capped, SMALL)
    places["away_61"][:] = wide_means(capped, LARGE)
    places["doubt"][:] = seen.doubt
    places["doubt_11"][:] = blurred(seen.doubt, SMALL)
    speaks = support(away, seen.doubt)
    for name, side in (("31", MIDDLE), ("61", LARGE)):
        places[f"doubt_{name}"][:] = wide_means(seen.doubt, side)
        places[f"support_{name}"][:] = wide_means(speaks, side)
    _matcher(seen, places)


def _matcher(seen: Seen, places: Places) -> None:
    """Tell what the matcher itself thinks of its first choices."""
    assert seen.agrees is not None
    assert seen.margin is not None
    agrees = seen.agrees.astype(np.float32)
    places["agrees_11"][:] = blurred(agrees, SMALL)
    places["agrees_31"][:] = wide_means(agrees, MIDDLE)
    places["margin"][:] = seen.margin
