"""Coloured point clouds of disparity maps, and the PLY files that hold them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slanted.errors import InputError
from slanted.io.calibration import Calibration
from slanted.io.files import write_bytes

_POSITION = (("x", "<f4"), ("y", "<f4"), ("z", "<f4"))
_COLOUR = (("red", "u1"), ("green", "u1"), ("blue", "u1"))
_PLY_TYPES = {"<f4": "float", "u1": "uchar"}


def point_cloud(
    disparity: NDArray[np.floating[Any]],
    image: NDArray[np.uint8 | np.uint16],
    calibration: Calibration,
    least: float = 0.0,
) -> tuple[NDArray[np.float32], NDArray[np.uint8]]:
    """Return the known pixels as coloured points.

    Parameters
    ----------
    disparity
        ``(H, W)``, pixels, NaN where unknown.
    image
        The left image, ``(H, W)`` or ``(H, W, 3)`` RGB, uint8 or uint16.
    calibration
        The cameras.
    least
        As for `Calibration.depth`.

    Returns
    -------
    points : NDArray[np.float32]
        ``(N, 3)``, metres: X right, Y down, Z forward.
    colours : NDArray[np.uint8]
        ``(N, 3)``, RGB.
    """
    disparity, image = np.asarray(disparity), np.asarray(image)
    if image.shape[2:] not in ((), (3,)) or image.dtype not in (np.uint8, np.uint16):
        raise InputError(
            "image: expected a uint8 or uint16 array of shape (H, W) or (H, W, 3),"
            f" got {image.dtype} {image.shape}"
        )
    if disparity.ndim != 2 or image.shape[:2] != disparity.shape:
        raise InputError(
            "image: expected the size of the disparity map, but the image is"
            f" {image.shape[:2]} and the map {disparity.shape} (rows, columns)"
        )
    points = calibration.points(disparity, least)
    is_known = np.isfinite(points).all(axis=2)
    samples = image[is_known]
    if samples.ndim == 1:
        samples = np.repeat(samples[:, np.newaxis], 3, axis=1)
    shift = 8 if image.dtype == np.uint16 else 0
    return points[is_known], (samples >> shift).astype(np.uint8)


def write_ply(
    path: Path | str,
    points: NDArray[np.floating[Any]],
    colours: NDArray[np.uint8] | None = None,
) -> None:
    """Write a point cloud as binary little-endian PLY; see `encode_ply`."""
    write_bytes(path, encode_ply(points, colours))


def encode_ply(
    points: NDArray[np.floating[Any]], colours: NDArray[np.uint8] | None = None
) -> bytes:
    """Return a point cloud as binary little-endian PLY.

    Parameters
    ----------
    points
        ``(N, 3)``, finite.
    colours
        ``(N, 3)`` uint8 RGB, or None.

    Raises
    ------
    InputError
        If an array has another shape or type.
    """
    points = np.asarray(points)
    if points.ndim != 2 or points.shape[1] != 3 or points.dtype.kind != "f":
        raise InputError(
            f"points: expected floats of shape (N, 3), got {points.dtype} {points.shape}"
        )
    if not np.isfinite(points).all():
        raise InputError("points: expected finite coordinates; drop the unknown points first")
    fields = list(_POSITION)
    if colours is not None:
        colours = np.asarray(colours)
        if colours.shape != points.shape or colours.dtype != np.uint8:
            raise InputError(
                f"colours: expected uint8 of shape {points.shape}, got {colours.dtype}"
                f" {colours.shape}"
            )
        fields += _COLOUR
    vertices = np.empty(len(points), np.dtype(fields))
    for axis, (name, _) in enumerate(_POSITION):
        vertices[name] = points[:, axis]
    if colours is not None:
        for channel, (name, _) in enumerate(_COLOUR):
            vertices[name] = colours[:, channel]
    return _ply_header(len(points), fields) + vertices.tobytes()


def _ply_header(count: int, fields: list[tuple[str, str]]) -> bytes:
    properties = [f"property {_PLY_TYPES[kind]} {name}" for name, kind in fields]
    lines = ["ply", "format binary_little_endian 1.0", f"element vertex {count}"]
    return "\n".join([*lines, *properties, "end_header", ""]).encode("ascii")
