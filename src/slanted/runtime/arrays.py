"""Array types that functions and kernels take, and a check of arrays of users."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from slanted.errors import InputError

Bytes = NDArray[np.uint8]
"""Grey values, colours, costs and states."""
Flags = NDArray[np.bool_]
"""Masks, and one flag for each segment."""
Ints = NDArray[np.int32]
"""Numbers of segments, edges, labels and pixels; label images have this type."""
Starts = NDArray[np.int64]
"""Offsets of the sets in an array that holds many, one after the other; also counts."""
Floats = NDArray[np.float64]
"""Costs, messages, planes and coordinates."""
Float32s = NDArray[np.float32]
"""Means, strengths and angles in single precision."""
DisparityMap = NDArray[np.float32]
"""(H, W) disparity in pixels, NaN where unknown; also a confidence or weight of each pixel."""


def refuse_masked(name: str, given: Any) -> None:
    """Refuse an array of NumPy with masked values, whose mask would be lost without a word.

    Raises
    ------
    InputError
        If any value is masked.
    """
    if isinstance(given, np.ma.MaskedArray) and (count := np.count_nonzero(given.mask)):
        raise InputError(
            f"{name}: expected an array without masked values, got {count} of them; fill them "
            "first, as with array.filled(…)"
        )
