"""The best result with one plane per segment: planes fitted to ground truth (paper §4, Oracle)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

INLIER = 3.0
"""Pixels; the threshold of out-3px."""
REACHES = (12.0, 6.0, 4.5, 3.5, INLIER, INLIER, INLIER)
"""Largest residual, in pixels, of the pixels that each round fits."""
QUANTILES = (0.1, 0.5, 0.9)
LEVELLING = 1e-3
"""Pulls the slopes of a segment with few or collinear pixels towards zero."""


def oracle_disparity(
    label_image: NDArray[np.int32], ground_truth: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Fit a plane to the ground truth in every segment and draw the planes.

    Among several robust fits, the one with the most pixels within 3 px wins. The paper does not say
    how it fits. Plain least squares is pulled away in segments that straddle a depth edge, which is
    not what an upper bound should measure.

    Parameters
    ----------
    label_image
        (H, W) segments 0 … n−1.
    ground_truth
        (H, W) pixels, NaN where unknown.

    Returns
    -------
    disparity
        (H, W), NaN in segments without ground truth.
    """
    points = _Points.of(label_image, ground_truth)
    best = np.zeros((points.count, 3))
    most = np.full(points.count, -1.0)
    for start in points.starts():
        planes = start
        for reach in REACHES:
            planes = points.fit(points.residual(planes) <= reach, planes)
        inliers = points.sums((points.residual(planes) <= INLIER).astype(np.float64))
        better = inliers > most
        best[better], most[better] = planes[better], inliers[better]
    rows, columns = np.indices(label_image.shape)
    u, v = (columns - points.centre[0][label_image]), (rows - points.centre[1][label_image])
    drawn = best[label_image, 0] * u + best[label_image, 1] * v + best[label_image, 2]
    drawn[(points.size == 0)[label_image]] = np.nan
    return np.asarray(drawn, np.float32)


@dataclass(frozen=True)
class _Points:
    """The pixels with ground truth, relative to the mean pixel of their segment."""

    count: int
    segment: NDArray[np.int32]
    u: Floats
    v: Floats
    truth: Floats
    size: Floats
    centre: tuple[Floats, Floats]

    @classmethod
    def of(cls, label_image: NDArray[np.int32], ground_truth: NDArray[np.float32]) -> _Points:
        count = int(label_image.max()) + 1
        known = np.isfinite(ground_truth)
        segment = label_image[known]
        row, column = np.nonzero(known)
        size = np.bincount(segment, minlength=count).astype(np.float64)
        u0, v0 = (np.bincount(segment, x, count) / np.maximum(size, 1) for x in (column, row))
        truth = ground_truth[known].astype(np.float64)
        return cls(count, segment, column - u0[segment], row - v0[segment], truth, size, (u0, v0))

    def sums(self, values: Floats) -> Floats:
        return np.asarray(np.bincount(self.segment, values, self.count), np.float64)

    def residual(self, planes: Floats) -> Floats:
        a, b, c = planes[self.segment].T
        return np.asarray(np.abs(a * self.u + b * self.v + c - self.truth))

    def starts(self) -> Iterator[Floats]:
        """Yield least-squares planes, then level planes at some quantiles of each segment."""
        yield self.fit(np.ones(len(self.truth), bool), np.zeros((self.count, 3)))
        order = np.lexsort((self.truth, self.segment))
        ends = np.cumsum(self.size).astype(np.int64)
        for quantile in QUANTILES:
            level = np.zeros((self.count, 3))
            place = ends - 1 - np.floor((1 - quantile) * np.maximum(self.size - 1, 0)).astype(int)
            filled = self.size > 0
            level[filled, 2] = self.truth[order][place[filled]]
            yield level

    def fit(self, chosen: NDArray[np.bool_], otherwise: Floats) -> Floats:
        """Fit the chosen pixels by least squares; a segment without any gets `otherwise`."""
        weight = chosen.astype(np.float64)
        features = (self.u, self.v, np.ones(len(self.truth)))
        normal = np.zeros((self.count, 3, 3))
        right = np.zeros((self.count, 3))
        for i in range(3):
            for j in range(i, 3):
                normal[:, i, j] = normal[:, j, i] = self.sums(weight * features[i] * features[j])
            right[:, i] = self.sums(weight * features[i] * self.truth)
        normal += np.diag([LEVELLING, LEVELLING, 1e-9])
        planes = np.linalg.solve(normal, right[..., None])[..., 0]
        return np.where((self.sums(weight) > 0)[:, None], planes, otherwise)
