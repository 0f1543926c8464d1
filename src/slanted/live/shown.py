"""What the page gets of a frame: its numbers, pictures and cloud, as one answer.

One answer, because pictures and a cloud that are asked for one by one would be of several frames.
It is the length of a JSON text (32 bits, little-endian), the text, and the parts that it lists.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from slanted.output.pictures import jpeg
from slanted.output.result_data import json_text
from slanted.viewer.frames import Scene, final_frame
from slanted.viewer.geometry import cameras_data, pack_cloud
from slanted.viewer.layers import layer_legend, layer_names, paint_layer

if TYPE_CHECKING:
    from slanted.live.session import LiveFrame, LiveSession

LAYERS = ("image", "disparity", "confidence")
MOST_WIDTH = 1280
"""Pixels; wider pictures are shrunk."""
QUALITY = 85
MOST_POINTS = 400_000
"""Points of a cloud; more are not drawn in time."""

Parts = tuple[dict[str, Any], dict[str, bytes]]
"""What is told of a frame, and its parts by name."""


def describe(session: LiveSession) -> dict[str, Any]:
    """Return what the page shows beside the frame."""
    state = session.state()
    names = ("frames", "failed", "dropped", "rate", "latency", "latency_frames", "seconds")
    told = {name: getattr(state, name) for name in names}
    return {"name": session.name, **told, "troubles": state.troubles, "ended": state.ended}


def parts_of(name: str, frame: LiveFrame, points: int) -> Parts:
    """Return a frame as pictures and a cloud of at most so many points."""
    result = frame.result
    scene = Scene(name, result.left, result.right, result.calibration, None, frame.scale)
    shown = final_frame(str(frame.number), result)
    height, width = result.disparity.shape
    layers = [layer for layer in LAYERS if layer in layer_names(scene, shown)]
    told = {
        "number": frame.number,
        "width": width,
        "height": height,
        "unit": "m" if result.calibration is not None else "baselines",
        "cameras": cameras_data(scene.source(result).cameras),
        "legends": {layer: layer_legend(scene, shown, layer).as_data() for layer in layers},
        "warnings": frame.warnings,
    }
    parts = {
        layer: jpeg(paint_layer(scene, shown, layer).picture, MOST_WIDTH, QUALITY)
        for layer in layers
    }
    parts["cloud"] = pack_cloud(scene, shown, min(points, MOST_POINTS))
    return told, parts


def as_bytes(state: dict[str, Any], parts: Parts | None) -> bytes:
    """Return the answer; without a new frame it has no parts."""
    told, contents = (None, {}) if parts is None else parts
    lengths = [[name, len(content)] for name, content in contents.items()]
    text = json_text({**state, "frame": told, "parts": lengths}).encode()
    return b"".join([np.uint32(len(text)).astype("<u4").tobytes(), text, *contents.values()])
