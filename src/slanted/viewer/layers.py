"""Layers: a frame painted in one of several ways, and cut into tiles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from slanted.errors import InputError
from slanted.output.legends import Legend
from slanted.output.overlays import (
    BOUNDARY_COLOUR,
    boundary_lines,
    label_lines,
    label_palette,
    labels_legend,
    regions_legend,
)
from slanted.output.pictures import (
    colour_confidence,
    colour_disparity,
    colour_error,
    colour_margins,
    colour_planes,
    confidence_legend,
    disparity_legend,
    error_legend,
    jpeg,
    margins_legend,
    planes_legend,
)
from slanted.runtime.opencv import cv2
from slanted.viewer.cache import Cache

if TYPE_CHECKING:
    from slanted.viewer.frames import Frame, Scene

TILE = 512
"""Pixels along the side of a tile."""
TEXTURE = 2048
"""Largest side, in pixels, of a picture that is laid over the mesh."""
CACHE_BYTES = 600_000_000
HIDING = "disparity"
"""The layer that shows only pixels of enough confidence."""
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


def layer_names(scene: Scene, frame: Frame) -> tuple[str, ...]:
    """Return the layers that a frame has, in the order in which the page shows them."""
    names = ["image", "disparity", "labels", "segments", "planes"]
    if frame.result.confidence is not None:
        names.append("confidence")
    if frame.is_final and np.isfinite(frame.result.margins).any():
        names.append("margins")
    if scene.truth is not None:
        names += ["error", "truth"]
    return tuple(names)


def layer_legend(scene: Scene, frame: Frame, name: str) -> Legend:
    """Return the legend of a layer."""
    return KINDS[name].legend(scene, frame)


def paint_layer(scene: Scene, frame: Frame, name: str, percent: int = 0) -> Layer:
    """Paint a frame at full size; its disparity only where the confidence is at least `percent`."""
    return _disparity(scene, frame, percent) if name == HIDING else KINDS[name].paint(scene, frame)


def _disparity(scene: Scene, frame: Frame, percent: int = 0) -> Layer:
    disparity = frame.result.trusted_disparity(frame.least(percent))
    return Layer(colour_disparity(disparity, *scene.scale))


def _image(scene: Scene, frame: Frame) -> NDArray[np.uint8]:
    return scene.source(frame.result).rgb()


def _paint_labels(scene: Scene, frame: Frame) -> Layer:
    lines = label_lines(frame.result.regions, frame.result.labels)
    return Layer(_image(scene, frame) // 2, lines, label_palette())


def _paint_segments(scene: Scene, frame: Frame) -> Layer:
    lines = boundary_lines(frame.result.regions.label_image).astype(np.uint8)
    return Layer(_image(scene, frame), lines, np.array([BOUNDARY_COLOUR], np.uint8))


def _truth(scene: Scene) -> NDArray[np.float32]:
    if scene.truth is None:
        raise InputError("truth: expected a frame with ground truth; give --ground-truth")
    return scene.truth


def _confidence(frame: Frame) -> NDArray[np.float32]:
    if frame.result.confidence is None:
        raise InputError("confidence: expected a result with a confidence, got one without")
    return frame.result.confidence


@dataclass(frozen=True)
class _Kind:
    """How a layer is painted, and its legend."""

    paint: Callable[[Scene, Frame], Layer]
    legend: Callable[[Scene, Frame], Legend]


KINDS = {
    "image": _Kind(
        lambda scene, frame: Layer(_image(scene, frame)),
        lambda scene, frame: Legend(
            "left image" if scene.left is not None else "the left image is missing"
        ),
    ),
    HIDING: _Kind(_disparity, lambda scene, frame: disparity_legend(*scene.scale)),
    "labels": _Kind(_paint_labels, lambda scene, frame: labels_legend()),
    "segments": _Kind(
        _paint_segments,
        lambda scene, frame: Legend("segments", swatches=regions_legend().swatches[:1]),
    ),
    "planes": _Kind(
        lambda scene, frame: Layer(colour_planes(frame.result.regions, frame.result.planes)),
        lambda scene, frame: planes_legend(),
    ),
    "confidence": _Kind(
        lambda scene, frame: Layer(colour_confidence(_confidence(frame))),
        lambda scene, frame: confidence_legend(),
    ),
    "margins": _Kind(
        lambda scene, frame: Layer(colour_margins(frame.result.regions, frame.result.margins)),
        lambda scene, frame: margins_legend(frame.result.margins),
    ),
    "error": _Kind(
        lambda scene, frame: Layer(colour_error(frame.result.disparity, _truth(scene))),
        lambda scene, frame: error_legend(),
    ),
    "truth": _Kind(
        lambda scene, frame: Layer(colour_disparity(_truth(scene), *scene.scale)),
        lambda scene, frame: disparity_legend(*scene.scale, title="ground truth, px"),
    ),
}
"""All layers by name."""


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
