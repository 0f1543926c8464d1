"""The confidence of a result: how likely each disparity is right, and how exact it then is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import cv2
import numpy as np

from slanted.confidence.pixel_features import (
    PIXEL_FEATURES,
    THIN,
    PixelInputs,
    describe_scene,
    mismatch,
    pixel_features,
)
from slanted.matching.sgm_paths import volume
from slanted.model.planes import lowest_disparity

if TYPE_CHECKING:
    from slanted.confidence.weights import Weights
    from slanted.images import GreyPair
    from slanted.inference.outcome import Inference
    from slanted.regions.structure import Regions
    from slanted.runtime.arrays import DisparityMap, Flags, Float32s
    from slanted.settings import Settings

BAND_PIXELS = 8_000_000
"""Pixels whose features are in memory at a time."""
OVERLAP = 64
"""Rows that a band sees beyond each of its ends: more than half of the largest window."""


def judge_pixels(
    maps: tuple[DisparityMap, DisparityMap, Flags],
    regions: Regions,
    inference: Inference,
    grey: GreyPair,
    settings: Settings,
    weights: Weights,
) -> tuple[DisparityMap, DisparityMap]:
    """Return the confidence of every pixel and the standard deviation of its disparity.

    Parameters
    ----------
    maps
        The disparity of a result, its matches and its occluded pixels, (H, W) each.
    regions, inference
        Segments and planes of the result.
    grey
        Both views in 8-bit grey.
    settings
        All parameters.
    weights
        The trees.
    """
    confidence, deviation = np.empty_like(maps[0]), np.empty_like(maps[0])
    for core, inside, features in bands_of_features(maps, regions, inference, grey, settings):
        right = 1 - weights.pixels.probability(features)
        with np.errstate(over="ignore"):  # by trees of a user's own
            exact = np.exp(weights.deviation.scores(features) / 2)
        shape = core.stop - core.start, confidence.shape[1]
        confidence[core] = interpolated(right, inside, shape)
        deviation[core] = interpolated(exact, inside, shape)
    return confidence, deviation


def interpolated(thin: Float32s, first: int, shape: tuple[int, int]) -> DisparityMap:
    """Interpolate values of a thinned image at all pixels, from row `first` of the image on."""
    height, width = shape
    # The value of a thinned pixel is that of its upper left pixel in the image.
    place = np.array([[1 / THIN, 0, 0], [0, 1 / THIN, first / THIN]])
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    values: DisparityMap = cv2.warpAffine(
        thin, place, (width, height), flags=flags, borderMode=cv2.BORDER_REPLICATE
    )
    return values


def bands_of_features(
    maps: tuple[DisparityMap, DisparityMap, Flags],
    regions: Regions,
    inference: Inference,
    grey: GreyPair,
    settings: Settings,
) -> Iterator[tuple[slice, int, Float32s]]:
    """Yield the features of bands of rows of the thinned image; arguments as above.

    Each comes as the rows of the image that it is for, the number of the first of these among the
    rows that the band sees, and (F, h, w) features of all that it sees.
    """
    seen = PixelInputs(*maps, mismatch(grey, maps[0]), grey[0], regions.label_image)
    low = lowest_disparity(settings)
    scene = describe_scene(seen, regions, inference.planes, inference.margins, low)
    height, width = seen.disparity.shape
    count = -(-height * width // BAND_PIXELS)
    for k in range(count):
        first, last = height * k // count, height * (k + 1) // count
        above = max(first - OVERLAP, 0) // THIN * THIN
        part = seen.thinned(slice(above, min(last + OVERLAP, height)))
        # The volume of matching is free by now, and new memory would take longer to get.
        with volume((len(PIXEL_FEATURES), *part.disparity.shape), np.float32) as features:
            pixel_features(part, scene, features)
            yield slice(first, last), first - above, features
