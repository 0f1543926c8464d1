"""The small vertical warp that is left between the views of a badly rectified pair.

A camera that has turned a little since it was calibrated, or whose focal length has changed, moves
the rows of its view by a + b x + c y + d x y + e y², the vertical part of a homography close to
none. It is fitted to features, and undone in the right view, before anything is matched.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from slanted.runtime.arrays import Floats
from slanted.runtime.threads import together

if TYPE_CHECKING:
    from slanted.images import Image
    from slanted.matching.features import FeatureMatches

PRIOR = np.array([20.0, 5.0, 5.0, 0.3, 0.3])
"""Standard deviation that coefficients are expected to have, in pixels. It is small for the last
two, since few features, or features in one half of the image, say little about them."""
LEAST_SCALE = 0.1
"""Deviations of features, in pixels, are never taken to be smaller than this."""
ROUNDS = 15
"""Rounds of reweighting."""
AGREES = 3.0
"""A feature agrees with the warp if its deviation is below this many standard deviations."""
MOVED = 1.5
"""Above this many pixels at the image's edge, b is taken for a rotation and c for another focal
length, which move columns as much as rows. Below they are not: on Middlebury's training scenes,
where b is within 0.2 px, moving columns raised the errors above 1 px from 13.0 to 13.7 %. In the
flat images of KITTI, c is only known to about 1 px."""
BAND = 64
"""Rows that a thread straightens at once, so that their coordinates take little memory."""
LARGEST_SIDE = 32766
"""Largest side, in pixels, of an image that OpenCV can warp."""


@dataclass(frozen=True)
class VerticalWarp:
    """How far below its row of the left view a point lies in the right one."""

    coefficients: tuple[float, ...]
    """a, b, c, d, e in pixels, for x and y from the image's centre, in halves of its width."""
    rms: float
    """Root mean square of the warp over the image, in pixels."""
    uncertainty: float
    """Standard error of the warp, as a root mean square over the image, in pixels."""
    spread: float
    """Standard deviation of single features from the warp, in pixels."""
    agreeing: float
    """Share of the features that agree with it."""

    def at(self, columns: Floats, rows: Floats, width: int, height: int) -> Floats:
        """Return the warp at columns of the right view and rows of the left one."""
        warp: Floats = _terms(columns, rows, width, height) @ np.array(self.coefficients)
        return warp


def fit_vertical_warp(features: FeatureMatches, width: int, height: int) -> VerticalWarp:
    """Fit the warp to features of which some are wrong, by reweighted least squares."""
    offsets = features.vertical
    terms = _terms(features.right[:, 0], features.left[:, 1], width, height)
    fitted = np.zeros(len(PRIOR))
    fitted[0] = np.median(offsets)
    for _ in range(ROUNDS):
        deviation = offsets - terms @ fitted
        scale = max(1.4826 * float(np.median(np.abs(deviation))), LEAST_SCALE)
        weight = 1 / (1 + (deviation / (2 * scale)) ** 2) ** 2  # a wrong match counts for nothing
        weighted = terms.T * (weight / scale**2)
        precision = weighted @ terms + np.diag(1 / PRIOR**2)
        fitted[:] = np.linalg.solve(precision, weighted @ offsets)
    columns, rows = np.meshgrid(np.linspace(0, width, 13), np.linspace(0, height, 9))
    grid = _terms(columns.ravel(), rows.ravel(), width, height)
    variance = np.einsum("ni,ij,nj->n", grid, np.linalg.inv(precision), grid)
    deviation = np.abs(offsets - terms @ fitted)
    return VerticalWarp(
        tuple(float(each) for each in fitted),
        rms=float(np.sqrt(np.mean((grid @ fitted) ** 2))),
        uncertainty=float(np.sqrt(np.mean(variance))),
        spread=scale,
        agreeing=float(np.mean(deviation < AGREES * scale)),
    )


def straighten(right: Image, warp: VerticalWarp) -> Image:
    """Return the right view with the warp undone; what lies outside it repeats its border.

    Columns stay, so that disparities remain those of the pair, unless the view is `MOVED`.
    """
    from slanted.runtime.opencv import cv2

    height, width = right.shape[:2]
    a, b, c, d, e = warp.coefficients
    turned, longer = (each if abs(each) > MOVED else 0.0 for each in (b, c))
    straight = np.empty_like(right)
    columns = np.arange(width, dtype=np.float64)[None, :]
    x = (columns - width / 2) / (width / 2)

    def undo(top: int) -> None:
        rows = np.arange(top, min(top + BAND, height), dtype=np.float64)[:, None]
        y = (rows - height / 2) / (width / 2)
        across = columns - turned * y + longer * x
        down = rows + a + b * x + (c + d * x + e * y) * y
        straight[top : top + BAND] = cv2.remap(
            right,
            np.broadcast_to(across, down.shape).astype(np.float32),
            down.astype(np.float32),
            cv2.INTER_CUBIC,
            borderMode=cv2.BORDER_REPLICATE,
        )

    together(*(partial(undo, top) for top in range(0, height, BAND)))
    return straight


def _terms(columns: Floats, rows: Floats, width: int, height: int) -> Floats:
    """Return the (N, 5) functions whose sum, times the coefficients, is the warp."""
    x, y = (columns - width / 2) / (width / 2), (rows - height / 2) / (width / 2)
    return np.stack([np.ones_like(x), x, y, x * y, y * y], axis=1)
