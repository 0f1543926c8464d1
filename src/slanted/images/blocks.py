"""Maps in blocks of pixels: what a smaller image is made of."""

from __future__ import annotations

from typing import Any

from slanted.runtime.opencv import cv2


def whole_blocks(values: Any, side: int) -> Any:
    """Return a map whose last row and column are repeated until it consists of whole blocks."""
    below, beside = (-length % side for length in values.shape[:2])
    if not below and not beside:
        return values
    return cv2.copyMakeBorder(values, 0, below, 0, beside, cv2.BORDER_REPLICATE)


def block_means(values: Any, side: int) -> Any:
    """Return the means of blocks of pixels."""
    values = whole_blocks(values, side)
    height, width = (length // side for length in values.shape[:2])
    return cv2.resize(values, (width, height), interpolation=cv2.INTER_AREA)
