"""Checks of the images and disparity maps that users pass in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from slanted.errors import InputError, warn
from slanted.images.colour import as_grey
from slanted.images.given import Channels, image_from_user, refuse_bgr
from slanted.runtime.arrays import Floats, refuse_masked

if TYPE_CHECKING:
    from slanted.images import Image

NAMES = ("left", "right")
"""What messages call the images if their files are not known."""
SMALLEST_SIDE = 8
"""Width and height, in pixels, below which an image is smaller than the matchers' windows."""


def check_image(name: str, given: Any, channels: Channels = "rgb") -> Image:
    """Return what a user gave as an image, or raise an InputError that names it.

    `slanted.images.given` has the rule.
    """
    return _check_side(name, image_from_user(name, given, channels).pixels)


def check_view(name: str, given: Any, disparity: NDArray[Any]) -> Image:
    """Return what a user gave as a view of the pair of a disparity, or raise an InputError."""
    image = check_image(name, given)
    if image.shape[:2] != disparity.shape:
        raise InputError(
            f"{name}: expected the size of the disparity, {size_text(disparity)}, got "
            f"{size_text(image)}; give the pair that it was estimated from"
        )
    return image


def _check_side(name: str, image: Image) -> Image:
    if min(image.shape[:2]) < SMALLEST_SIDE:
        raise InputError(
            f"{name}: expected at least {SMALLEST_SIDE}×{SMALLEST_SIDE} pixels, got "
            f"{size_text(image)}"
        )
    return image


def check_channels(name: str, image: NDArray[Any]) -> Image:
    """Return the image if its channels and type are those of an image, whatever its size."""
    channels_fit = image.ndim == 2 or (image.ndim == 3 and image.shape[2] == 3)
    if not channels_fit or image.dtype not in (np.uint8, np.uint16):
        raise InputError(
            f"{name}: expected a grey (H, W) or RGB (H, W, 3) image of type uint8 or uint16, got "
            f"shape {image.shape} of type {image.dtype}; convert it first"
        )
    return image


def check_pair(
    left: Any,
    right: Any,
    names: tuple[str, str] = NAMES,
    channels: Channels = "rgb",
    *,
    own: bool = False,
) -> tuple[Image, Image]:
    """Return both images if they can be matched, or raise an InputError that says why not.

    If one image is grey and the other in colour, both become grey, with a warning. `names` are what
    messages call the images, such as their files; `channels` is the order of colours in arrays.
    With `own`, the images share no memory with what was given.
    """
    views = [
        image_from_user(name, given, channels, own=own)
        for name, given in zip(names, (left, right), strict=True)
    ]
    for name, given, view in zip(names, (left, right), views, strict=True):
        _check_side(name, view.pixels)
        if channels == "bgr":
            refuse_bgr(name, given, view.pixels)
    whites = {view.float_white for view in views} - {None}
    if len(whites) > 1:
        one, other = (f"0 to {view.float_white:g}" for view in views)
        raise InputError(
            f"{names[1]}: expected floats on the scale of the left image, {one}, got {other}; "
            "scale both alike"
        )
    left, right = (view.pixels for view in views)
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
        warn(
            f"{colour}: is in colour, but {grey} is grey, so both are used as grey; give both in "
            "colour if you have them",
        )
        left, right = as_grey(left), as_grey(right)
    return left, right


def as_disparity_map(
    array: ArrayLike, argument: str, shape: tuple[int, ...] | None = None
) -> Floats:
    """Return a float64 copy of a disparity map in which everything that is not finite is NaN.

    Arguments and errors are those of `check_disparity_map`.
    """
    # Float64 represents the difference of two float32 disparities exactly enough for thresholds.
    exact: Floats = check_disparity_map(array, argument, shape).astype(np.float64)
    infinite = np.isinf(exact)
    if infinite.any():  # rare, and writing through a mask takes longer than this test
        exact[infinite] = np.nan
    return exact


def check_disparity_map(
    array: ArrayLike, argument: str, shape: tuple[int, ...] | None = None
) -> NDArray[Any]:
    """Return an array if it can be a disparity map.

    Parameters
    ----------
    array
        What the caller passed.
    argument
        Its name, for error messages.
    shape
        Height and width that it must have, those of the argument `disparity`; None accepts any.

    Raises
    ------
    InputError
        If the array is not an (H, W) map of real numbers, or is empty or of another size.
    """
    refuse_masked(argument, array)
    values: NDArray[Any] = np.asarray(array)
    if values.ndim != 2 or values.size == 0:
        raise InputError(
            f"{argument}: expected a non-empty (rows, columns) array, got shape {values.shape}; "
            "pass one channel of one view."
        )
    if values.dtype.kind not in "fiu":
        raise InputError(
            f"{argument}: expected disparities in pixels as real numbers, got {values.dtype}; "
            "convert it to float32 with NaN where unknown."
        )
    if shape is not None and values.shape != shape:
        raise InputError(
            f"{argument}: expected the size of disparity, {shape[0]} rows x {shape[1]} columns, "
            f"got {values.shape[0]} rows x {values.shape[1]} columns; pass maps of one frame at "
            "one resolution."
        )
    return values


def size_text(image: NDArray[Any]) -> str:
    """Return an image's size as ``width×height``."""
    return f"{image.shape[1]}×{image.shape[0]}"
