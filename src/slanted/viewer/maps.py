"""Values that the page's 3D view paints and clips by: confidence, normals and colour maps."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from slanted.errors import InputError
from slanted.output.pictures import COLOUR_MAPS, colour_map
from slanted.runtime.opencv import cv2
from slanted.viewer.tiles import FASTEST, TEXTURE

if TYPE_CHECKING:
    from slanted.io import Calibration
    from slanted.result import Result
    from slanted.viewer.frames import Frame, Scene

MAPS = ("confidence", "normals")
"""The maps that a frame may have; a state on the way has no confidence."""


def map_picture(scene: Scene, frame: Frame, name: str) -> bytes:
    """Return a map of a frame as PNG, small enough for a graphics card.

    A confidence c is round(255 c). Normals are colours, see `colour_normals`.
    """
    result = frame.result
    if name == "normals":
        picture = colour_normals(result, scene.source(result).cameras)[:, :, ::-1]
        shrink = cv2.INTER_NEAREST  # the mean of two normals is that of no surface
    elif result.confidence is None:
        raise InputError("confidence: expected a result with a confidence, got one without")
    else:
        picture, shrink = np.rint(255 * result.confidence).astype(np.uint8), cv2.INTER_AREA
    height, width = picture.shape[:2]
    factor = TEXTURE / max(height, width)
    if factor < 1:
        size = (max(1, round(width * factor)), max(1, round(height * factor)))
        picture = cv2.resize(picture, size, interpolation=shrink)
    return bytes(cv2.imencode(".png", np.ascontiguousarray(picture), FASTEST)[1])


def plane_normals(result: Result, cameras: Calibration) -> NDArray[np.float64]:
    """Return the normal of each segment's plane in space, (S, 3), towards the cameras.

    The axes are those of the left camera: X right, Y down, Z forward. A plane at infinity, which
    has no normal, faces the cameras.
    """
    slope_u, slope_v, level = np.asarray(result.planes, np.float64).T
    centre_u, centre_v = np.asarray(result.regions.centre, np.float64).T
    # With u = fx X / Z + cx and disparity + doffs = fx b / Z, the plane d = α (u - ū) + β (v - v̄)
    # + γ is α fx X + β fy Y + (its value at the principal point + doffs) Z = fx b.
    at_centre = level + slope_u * (cameras.cx_pixels - centre_u)
    at_centre = at_centre + slope_v * (cameras.cy_pixels - centre_v) + cameras.doffs_pixels
    normals = np.stack([slope_u * cameras.fx_pixels, slope_v * cameras.fy_pixels, at_centre], 1)
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    facing: NDArray[np.float64] = np.where(lengths > 0, -normals, (0, 0, -1))
    return facing / np.where(lengths > 0, lengths, 1)


def colour_normals(result: Result, cameras: Calibration) -> NDArray[np.uint8]:
    """Paint the direction of each pixel's plane: red is its X, green its Y up, blue its Z back.

    A wall that faces the camera is blue, a floor green, a wall on the left red.
    """
    colours = 127.5 * (1 + plane_normals(result, cameras) * (1, -1, -1))
    painted: NDArray[np.uint8] = np.rint(colours).astype(np.uint8)[result.regions.label_image]
    return painted


@functools.cache
def colour_scales() -> dict[str, list[str]]:
    """Return the colour maps that the page offers, each of 256 colours from low to high."""
    return {
        name: ["#{:02x}{:02x}{:02x}".format(*colour) for colour in colour_map(name).tolist()]
        for name in COLOUR_MAPS
    }
