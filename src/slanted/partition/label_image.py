"""Checks of label images, and the conversion of users' label images."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from slanted.errors import InputError
from slanted.runtime.arrays import Ints, refuse_masked


def check_label_image(label_image: Any, size: tuple[int, int] | None = None) -> Ints:
    """Return a label image as a new int32 array, or raise an error that says what is wrong.

    Parameters
    ----------
    label_image
        (H, W) integers 0 … n−1; each must occur and be 4-connected.
    size
        Height and width of the left image, if known.

    Raises
    ------
    InputError
        If a segment is missing or in several pieces, or the array is not a label image of that
        size.
    """
    from slanted.partition.run_kernels import count_pieces

    array = _integer_image(label_image, size)
    lowest, highest = int(array.min()), int(array.max())
    if lowest < 0:
        raise InputError(
            f"label image: expected segments numbered from 0, got {lowest}; renumber them with "
            "slanted.partition.label_image.label_image_from_user"
        )
    if highest >= array.size:  # more labels than pixels: counting them would need too much memory
        raise _missing(array, highest)
    checked = np.array(array, np.int32, order="C")
    pieces = count_pieces(checked, highest + 1)
    if pieces.min() == 0:
        raise _missing(array, highest)
    if pieces.max() > 1:
        torn = int(np.argmax(pieces > 1))
        raise InputError(
            f"label image: expected 4-connected segments, got segment {torn} in {pieces[torn]} "
            "pieces; split it with slanted.partition.label_image.label_image_from_user"
        )
    return checked


def _missing(array: NDArray[np.integer], highest: int) -> InputError:
    present = np.unique(array)
    missing = int(np.argmax(present != np.arange(len(present))))
    return InputError(
        f"label image: expected every number from 0 to {highest}, got none of {missing}; renumber "
        "the segments with slanted.partition.label_image.label_image_from_user"
    )


def label_image_from_user(array: Any, size: tuple[int, int]) -> Ints:
    """Convert a user's label image, whose numbers may have gaps or be negative.

    Parameters
    ----------
    array
        (H, W) integers, any values.
    size
        Height and width of the left image.

    Returns
    -------
    label_image
        (H, W), 0 … n−1 in the raster order of first pixels; each 4-connected piece of equal
        values becomes one segment.

    Raises
    ------
    InputError
        If the array does not hold integers or has another size than the left image.
    """
    from slanted.partition.connectivity import split_connected

    return split_connected(_integer_image(array, size))


def _integer_image(label_image: Any, size: tuple[int, int] | None) -> NDArray[np.integer]:
    refuse_masked("label image", label_image)
    array = np.asarray(label_image)
    if array.dtype.kind not in "iu":
        raise InputError(
            f"label image: expected integers, got {array.dtype}; round them and convert to int32"
        )
    if array.ndim != 2 or array.size == 0:
        raise InputError(
            f"label image: expected one number per pixel, a non-empty (H, W) array, got shape "
            f"{array.shape}; decode a colour-coded label image first"
        )
    if size is not None and array.shape != tuple(size):
        raise InputError(
            f"label image: expected the size of the left image, {size[1]}×{size[0]}, got "
            f"{array.shape[1]}×{array.shape[0]}; pass the segments of that image"
        )
    return array
