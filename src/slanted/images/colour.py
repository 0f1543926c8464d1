"""Images as segmentation wants them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cv2
import numpy as np
from numpy.typing import NDArray

from slanted.images.checks import as_8_bit

if TYPE_CHECKING:
    from slanted.images import Image


def as_rgb8(image: Image) -> NDArray[np.uint8]:
    """Return (H, W, 3) 8-bit RGB of any image that slanted reads."""
    eight, _ = as_8_bit(image, image)
    return cv2.cvtColor(eight, cv2.COLOR_GRAY2RGB) if eight.ndim == 2 else eight


def lab_planes(image: Image) -> NDArray[np.uint8]:
    """Return (3, H, W) 8-bit Lab planes, L stretched to 0 … 255, a and b shifted by 128."""
    lab = cv2.cvtColor(np.ascontiguousarray(as_rgb8(image)), cv2.COLOR_RGB2LAB)
    return np.ascontiguousarray(lab.transpose(2, 0, 1))
