"""Images as matchers want them."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from slanted.errors import InputError, SlantedWarning

if TYPE_CHECKING:
    from slanted.images import GreyPair, Image

NAMES = ("left", "right")
"""What messages call the images unless their files are known."""
SMALLEST_SIDE = 8
"""No matcher can say anything of an image smaller than its window."""


def check_image(name: str, image: Any) -> Image:
    """Return the image if it is grey or RGB of 8 or 16 bit, or raise an InputError naming it."""
    if not isinstance(image, np.ndarray):
        raise InputError(f"{name}: expected a NumPy array, got {type(image).__name__}")
    channels_fit = image.ndim == 2 or (image.ndim == 3 and image.shape[2] == 3)
    if not channels_fit or image.dtype not in (np.uint8, np.uint16):
        raise InputError(
            f"{name}: expected a grey (H, W) or RGB (H, W, 3) image of type uint8 or uint16, got "
            f"shape {image.shape} of type {image.dtype}; convert it first"
        )
    if min(image.shape[:2]) < SMALLEST_SIDE:
        raise InputError(
            f"{name}: expected at least {SMALLEST_SIDE}×{SMALLEST_SIDE} pixels, got "
            f"{size_text(image)}"
        )
    return image


def check_pair(left: Any, right: Any, names: tuple[str, str] = NAMES) -> tuple[Image, Image]:
    """Return both images if they can be matched, or raise an InputError naming what does not fit.

    A grey image beside a colour one is accepted with a warning: the colour one is made grey.
    `names` are what errors and warnings call the images, such as their files.
    """
    left, right = check_image(names[0], left), check_image(names[1], right)
    if left.shape[:2] != right.shape[:2]:
        raise InputError(
            f"{names[1]}: expected the size of the left image, {size_text(left)}, got "
            f"{size_text(right)}; both must come from one rectified pair"
        )
    if left.dtype != right.dtype:
        raise InputError(
            f"{names[1]}: expected the bit depth of the left image ({left.dtype}), got "
            f"{right.dtype}; convert one of them"
        )
    if left.ndim != right.ndim:
        colour, grey = names if left.ndim == 3 else names[::-1]
        warnings.warn(
            f"{colour}: is in colour, but {grey} is grey, so that both are taken as grey; give "
            "both in colour if you have them",
            SlantedWarning,
            stacklevel=2,
        )
        left, right = as_grey(left), as_grey(right)
    return left, right


def as_grey(image: Image) -> Image:
    """Return the luma (ITU-R BT.601) of an RGB image, or the grey image itself."""
    if image.ndim == 2:
        return image
    import cv2

    grey: Image = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    return grey


def as_8_bit(left: Image, right: Image) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Reduce a 16-bit pair to 8 bit with one scale for both.

    The scale is the pair's own 99.9 % quantile, not 65535: cameras store 10 or 12 bit in 16, and a
    division by 256 would leave such images black.
    """
    if left.dtype == np.uint8:
        return left, right  # type: ignore[return-value]
    both = np.concatenate([left.reshape(-1), right.reshape(-1)])
    white = max(1.0, float(np.quantile(both, 0.999)))

    def reduced(image: Image) -> NDArray[np.uint8]:
        scaled = np.minimum(image * np.float32(255.0 / white) + np.float32(0.5), np.float32(255.0))
        return np.asarray(scaled, np.uint8)

    return reduced(left), reduced(right)


def grey_pair(left: Image, right: Image) -> GreyPair:
    """Return a pair of any kind as 8-bit grey images."""
    one, other = (np.asarray(as_grey(image), np.uint8) for image in as_8_bit(left, right))
    return one, other


def size_text(image: NDArray[Any]) -> str:
    """Say an image's size as people do, width first."""
    return f"{image.shape[1]}×{image.shape[0]}"
