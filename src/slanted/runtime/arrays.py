"""Types of the arrays that kernels take."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int32]
"""Numbers of segments, edges, labels and pixels."""
Starts = NDArray[np.int64]
"""Start of each set in an array that holds many sets one after the other."""
Floats = NDArray[np.float64]
"""Costs, messages, planes and coordinates."""
