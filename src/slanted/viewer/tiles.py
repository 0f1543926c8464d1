"""Tiles: a painted layer in parts and at smaller sizes, as the page asks for it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slanted.output.pictures import jpeg
from slanted.runtime.opencv import cv2
from slanted.viewer.cache import Cache

TILE = 512
"""Pixels along the side of a tile."""
TEXTURE = 2048
"""Largest side, in pixels, of a picture that is laid over the mesh."""
CACHE_BYTES = 600_000_000
FASTEST = (cv2.IMWRITE_PNG_COMPRESSION, 1)


@dataclass(frozen=True, eq=False)
class Layer:
    """A painted frame: a picture, and lines that must not fade when it shrinks."""

    picture: NDArray[np.uint8]  # (H, W, 3)
    # (H, W) 0 for no line, otherwise 1 + the index of its colour; where lines meet, the larger
    # number wins
    lines: NDArray[np.uint8] | None = None
    palette: NDArray[np.uint8] | None = None  # (K, 3) colours of the lines

    @property
    def nbytes(self) -> int:
        """The memory that the layer takes."""
        return self.picture.nbytes + (0 if self.lines is None else self.lines.nbytes)


def cut_tile(layer: Layer, level: int, column: int, row: int) -> bytes | None:
    """Return a tile as PNG, or None if it lies beyond the picture's border.

    Level 0 is full size, and each further level halves it; `column` and `row` count the tiles of a
    level.
    """
    side = TILE << level
    window = np.s_[row * side : (row + 1) * side, column * side : (column + 1) * side]
    height, width = layer.picture[window].shape[:2]
    if not height or not width:
        return None
    # Round up, so that a border of less than a pixel is not lost.
    size = (-(-width >> level), -(-height >> level))
    lines = None if layer.lines is None else layer.lines[window]
    small = _shrunk(Layer(layer.picture[window], lines, layer.palette), size)
    return bytes(cv2.imencode(".png", small[:, :, ::-1], FASTEST)[1])


def texture(layer: Layer) -> bytes:
    """Return a whole layer as JPEG, small enough for a graphics card."""
    height, width = layer.picture.shape[:2]
    factor = min(1.0, TEXTURE / max(height, width))
    size = (max(1, round(width * factor)), max(1, round(height * factor)))
    return jpeg(_shrunk(layer, size), TEXTURE, 92)


def _shrunk(layer: Layer, size: tuple[int, int]) -> NDArray[np.uint8]:
    """Return a layer at another size; its lines keep their width on the screen."""
    height, width = layer.picture.shape[:2]
    factor = max(1, round(width / size[0]), round(height / size[1]))
    picture = layer.picture
    if factor > 1:
        picture = cv2.resize(picture, size, interpolation=cv2.INTER_AREA)
    if layer.lines is None or layer.palette is None:
        return picture
    lines = layer.lines
    if factor > 1:
        # A small pixel takes the largest number of the pixels that it replaces.
        lines = cv2.dilate(lines, np.ones((factor, factor), np.uint8), anchor=(0, 0))
        lines = cv2.resize(lines, size, interpolation=cv2.INTER_NEAREST)
    painted: NDArray[np.uint8] = picture.copy()
    painted[lines > 0] = layer.palette[lines[lines > 0] - 1]
    return painted


def layer_cache(most_bytes: int = CACHE_BYTES) -> Cache[Layer]:
    """Return a cache for painted layers."""
    return Cache(most_bytes, lambda layer: layer.nbytes)
