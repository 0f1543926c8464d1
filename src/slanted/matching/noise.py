"""How noisy or compressed a pair is, and what matching does about it.

Census words compare single pixels, so that noise flips their bits, and the borders of JPEG's blocks
are at the same columns of both views, where they match each other. Both fade in smoothed views.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import cv2
import numpy as np

from slanted.images.colour import grey_pair

if TYPE_CHECKING:
    from slanted.images import Image
    from slanted.runtime.arrays import Bytes
    from slanted.settings import MatchingSettings

NOISY = 3.0
"""Deviation of the noise, in grey levels, from which on views are smoothed; that of benchmarks is
at most 2.5."""
BLOCKY = 2.0
"""Height of the steps between JPEG's blocks, in grey levels, from which on views are smoothed:
about that of quality 70. Without compression it is at most 0.7."""
NOTHING_ELSE = 0.5
"""Share of noise in the deviation of all grey levels from which on there is nothing to match; the
smoothed noise of two such views would match by chance."""
LEAST_SMOOTHING, MOST_SMOOTHING = 0.8, 1.4
"""Standard deviations of the Gaussian, in pixels."""
PER_NOISE, PER_STEP = 0.25, 0.33
"""Standard deviation of the Gaussian, in pixels, for each grey level of noise or of steps."""
LAPLACIAN = np.array([[1, -2, 1], [-2, 4, -2], [1, -2, 1]], np.float32)
"""Responds to noise but hardly to edges (Immerkær, "Fast Noise Variance Estimation", 1996)."""
MEDIAN_OF_NORMAL = 0.6745
"""Median of the absolute value of a standard normal variable."""
BLOCK = 8
"""Side of JPEG's blocks, in pixels."""
THIN = 3
"""One row in so many tells both."""


def noise_of(grey: Bytes) -> float:
    """Return the standard deviation of the noise of an 8-bit image, in grey levels."""
    response = cv2.filter2D(grey, cv2.CV_16S, LAPLACIAN)[1:-1:THIN, 1:-1]
    if not response.size:
        return 0.0
    return float(np.median(np.abs(response))) / (
        MEDIAN_OF_NORMAL * float(np.linalg.norm(LAPLACIAN))
    )


def block_steps(grey: Bytes) -> float:
    """Return how much higher the steps between JPEG's blocks are than others, in grey levels.

    A step counts by how much it exceeds those beside it, which is nothing on average in a picture
    that was not compressed.
    """
    if grey.shape[1] < 2 * BLOCK:
        return 0.0
    steps = np.abs(np.diff(grey[::THIN].astype(np.int16), axis=1)).astype(np.float32)
    excess = (steps[:, 1:-1] - (steps[:, :-2] + steps[:, 2:]) / 2).mean(axis=0)
    between = np.arange(len(excess)) % BLOCK == BLOCK - 2  # the step after column 7, 15, …
    return float(excess[between].mean() - excess[~between].mean())


def follow_noise(left: Image, right: Image, settings: MatchingSettings) -> MatchingSettings:
    """Return settings whose smoothing is known, as the pair needs it.

    Smoothed costs differ less between neighbouring disparities, so that noise would step between
    them; P1 is doubled for such pairs.
    """
    census = settings.census
    if census.smoothing is not None:
        return settings
    views = grey_pair(left, right)
    noise, steps = max(map(noise_of, views)), max(map(block_steps, views))
    contrast = min(float(view[::THIN].std()) for view in views)
    if (noise < NOISY and steps < BLOCKY) or noise > NOTHING_ELSE * contrast:
        return replace(settings, census=replace(census, smoothing=0.0))
    wanted = max(PER_NOISE * noise, PER_STEP * steps)
    smoothing = min(max(wanted, LEAST_SMOOTHING), MOST_SMOOTHING)
    p1 = min(2 * census.p1, census.p2_min)
    return replace(settings, census=replace(census, smoothing=smoothing, p1=p1))
