"""Superpixels: from an image to a label image (paper §4, "Segmentation strategy").

All methods have one interface, `segment`: every pixel belongs to one of the segments 0 … n−1, each
segment is 4-connected, and there are about as many as asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from slanted.errors import InputError

if TYPE_CHECKING:
    from slanted.images import Image
    from slanted.runtime.arrays import Bytes, DisparityMap, Ints
    from slanted.segmentation.ucm import Ucm
    from slanted.settings import SegmentationSettings

PIXELS_A_SEGMENT = 600
FEWEST_PIXELS_A_SEGMENT = 150
FEWEST_BY_ITSELF, MOST_BY_ITSELF = 800, 2000
MOST_PIXELS_A_SEGMENT = 3000
"""Mean segment size, in pixels, from which on `MOST_BY_ITSELF` no longer holds."""
SMALLEST_MEAN = 4
"""Smallest mean size of segments that may be asked for, in pixels; smaller ones have no plane."""
INTERSECTION_REGIONS = 0.25
"""Number of UCM regions, as a share of the segments asked for, that SLIC divides further."""
TINY_SHARE = 0.125
"""Share of the mean segment size below which pieces of the intersection join a neighbour."""
ROUNDS = 4
"""Most attempts to find the number of SLIC cells whose intersection has the number asked for."""
COARSE_ITERATIONS = 3
"""Most iterations of SLIC for coarse segments: cells of fewer pixels settle sooner."""
TOLERANCE = 0.05
"""Relative error of the number of segments that ends the attempts."""


def segment(
    image: Image,
    settings: SegmentationSettings,
    disparity: DisparityMap | None = None,
    ucm: Ucm | None = None,
    band_pixels: int | None = None,
    lab: Bytes | None = None,
) -> Ints:
    """Cut an image into segments.

    Parameters
    ----------
    image
        (H, W) grey or (H, W, 3) RGB, 8 or 16 bit.
    settings
        Section ``segmentation``.
    disparity
        (H, W) initial disparity, NaN where unknown; used by ``slic+disparity`` only.
    ucm
        The image's contour hierarchy from `make_ucm`, if it exists already.
    band_pixels
        Size, in pixels, of the overlapping bands in which SLIC runs; by default it sees the whole
        image at once.
    lab
        The image's Lab planes from `lab_planes`, if they exist already.

    Returns
    -------
    label_image
        (H, W) int32 segment of each pixel, 0 … n−1.

    Examples
    --------
    >>> from slanted.settings import SegmentationSettings
    >>> from slanted.synthetic import make_scene
    >>> left = make_scene(96, 64, segments=24, seed=1).left
    >>> label_image = segment(left, SegmentationSettings(method="slic", count=24))
    >>> label_image.shape, int(label_image.max()) + 1
    ((64, 96), 23)
    """
    from slanted.images.checks import check_image
    from slanted.images.colour import lab_planes
    from slanted.segmentation.slic import slic

    image = check_image("image", image)
    count = number_of_segments(image, settings)
    lab = lab_planes(image) if lab is None else lab
    if lab.shape != (3, *image.shape[:2]):
        raise InputError(
            f"lab: expected the planes of the image, of shape {(3, *image.shape[:2])}, got "
            f"{lab.shape}; leave them out to have them made"
        )
    if settings.method in ("slic", "slic+disparity"):
        known = None if settings.method == "slic" else _check_disparity(disparity, image)
        return slic(lab, count, settings.slic, known, band_pixels)
    ucm = ucm or make_ucm(image, settings)
    if settings.method == "ucm":
        return _cut(ucm, settings, count)
    return _intersection(image, lab, ucm, settings)


def segment_coarsely(image: Image, settings: SegmentationSettings, disparity: DisparityMap) -> Ints:
    """Cut an image into segments as `segment` does, at half its size.

    Boundaries lie between blocks of 2 × 2 pixels.

    Examples
    --------
    >>> import numpy as np
    >>> from slanted.settings import SegmentationSettings
    >>> from slanted.synthetic import make_scene
    >>> scene = make_scene(95, 64, segments=24, seed=1)
    >>> rules = SegmentationSettings(count=24)
    >>> segment_coarsely(scene.left, rules, scene.disparity.astype(np.float32)).shape
    (64, 95)
    """
    from dataclasses import replace

    import numpy as np

    from slanted.runtime.opencv import cv2

    height, width = image.shape[:2]
    count = number_of_segments(image, settings)
    size = -(-width // 2), -(-height // 2)
    small = cv2.resize(image, size, interpolation=cv2.INTER_AREA)
    most = settings.slic.coarse_iterations + settings.slic.iterations
    slic = replace(settings.slic, coarse_iterations=0, iterations=min(most, COARSE_ITERATIONS))
    fewest = min(count, max(1, size[0] * size[1] // SMALLEST_MEAN))
    rules = replace(settings, count=fewest, slic=slic)
    labels = segment(small, rules, np.ascontiguousarray(disparity[::2, ::2]))
    return np.ascontiguousarray(labels.repeat(2, axis=0)[:height].repeat(2, axis=1)[:, :width])


def _check_disparity(disparity: DisparityMap | None, image: Image) -> DisparityMap:
    if disparity is None:
        raise InputError(
            "disparity: segmentation.method=slic+disparity needs the initial disparity, got none; "
            "give it or use another method"
        )
    if disparity.shape != image.shape[:2]:
        raise InputError(
            f"disparity: expected the image's shape, {image.shape[:2]}, got {disparity.shape}"
        )
    return disparity


def number_of_segments(image: Image, settings: SegmentationSettings) -> int:
    """Return how many segments to ask for, which is what the image has room for at most."""
    pixels = int(image.shape[0] * image.shape[1])
    if settings.count is None:
        return automatic_count(pixels)
    return min(settings.count, max(1, pixels // SMALLEST_MEAN))


def automatic_count(pixels: int) -> int:
    """Return how many segments an image of so many pixels gets by itself.

    There is one per 600 pixels, at most 2000 segments. Images that would get fewer than 800 have
    one per 150 pixels, up to 800. Images of more than 6 million pixels have one per 3000 pixels.
    """
    fewest = min(pixels // FEWEST_PIXELS_A_SEGMENT, FEWEST_BY_ITSELF)
    most = max(MOST_BY_ITSELF, pixels // MOST_PIXELS_A_SEGMENT)
    return max(1, fewest, min(pixels // PIXELS_A_SEGMENT, most))


def make_ucm(image: Image, settings: SegmentationSettings) -> Ucm:
    """Build the hierarchy of an image's contours, or of the user's contours."""
    from pathlib import Path

    from slanted.images.colour import as_rgb8, lab_planes
    from slanted.segmentation.contours import contours_from_user, find_contours, strongest
    from slanted.segmentation.ucm import build_ucm

    if settings.ucm.contours is None:
        return build_ucm(*strongest(find_contours(lab_planes(image))))
    return build_ucm(*contours_from_user(Path(settings.ucm.contours), as_rgb8(image)))


def _cut(ucm: Ucm, settings: SegmentationSettings, regions: int) -> Ints:
    if settings.ucm.threshold is not None:
        return ucm.cut_threshold(settings.ucm.threshold)
    return ucm.cut_regions(settings.ucm.regions or regions)


def _intersection(image: Image, lab: Bytes, ucm: Ucm, settings: SegmentationSettings) -> Ints:
    """Intersect SLIC with UCM regions and merge tiny pieces into the most similar neighbour.

    The number of pieces is not known in advance, so SLIC is repeated with more or fewer cells.
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
