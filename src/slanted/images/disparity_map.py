"""The checks that every array of this package passes at the door."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from slanted.errors import InputError


def as_disparity_map(
    array: npt.ArrayLike, argument: str, shape: tuple[int, ...] | None = None
) -> npt.NDArray[np.float64]:
    """Return a two-dimensional float64 copy in which everything not finite is NaN.

    Parameters
    ----------
    array
        What the caller passed.
    argument
        Its name, for the message.
    shape
        Rows and columns that it must have, those of `disparity`; None accepts any.

    Raises
    ------
    InputError
        If it is not a map of real numbers, is empty or has another size.
    """
    values: npt.NDArray[Any] = np.asarray(array)
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
            f"{argument}: expected the size of disparity, {_size(shape)}, got "
            f"{_size(values.shape)}; pass maps of one frame at one resolution."
        )
    # Float64 holds every difference of two float32 disparities that a threshold could fall on.
    exact = values.astype(np.float64)
    infinite = np.isinf(exact)
    if infinite.any():  # seldom, and writing to a mask takes longer than looking
        exact[infinite] = np.nan
    return exact


def _size(shape: tuple[int, ...]) -> str:
    rows, columns = shape
    return f"{rows} rows x {columns} columns"
