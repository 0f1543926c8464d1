"""The confidence of a result: how likely each disparity is right, and how exact it then is."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from slanted.confidence.features import PLAIN_FEATURES, names_of, write_features
from slanted.confidence.scene import THIN, Seen, describe_scene
from slanted.confidence.windows import STEP
from slanted.matching.sgm_paths import volume
from slanted.model.planes import lowest_disparity
from slanted.runtime.opencv import cv2
from slanted.runtime.threads import together

if TYPE_CHECKING:
    from slanted.confidence.weights import Weights
    from slanted.images import GreyPair
    from slanted.inference.outcome import Inference
    from slanted.model.evidence import Judgement
    from slanted.regions.structure import Regions
    from slanted.runtime.arrays import DisparityMap, Flags, Float32s
    from slanted.settings import Settings

BAND_PIXELS = 8_000_000
"""Pixels whose features are in memory at a time."""
OVERLAP = 64
"""Rows that a band sees beyond each of its ends: more than half of the largest window."""
GRID = THIN * STEP
"""Rows of the image to one of the coarse grid of a thinned image."""
LONGEST = 10.0
"""The logarithm of the largest deviation, in pixels."""


def judge_pixels(
    maps: tuple[DisparityMap, DisparityMap, Flags],
    regions: Regions,
    inference: Inference,
    grey: GreyPair,
    settings: Settings,
    weights: Weights,
    judgement: Judgement | None = None,
    every: int = 1,
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
    judgement
        That of the matcher's first choices, if they were judged. Trees of pixels that know them
        tell wrong disparities better: the AUC on KITTI's validation is 0.950 instead of 0.946.
    every
        As for `bands_of_features`.
    """
    confidence, deviation = np.empty_like(maps[0]), np.empty_like(maps[0])
    seen, low = Seen.result(maps, regions, grey, judgement), lowest_disparity(settings)
    trees = weights.plain if judgement is None else weights.pixels
    for core, inside, features in bands_of_features(seen, regions, inference, low, every):
        right = 1 - trees.probability(features)
        variance = weights.deviation.scores(features[: len(PLAIN_FEATURES)])
        # Trees of a user's own may say anything, and infinity cannot be interpolated.
        exact = np.exp(np.minimum(variance / 2, np.float32(LONGEST)))
        shape = core.stop - core.start, confidence.shape[1]
        thin = right, exact
        whole = together(*(partial(interpolated, each, inside, shape, every) for each in thin))
        confidence[core], deviation[core] = whole
    return confidence, deviation


def interpolated(
    thin: Float32s, first: int, shape: tuple[int, int], every: int = 1
) -> DisparityMap:
    """Interpolate values of a thinned image at all pixels, from row `first` of the image on.

    If there are values of `every` so many of its rows and columns only, these are interpolated.
    """
    (height, width), step = shape, THIN * every
    # The value of a thinned pixel is that of its upper left pixel in the image.
    place = np.array([[1 / step, 0, 0], [0, 1 / step, first / step]])
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    values: DisparityMap = cv2.warpAffine(
        thin, place, (width, height), flags=flags, borderMode=cv2.BORDER_REPLICATE
    )
    return values


def bands_of_features(
    seen: Seen, regions: Regions, inference: Inference, low: float, every: int = 1
) -> Iterator[tuple[slice, int, Float32s]]:
    """Yield the features of bands of rows of the thinned image.

    Each comes as the rows of the image that it is for, the number of the first of these among the
    rows that the band sees, and (F, h, w) features of all that it sees.

    Parameters
    ----------
    seen
        First choices or a result, and what is around them.
    regions, inference
        Segments and planes.
    low
        The smallest possible disparity.
    every
        Of so many rows and columns of the thinned image one is wanted; at most `STEP`.
    """
    whole = seen.thinned(slice(None))
    scene = describe_scene(whole, seen.grey, regions, inference, low)
    height, width = seen.disparity.shape
    count = -(-height * width // BAND_PIXELS)
    one = whole if count == 1 else None
    del whole  # many bands have no memory to spare for it
    for k in range(count):
        first, last = height * k // count, height * (k + 1) // count
        # All bands have the pixels of one coarse grid.
        above, below = max(first - OVERLAP, 0) // GRID * GRID, -(-(last + OVERLAP) // GRID) * GRID
        part = one or seen.thinned(slice(above, min(below, height)))
        # The volume of matching is free by now, and new memory would take longer to get.
        with volume((len(names_of(seen)), *part.disparity.shape), np.float32) as features:
            write_features(part, scene, features)
            yield slice(first, last), first - above, features[:, ::every, ::every]


def thin_rows(rows: slice, first: int) -> tuple[slice, slice]:
    """Return where the features of a band's own rows are: in the thinned image, and in the band."""
    start, stop = -(-rows.start // THIN), -(-rows.stop // THIN)
    begin = -(-first // THIN)
    return slice(start, stop), slice(begin, begin + stop - start)
