"""Array types that functions and kernels take."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

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
