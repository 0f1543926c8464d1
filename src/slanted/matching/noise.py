"""How noisy or compressed a pair is, and what matching does about it.

Census words compare single pixels, so that noise flips their bits, and the borders of JPEG's blocks
are at the same columns of both views, where they match each other. Both fade in smoothed views.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from slanted.images.colour import grey_pair
from slanted.runtime.opencv import cv2
from slanted.runtime.threads import together

if TYPE_CHECKING:
    from slanted.images import GreyPair, Image
    from slanted.runtime.arrays import Bytes
    from slanted.settings import MatchingSettings

NOISY = 3.2
"""Deviation of the noise, in grey levels, from which on views are smoothed; benchmarks have at most
1.3, and 3.1 at a quarter of their size, where fine texture looks like noise."""
BLOCKY = 1.2
"""Height of the steps between JPEG's blocks, in grey levels, from which on views are smoothed:
about that of quality 50. Benchmarks have at most 0.1, and 1.1 at a quarter of their size."""
NOTHING_ELSE = 0.5
"""Share of noise in the deviation of all grey levels from which on there is nothing to match; the
smoothed noise of two such views would match by chance."""
LEAST_SMOOTHING, MOST_SMOOTHING = 0.8, 1.4
"""Standard deviations of the Gaussian, in pixels."""
PER_NOISE, PER_STEP = 0.25, 0.5
"""Standard deviation of the Gaussian, in pixels, for each grey level of noise or of steps."""
SHARED = 0.85
"""Share of the smoothing of a noisy pair that all stages see."""
LAPLACIAN = np.array([[1, -2, 1], [-2, 4, -2], [1, -2, 1]], np.float32)
"""Responds to noise but hardly to edges (Immerkær, "Fast Noise Variance Estimation", 1996)."""
FLAT_SHARE = 0.05
"""The flattest blocks, by this quantile, tell the noise, which is everywhere; texture is not."""
QUANTILE_OF_NOISE = 3.6
"""This quantile of mean responses in blocks of noise with a deviation of 1."""
BLOCK = 8
"""Side of JPEG's blocks, in pixels, and of those that tell the noise."""
FEWEST_BLOCKS = 20
"""With fewer blocks that are neither white nor black the noise is not known."""
WHITE = 255
MOST_SIDE = 2048
"""Of larger images only the middle, of so many rows and columns, is looked at."""
THIN = 3
"""One row in so many tells the steps between blocks."""


def noise_of(grey: Bytes) -> float:
    """Return the standard deviation of the noise of an 8-bit image, in grey levels.

    It is that of the flattest blocks without white or black pixels, where noise is cut off; 0 if
    there are too few.
    """
    rows, columns = grey.shape[0] // BLOCK, grey.shape[1] // BLOCK
    if rows * columns < FEWEST_BLOCKS:
        return 0.0
    inside = grey[: rows * BLOCK, : columns * BLOCK]
    response = cv2.convertScaleAbs(cv2.filter2D(inside, cv2.CV_16S, LAPLACIAN))
    means, whole = (
        cv2.resize(each.astype(np.float32), (columns, rows), interpolation=cv2.INTER_AREA)
        for each in (response, cv2.inRange(inside, 1, WHITE - 1))
    )
    telling = means[whole == WHITE]
    if telling.size < FEWEST_BLOCKS:
        return 0.0
    return float(np.quantile(telling, FLAT_SHARE)) / QUANTILE_OF_NOISE


def block_steps(grey: Bytes) -> float:
    """Return how much higher the steps between JPEG's blocks are than others, in grey levels.

    A step counts by how much it exceeds those beside it, which is nothing on average in a picture
    that was not compressed. Columns and rows must both have them: a small picture may have some by
    chance.
    """
    return min(_column_steps(grey), _column_steps(grey.T))


def _column_steps(grey: Bytes) -> float:
    if grey.shape[1] < 2 * BLOCK:
        return 0.0
    steps = np.abs(np.diff(grey[::THIN].astype(np.int16), axis=1)).astype(np.float32)
    excess = (steps[:, 1:-1] - (steps[:, :-2] + steps[:, 2:]) / 2).mean(axis=0)
    between = np.arange(len(excess)) % BLOCK == BLOCK - 2  # the step after column 7, 15, …
    return float(excess[between].mean() - excess[~between].mean())


def _middle(image: Image) -> Image:
    """Return the middle of a large image, on the grid of JPEG's blocks; it tells enough."""
    first = [max(0, (side - MOST_SIDE) // 2) // BLOCK * BLOCK for side in image.shape[:2]]
    return image[first[0] : first[0] + MOST_SIDE, first[1] : first[1] + MOST_SIDE]


def calmed(
    left: Image, right: Image, settings: MatchingSettings, grey: GreyPair | None = None
) -> tuple[Image, Image, MatchingSettings]:
    """Smooth a noisy pair for all stages; also return the settings with which it is to be matched.

    Superpixels, the photometric potential and the trees gain from it as well. The matcher's own
    smoothing then does the rest. A compressed pair stays as it is, which is better for them.
    `grey` is the same pair in grey, if it is known, which saves time.
    """
    looked_at: tuple[Image, Image] = grey or (left, right)
    found = follow_noise(*looked_at, settings)
    smoothing = found.census.smoothing
    if settings.census.smoothing is not None or settings.method != "census" or not smoothing:
        return left, right, found
    if max(map(noise_of, grey_pair(*map(_middle, looked_at)))) < NOISY:
        return left, right, found
    rest = smoothing * float(np.sqrt(1 - SHARED**2))
    views = (cv2.GaussianBlur(view, (0, 0), SHARED * smoothing) for view in (left, right))
    return *views, replace(found, census=replace(found.census, smoothing=rest))


def _look_at(view: Bytes) -> tuple[float, float, float]:
    """Return the noise, the steps between blocks and the contrast of an 8-bit image."""
    return noise_of(view), block_steps(view), float(view[::THIN].std())


def follow_noise(left: Image, right: Image, settings: MatchingSettings) -> MatchingSettings:
    """Return settings whose smoothing is known, as the pair needs it.

    Smoothed costs differ less between neighbouring disparities, so that noise would step between
    them; P1 is doubled for such pairs.
    """
    census = settings.census
    if census.smoothing is not None:
        return settings
    views = grey_pair(_middle(left), _middle(right))
    seen = together(*(partial(_look_at, view) for view in views))
    noises, all_steps, contrasts = zip(*seen, strict=True)
    noise, steps, contrast = max(noises), min(all_steps), min(contrasts)
    if (noise < NOISY and steps < BLOCKY) or noise > NOTHING_ELSE * contrast:
        return replace(settings, census=replace(census, smoothing=0.0))
    wanted = max(PER_NOISE * noise, PER_STEP * steps)
    smoothing = min(max(wanted, LEAST_SMOOTHING), MOST_SMOOTHING)
    p1 = min(2 * census.p1, census.p2_min)
    return replace(settings, census=replace(census, smoothing=smoothing, p1=p1))
