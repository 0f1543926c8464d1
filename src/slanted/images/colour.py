"""Conversions of images: to 8 bit, grey, RGB and Lab."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from slanted.runtime.arrays import Bytes
from slanted.runtime.threads import share, together

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from slanted.images import GreyPair, Image

WHITE_SHARE = 0.999
"""White is this quantile of a pair's values."""
DARK = 128
"""A pair of 8 bit whose white is below this grey level is brightened."""
MOST_GAIN = 8.0
"""Largest factor by which it is brightened; beyond it there is nothing but noise."""


def as_grey(image: Image) -> Image:
    """Return the luma (ITU-R BT.601) of an RGB image, or the grey image itself."""
    if image.ndim == 2:
        return image
    from slanted.runtime.opencv import cv2

    grey: Image = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    return grey


def as_8_bit(left: Image, right: Image) -> tuple[Bytes, Bytes]:
    """Reduce a 16-bit pair to 8 bit with one scale for both images.

    White is the pair's 99.9 % quantile, not 65535: cameras store 10 or 12 bits in 16, and dividing
    by 256 would leave such images almost black.
    """
    if left.dtype == np.uint8:
        return left, right  # type: ignore[return-value]
    both = np.concatenate([left.reshape(-1), right.reshape(-1)])
    white = max(1.0, float(np.quantile(both, WHITE_SHARE)))

    def reduced(image: Image) -> Bytes:
        scaled = np.minimum(image * np.float32(255.0 / white) + np.float32(0.5), np.float32(255.0))
        return np.asarray(scaled, np.uint8)

    return reduced(left), reduced(right)


def brightened(left: Image, right: Image) -> tuple[Image, Image]:
    """Raise the grey levels of a dark 8-bit pair, with one factor for both images.

    Costs, penalties and thresholds are in grey levels of a well-lit pair. Other pairs are returned
    as they are; those of 16 bits are scaled by `as_8_bit`.
    """
    if left.dtype != np.uint8 or (white := _white(left, right)) >= DARK:
        return left, right
    gain = np.float32(min(255.0 / white, MOST_GAIN))

    def raised(image: Image) -> Bytes:
        values = np.minimum(image * gain + np.float32(0.5), np.float32(255.0))
        return np.asarray(values, np.uint8)

    return raised(left), raised(right)


def _white(left: Image, right: Image) -> int:
    """Return the white of an 8-bit pair, at least 1; one value in seven tells it."""

    def counts(image: Image) -> NDArray[np.intp]:
        return np.bincount(image.reshape(-1)[::7], minlength=256)

    below = np.cumsum(sum(together(partial(counts, left), partial(counts, right))))
    return max(1, int(np.searchsorted(below, WHITE_SHARE * below[-1])))


def grey_pair(left: Image, right: Image) -> GreyPair:
    """Return a pair of any kind as 8-bit grey images."""
    eight = as_8_bit(left, right)
    one, other = together(*(partial(as_grey, image) for image in eight))
    return np.asarray(one, np.uint8), np.asarray(other, np.uint8)


def as_rgb8(image: Image) -> Bytes:
    """Return any image that slanted accepts as (H, W, 3) 8-bit RGB."""
    from slanted.runtime.opencv import cv2

    eight, _ = as_8_bit(image, image)
    return cv2.cvtColor(eight, cv2.COLOR_GRAY2RGB) if eight.ndim == 2 else eight


def lab_planes(image: Image) -> Bytes:
    """Return (3, H, W) 8-bit Lab planes: L stretched to 0 … 255, a and b shifted by 128."""
    from slanted.runtime.opencv import cv2

    colours = np.ascontiguousarray(as_rgb8(image))
    lab = np.empty((3, *colours.shape[:2]), np.uint8)

    def convert(first: int, last: int) -> None:
        planes = cv2.split(cv2.cvtColor(colours[first:last], cv2.COLOR_RGB2LAB))
        for plane, values in zip(lab, planes, strict=True):
            plane[first:last] = values

    share(len(colours), convert)
    return lab
