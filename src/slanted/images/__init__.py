"""Images: checks, conversions (grey, 8 bit, Lab) and census words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Image = NDArray[np.uint8] | NDArray[np.uint16]
    GreyPair = tuple[NDArray[np.uint8], NDArray[np.uint8]]
