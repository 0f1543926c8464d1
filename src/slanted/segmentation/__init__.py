"""Superpixels: from an image to a label image (paper §4, "Segmentation strategy").

One interface, `segment`, for all methods: labels 0 … n−1, each 4-connected, every pixel labelled,
about as many as asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from slanted.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from slanted.images import Image
    from slanted.segmentation.ucm import Ucm
    from slanted.settings import SegmentationSettings

    Labels = NDArray[np.int32]

PIXELS_A_SEGMENT = 600
FEWEST_PIXELS_A_SEGMENT = 150
FEWEST_BY_ITSELF, MOST_BY_ITSELF = 800, 2000
MOST_PIXELS_A_SEGMENT = 3000
"""Beyond which `MOST_BY_ITSELF` does not hold: a plane does not explain any number of pixels."""
SMALLEST_MEAN = 4
"""Pixels that a segment must have on average; smaller ones have no plane."""
INTERSECTION_REGIONS = 0.25
"""Share of the segments asked for that UCM regions make up before SLIC divides them further."""
TINY_SHARE = 0.125
"""Of the mean segment's pixels; pieces of the intersection below it join a neighbour."""
ROUNDS = 4
TOLERANCE = 0.05


def segment(
    image: Image,
    settings: SegmentationSettings,
    disparity: NDArray[np.float32] | None = None,
    ucm: Ucm | None = None,
    band_pixels: int | None = None,
) -> Labels:
    """Cut an image into segments.

    Parameters
    ----------
    image
        (H, W) grey or (H, W, 3) RGB, 8 or 16 bit.
    settings
        Section ``segmentation``.
    disparity
        (H, W) initial disparity, NaN where unknown; needed by ``slic+disparity`` only.
    ucm
        From `make_ucm`, if it is at hand already.
    band_pixels
        Let SLIC see bands of about so many pixels, which overlap, instead of all at once.

    Returns
    -------
    label_image
        (H, W) int32, 0 … n−1.
    """
    from slanted.images.checks import check_image
    from slanted.images.colour import lab_planes
    from slanted.segmentation.slic import slic

    image = check_image("image", image)
    count = number_of_segments(image, settings)
    lab = lab_planes(image)
    if settings.method == "slic":
        return slic(lab, count, settings.slic, band_pixels=band_pixels)
    if settings.method == "slic+disparity":
        if disparity is None:
            raise InputError(
                "disparity: segmentation.method=slic+disparity needs the initial disparity, got "
                "none; give it or use another method"
            )
        if disparity.shape != image.shape[:2]:
            raise InputError(
                f"disparity: expected the image's shape, {image.shape[:2]}, got {disparity.shape}"
            )
        return slic(lab, count, settings.slic, disparity, band_pixels)
    ucm = ucm or make_ucm(image, settings)
    if settings.method == "ucm":
        return _cut(ucm, settings, count)
    return _intersection(image, lab, ucm, settings)


def number_of_segments(image: Image, settings: SegmentationSettings) -> int:
    """Return how many segments to ask for.

    Auto is one for 600 pixels up to 2000; in smaller images one for 150, up to 800, as on KITTI; in
    images of more than 6 million pixels one for 3000.
    """
    pixels = int(image.shape[0] * image.shape[1])
    if settings.count is None:
        fewest = min(pixels // FEWEST_PIXELS_A_SEGMENT, FEWEST_BY_ITSELF)
        most = max(MOST_BY_ITSELF, pixels // MOST_PIXELS_A_SEGMENT)
        return max(1, fewest, min(pixels // PIXELS_A_SEGMENT, most))
    largest = max(1, pixels // SMALLEST_MEAN)
    if settings.count > largest:
        raise InputError(
            f"segmentation.count: expected at most {largest} segments for {image.shape[1]}×"
            f"{image.shape[0]} pixels, got {settings.count}; lower it or use auto"
        )
    return settings.count


def make_ucm(image: Image, settings: SegmentationSettings) -> Ucm:
    """Find an image's contours, or take the user's, and build their hierarchy."""
    from pathlib import Path

    from slanted.images.colour import as_rgb8, lab_planes
    from slanted.segmentation.contours import find_contours, given_contours, strongest
    from slanted.segmentation.ucm import build_ucm

    if settings.ucm.contours is None:
        return build_ucm(*strongest(find_contours(lab_planes(image))))
    return build_ucm(*given_contours(Path(settings.ucm.contours), as_rgb8(image)))


def _cut(ucm: Ucm, settings: SegmentationSettings, regions: int) -> Labels:
    if settings.ucm.threshold is not None:
        return ucm.cut_threshold(settings.ucm.threshold)
    return ucm.cut_regions(settings.ucm.regions or regions)


def _intersection(image: Image, lab: Any, ucm: Ucm, settings: SegmentationSettings) -> Labels:
    """Intersect SLIC with UCM regions, with tiny pieces merged into the most similar neighbour.

    How many pieces that gives is not known beforehand, so SLIC is asked again for more or fewer.
    """
    import numpy as np

    from slanted.partition.connectivity import connected_segments
    from slanted.segmentation.slic import slic

    count = number_of_segments(image, settings)
    regions = _cut(ucm, settings, max(1, round(INTERSECTION_REGIONS * count)))
    tiny = max(1, int(TINY_SHARE * image.shape[0] * image.shape[1] / count))
    asked = count
    best, best_misfit = regions, np.inf
    for _ in range(ROUNDS):
        cells = slic(lab, asked, settings.slic)
        joint = cells.astype(np.int64) * (int(regions.max()) + 1) + regions
        pieces = connected_segments(joint, lab, tiny)
        found = int(pieces.max()) + 1
        misfit = abs(found / count - 1)
        if misfit < best_misfit:
            best, best_misfit = pieces, misfit
        if misfit <= TOLERANCE:
            break
        asked = max(1, round(asked * count / found))
    return best
