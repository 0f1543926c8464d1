"""Features of a result's disparity: what tells whether it is right at a pixel.

Like those of matches, they are differences, shares and ratios. They need no matcher: the matches
may be the user's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import cv2
import numpy as np

from slanted.confidence.match_features import (
    CAP,
    NEAR,
    WIDE_CAP,
    Places,
    in_windows,
    sides,
    texture,
    typical_brightness,
    warped,
)
from slanted.confidence.windows import blurred, span, wide_means
from slanted.runtime.threads import together

if TYPE_CHECKING:
    from slanted.images import GreyPair
    from slanted.regions.structure import Regions
    from slanted.runtime.arrays import Bytes, DisparityMap, Flags, Float32s, Floats, Ints

PIXEL_FEATURES = (
    *("nearness", "residual", "residual_11", "matched_11", "matched_61", "window_61", "spread_61"),
    *("nearer_beside", "farther_beside", "nearer_above", "farther_above", "nearer_above_21"),
    *(
        "nearer_beside_21",
        "nearer_left",
        "nearer_right",
        "step_11",
        "hidden_11",
        "in_view",
        "mismatch_5",
    ),
    *("segment_matched", "segment_residual", "segment_mismatch", "segment_size", "segment_margin"),
    *("slope_x", "slope_y"),
    *("contrast_31", "gradient_x_11", "gradient_x_31", "gradient_y_31", "brightness"),
    *("image_matched", "image_residual", "image_mismatch"),
)
"""Names of the features, in order; numbers are sides of windows, or distances, in pixels."""
THIN = 2
"""Features are computed at every second pixel of every second row, which takes a quarter of the
time; confidences interpolated from these are as good (AUC 0.944 on KITTI's validation both)."""
SMALL, LARGE = 5, 31
"""Sides of windows of about 11 and 61 pixels, in pixels of the thinned image."""
SMALL_CAP = 5.0
"""Largest residual, in pixels, that counts in means."""
UNMATCHED = -1.0
"""The residual of a pixel without a match."""
MARGIN_CAP = 20.0
"""The logarithm of a margin that was never tested."""
IN_VIEW_CAP = 64.0
"""Columns from the left border of the right view, beyond which all are alike."""


@dataclass(frozen=True, eq=False)
class PixelInputs:
    """What the features of pixels are computed from."""

    disparity: DisparityMap
    """(H, W) of the result."""
    matched: DisparityMap
    """(H, W) the matches that it was made from, NaN where there are none."""
    occluded: Flags
    """(H, W) what the right view does not show."""
    mismatch: DisparityMap
    """(H, W) differences of the grey values of both views, from `mismatch`."""
    grey: Bytes
    """(H, W) the left view."""
    labels: Ints
    """(H, W) the segment of each pixel."""

    def thinned(self, rows: slice) -> PixelInputs:
        """Return every `THIN`-th pixel of every `THIN`-th of these rows of the image."""
        step = slice(rows.start, rows.stop, THIN), slice(None, None, THIN)
        maps = {name: np.ascontiguousarray(values[step]) for name, values in vars(self).items()}
        return PixelInputs(**maps)


@dataclass(frozen=True, eq=False)
class Scene:
    """What the features need to know of the whole image."""

    segments: dict[str, Float32s]
    """(n,) features of the segments."""
    low: float
    """The smallest possible disparity."""
    near: float
    """The disparity of near surfaces."""
    brightness: float
    """The median grey value of the left view."""
    image: dict[str, float]
    """Features that all pixels share, by which a pair that does not fit at all is known."""


def pixel_features(seen: PixelInputs, scene: Scene, output: Float32s) -> None:
    """Write the (F, H, W) features of a thinned image."""
    places = dict(zip(PIXEL_FEATURES, output, strict=True))
    known = np.isfinite(seen.matched)
    share, values = known.astype(np.float32), np.where(known, seen.matched, np.float32(0))
    scale = np.float32(1 / max(scene.near - scene.low, 1.0))
    np.multiply(seen.disparity - np.float32(scene.low), scale, out=places["nearness"])
    for name, value in scene.image.items():
        places[name][:] = value
    together(
        partial(_residuals, seen.disparity, known, values, places),
        partial(in_windows, seen.disparity, share, values, places, THIN),
        partial(sides, seen.disparity, seen.disparity, places, THIN),
        partial(_borders, seen, places),
        partial(_segments, seen.labels, scene, places),
        partial(texture, seen.grey, scene.brightness, places, THIN),
    )


def describe_scene(
    seen: PixelInputs, regions: Regions, planes: Floats, margins: Floats, low: float
) -> Scene:
    """Return what `pixel_features` needs to know of the whole image.

    Parameters
    ----------
    seen
        The whole image.
    regions, planes, margins
        Segments, their planes (n, 3) and what other planes would cost, (n,).
    low
        The smallest possible disparity.
    """
    whole = seen.thinned(slice(None))
    labels, known = whole.labels.reshape(-1), np.isfinite(whole.matched)
    size = np.maximum(np.bincount(labels, minlength=regions.count), 1)
    residual = np.where(known, np.abs(whole.matched - whole.disparity), 0)

    def total(values: Float32s | Flags) -> Floats:
        return np.asarray(np.bincount(labels, values.reshape(-1), len(size)), np.float64)

    matched, relative = total(known), regions.size / regions.size.mean()
    segments = {
        "segment_matched": matched / size,
        "segment_residual": total(np.minimum(residual, SMALL_CAP)) / np.maximum(matched, 1),
        "segment_mismatch": total(whole.mismatch) / size,
        "segment_size": np.log(relative),
        "segment_margin": np.minimum(np.log1p(margins / relative), MARGIN_CAP),
        "slope_x": np.abs(planes[:, 0]),
        "slope_y": np.abs(planes[:, 1]),
    }
    near = float(np.quantile(whole.disparity, NEAR, method="nearest"))
    features = {name: v.astype(np.float32) for name, v in segments.items()}
    image = {
        "image_matched": float(known.mean()),
        "image_residual": float(np.minimum(residual, SMALL_CAP).sum() / max(known.sum(), 1)),
        "image_mismatch": float(whole.mismatch.mean()),
    }
    return Scene(features, low, near, typical_brightness(seen.grey), image)


def mismatch(grey: GreyPair, disparity: DisparityMap) -> DisparityMap:
    """Return the differences of the grey values of both views, (H, W)."""
    left, right = grey
    return np.asarray(cv2.absdiff(left, warped(right, disparity)), np.float32)


def _residuals(disparity: DisparityMap, known: Flags, values: DisparityMap, places: Places) -> None:
    """Compare the disparity with the matches at the pixel and around it."""
    residual = np.where(known, np.abs(values - disparity), np.float32(0))
    places["residual"][:] = np.where(known, np.minimum(residual, CAP), np.float32(UNMATCHED))
    share = known.astype(np.float32)
    near_by = blurred(share, SMALL)
    places["matched_11"][:] = near_by
    places["matched_61"][:] = wide_means(share, LARGE)
    total = blurred(np.minimum(residual, SMALL_CAP), SMALL)
    places["residual_11"][:] = total / np.maximum(near_by, np.float32(0.01))


def _borders(seen: PixelInputs, places: Places) -> None:
    """Measure the closeness of depth edges, of hidden pixels and of the border of the view."""
    np.minimum(span(seen.disparity, SMALL), WIDE_CAP, out=places["step_11"])
    places["hidden_11"][:] = blurred(seen.occluded.astype(np.float32), SMALL)
    column = THIN * np.arange(seen.disparity.shape[1], dtype=np.float32) - seen.disparity
    np.clip(column, -CAP, IN_VIEW_CAP, out=places["in_view"])
    places["mismatch_5"][:] = blurred(seen.mismatch, 3)


def _segments(labels: Ints, scene: Scene, places: Places) -> None:
    """Give each pixel what is known of its segment."""
    for name, values in scene.segments.items():
        np.take(values, labels, out=places[name])
