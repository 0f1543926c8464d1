"""From planes back to pixels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slanted.inference.plane_kernels import draw_planes, find_hidden
from slanted.regions.structure import Floats, Regions


def draw_disparity(regions: Regions, planes: Floats, lowest: float = 0.0) -> NDArray[np.float32]:
    """Return (H, W) disparity of every pixel on the plane of its segment (paper, Eq. 1).

    Where a plane passes below `lowest`, behind infinity, the pixel gets that.
    """
    disparity = np.empty(regions.labels.shape, np.float32)
    draw_planes(regions.labels, regions.centre, planes, disparity)
    return np.maximum(disparity, np.float32(lowest))


def hidden_pixels(disparity: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Return (H, W), which pixels of the left view the right one does not show."""
    hidden = np.empty(disparity.shape, np.bool_)
    find_hidden(disparity, hidden)
    return hidden
