"""Layers: the ways in which a frame is painted, and their legends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

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
    margins_legend,
    planes_legend,
    rgb_or_grey,
)
from slanted.output.pixel_maps import pixel_flags
from slanted.output.pixel_pictures import (
    colour_depth,
    colour_deviation,
    colour_flags,
    depth_legend,
    deviation_legend,
    deviation_scale,
    flags_legend,
    occlusion_legend,
    paint_occlusion,
    paint_sky,
    sky_legend,
)
from slanted.output.space import LEAST_DISPARITY
from slanted.viewer.tiles import Layer

if TYPE_CHECKING:
    from slanted.result import Result
    from slanted.viewer.frames import Scene
    from slanted.viewer.others import Shown

Kind = TypeVar("Kind", bound=np.generic)
HIDING = ("disparity", "depth")
"""Layers that show only pixels of enough confidence."""
COLOURED = ("disparity", "depth", "truth", "matched", "deviation")
"""Layers whose colours can be chosen."""


@dataclass(frozen=True)
class Look:
    """How a layer is to look."""

    percent: int = 0
    """The least confidence of pixels that are shown, in percent."""
    colours: str = "viridis"
    """One of `slanted.output.pictures.COLOUR_MAPS`."""

    def of(self, name: str) -> Look:
        """Return the look without what makes no difference to a layer."""
        plain = Look()
        return Look(
            self.percent if name in HIDING else plain.percent,
            self.colours if name in COLOURED else plain.colours,
        )


def layer_names(scene: Scene, frame: Shown) -> tuple[str, ...]:
    """Return the layers that a frame has, in the order in which the page shows them."""
    result = frame.result
    there = {
        "image": True,
        "right": scene.right is not None,
        "disparity": True,
        "depth": scene.calibration is not None,
        "error": scene.truth is not None,
        "truth": scene.truth is not None,
        "matched": result is not None,
        "confidence": result is not None and result.confidence is not None,
        "deviation": result is not None and result.deviation is not None,
        "occlusion": result is not None,
        "flags": result is not None,
        "sky": _has_sky(frame),
        "segments": result is not None,
        "labels": result is not None,
        "planes": result is not None,
        "margins": result is not None
        and frame.is_final
        and bool(np.isfinite(result.margins).any()),
    }
    return tuple(name for name in KINDS if there[name])


def layer_title(name: str) -> str:
    """Return the name of a layer on its button."""
    return KINDS[name].title


def layer_legend(scene: Scene, frame: Shown, name: str, look: Look | None = None) -> Legend:
    """Return the legend of a layer."""
    return KINDS[name].legend(scene, frame, look or Look())


def paint_layer(scene: Scene, frame: Shown, name: str, look: Look | None = None) -> Layer:
    """Paint a frame at full size."""
    return KINDS[name].paint(scene, frame, look or Look())


def _has_sky(frame: Shown) -> bool:
    return (
        frame.result is not None and frame.result.sky is not None and bool(frame.result.sky.any())
    )


def _trusted(frame: Shown, look: Look) -> NDArray[np.float32]:
    result = frame.result
    if result is None or result.confidence is None:
        return frame.disparity
    return result.trusted_disparity(min(look.percent, 100) / 100)


def _disparity(scene: Scene, frame: Shown, look: Look) -> Layer:
    return Layer(colour_disparity(_trusted(frame, look), *scene.scale, look.colours))


def _depth(scene: Scene, frame: Shown, look: Look) -> Layer:
    if scene.calibration is None:
        raise InputError("depth: expected a calibrated pair, got one without; give --calib")
    depth = scene.calibration.depth(_trusted(frame, look), LEAST_DISPARITY)
    if frame.result is not None and frame.result.sky is not None:
        depth[frame.result.sky] = np.inf
    return Layer(colour_depth(depth, *scene.depths, look.colours))


def _image(scene: Scene, frame: Shown) -> NDArray[np.uint8]:
    return rgb_or_grey(scene.left, frame.disparity.shape)


def _labels(scene: Scene, frame: Shown, look: Look) -> Layer:
    result = _result(frame)
    lines = label_lines(result.regions, result.labels)
    return Layer(_image(scene, frame) // 2, lines, label_palette())


def _segments(scene: Scene, frame: Shown, look: Look) -> Layer:
    lines = boundary_lines(_result(frame).regions.label_image).astype(np.uint8)
    return Layer(_image(scene, frame), lines, np.array([BOUNDARY_COLOUR], np.uint8))


def _sky(scene: Scene, frame: Shown, look: Look) -> Layer:
    return Layer(paint_sky(_image(scene, frame), _known(_result(frame).sky, "sky")))


def _deviation(scene: Scene, frame: Shown, look: Look) -> Layer:
    deviation = _known(_result(frame).deviation, "deviation")
    return Layer(colour_deviation(deviation, deviation_scale(deviation), look.colours))


def _deviation_legend(scene: Scene, frame: Shown, look: Look) -> Legend:
    deviation = _known(_result(frame).deviation, "deviation")
    return deviation_legend(deviation_scale(deviation), look.colours)


def _image_legend(scene: Scene, frame: Shown, look: Look) -> Legend:
    return Legend("left image" if scene.left is not None else "the left image is missing")


def _result(frame: Shown) -> Result:
    if frame.result is None:
        raise InputError(f"{frame.title}: expected a result, got a disparity map alone")
    return frame.result


def _known(array: NDArray[Kind] | None, name: str) -> NDArray[Kind]:
    if array is None:
        raise InputError(f"{name}: expected a frame that has it, got one without")
    return array


@dataclass(frozen=True)
class _Kind:
    """A layer: its name for people, how it is painted, and its legend."""

    title: str
    paint: Callable[[Scene, Shown, Look], Layer]
    legend: Callable[[Scene, Shown, Look], Legend]


KINDS = {
    "image": _Kind("left", lambda scene, frame, look: Layer(_image(scene, frame)), _image_legend),
    "right": _Kind(
        "right",
        lambda scene, frame, look: Layer(rgb_or_grey(scene.right, frame.disparity.shape)),
        lambda scene, frame, look: Legend("right image"),
    ),
    "disparity": _Kind(
        "disparity",
        _disparity,
        lambda scene, frame, look: disparity_legend(*scene.scale, colours=look.colours),
    ),
    "depth": _Kind(
        "depth",
        _depth,
        lambda scene, frame, look: depth_legend(
            *scene.depths, look.colours, with_sky=_has_sky(frame)
        ),
    ),
    "error": _Kind(
        "error",
        lambda scene, frame, look: Layer(
            colour_error(frame.disparity, _known(scene.truth, "truth"))
        ),
        lambda scene, frame, look: error_legend(),
    ),
    "truth": _Kind(
        "ground truth",
        lambda scene, frame, look: Layer(
            colour_disparity(_known(scene.truth, "truth"), *scene.scale, look.colours)
        ),
        lambda scene, frame, look: disparity_legend(*scene.scale, "ground truth, px", look.colours),
    ),
    "matched": _Kind(
        "matches",
        lambda scene, frame, look: Layer(
            colour_disparity(_result(frame).matched, *scene.scale, look.colours)
        ),
        lambda scene, frame, look: disparity_legend(*scene.scale, "matches, px", look.colours),
    ),
    "confidence": _Kind(
        "confidence",
        lambda scene, frame, look: Layer(
            colour_confidence(_known(_result(frame).confidence, "confidence"))
        ),
        lambda scene, frame, look: confidence_legend(),
    ),
    "deviation": _Kind("deviation", _deviation, _deviation_legend),
    "occlusion": _Kind(
        "occlusion",
        lambda scene, frame, look: Layer(
            paint_occlusion(_image(scene, frame), pixel_flags(_result(frame)))
        ),
        lambda scene, frame, look: occlusion_legend(),
    ),
    "flags": _Kind(
        "validity",
        lambda scene, frame, look: Layer(colour_flags(pixel_flags(_result(frame)))),
        lambda scene, frame, look: flags_legend(),
    ),
    "sky": _Kind("sky", _sky, lambda scene, frame, look: sky_legend()),
    "segments": _Kind(
        "segments",
        _segments,
        lambda scene, frame, look: Legend("segments", swatches=regions_legend().swatches[:1]),
    ),
    "labels": _Kind("boundaries", _labels, lambda scene, frame, look: labels_legend()),
    "planes": _Kind(
        "planes",
        lambda scene, frame, look: Layer(
            colour_planes(_result(frame).regions, _result(frame).planes)
        ),
        lambda scene, frame, look: planes_legend(),
    ),
    "margins": _Kind(
        "margins",
        lambda scene, frame, look: Layer(
            colour_margins(_result(frame).regions, _result(frame).margins)
        ),
        lambda scene, frame, look: margins_legend(_result(frame).margins),
    ),
}
"""All layers by name, in the order in which they are shown."""
