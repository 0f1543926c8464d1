"""The pixels of the messages ``sensor_msgs/Image`` and ``sensor_msgs/CompressedImage``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from slanted.errors import FileError, InputError, did_you_mean

if TYPE_CHECKING:
    from slanted.images import Image


@dataclass(frozen=True)
class Encoding:
    """How the pixels of an image message are stored."""

    kind: type[np.uint8 | np.uint16]
    channels: int = 1
    order: str = ""
    """``rgb``, ``bgr``, or for Bayer patterns OpenCV's name of the first four pixels."""


ENCODINGS = {
    "mono8": Encoding(np.uint8),
    "8UC1": Encoding(np.uint8),
    "mono16": Encoding(np.uint16),
    "16UC1": Encoding(np.uint16),
    "rgb8": Encoding(np.uint8, 3, "rgb"),
    "bgr8": Encoding(np.uint8, 3, "bgr"),
    "8UC3": Encoding(np.uint8, 3, "bgr"),  # OpenCV's order, as whoever writes this has it
    "rgba8": Encoding(np.uint8, 4, "rgb"),
    "bgra8": Encoding(np.uint8, 4, "bgr"),
    "rgb16": Encoding(np.uint16, 3, "rgb"),
    "bgr16": Encoding(np.uint16, 3, "bgr"),
    **{
        f"bayer_{pattern}{bits}": Encoding(kind, 1, pattern.upper())
        for pattern in ("rggb", "bggr", "gbrg", "grbg")
        for bits, kind in ((8, np.uint8), (16, np.uint16))
    },
}
"""Encodings that are understood, by ROS's names."""


def image_of(name: str, message: Any) -> Image:
    """Return the pixels of an image message, compressed or not, as grey or RGB.

    Parameters
    ----------
    name
        What messages call it, such as its topic and time.
    message
        Anything with the fields of ``sensor_msgs/Image`` or ``sensor_msgs/CompressedImage``: a
        message of rclpy or of rosbags.

    Raises
    ------
    InputError
        If its encoding is not one of `ENCODINGS`, or it lacks pixels.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> fields = {"height": 2, "width": 3, "encoding": "mono8", "is_bigendian": 0, "step": 4}
    >>> image_of("/left", SimpleNamespace(**fields, data=bytes(range(8))))
    array([[0, 1, 2],
           [4, 5, 6]], dtype=uint8)
    """
    return _decoded(name, message) if hasattr(message, "format") else _unpacked(name, message)


def _unpacked(name: str, message: Any) -> Image:
    encoding = ENCODINGS.get(message.encoding)
    if encoding is None:
        hint = did_you_mean(message.encoding, ENCODINGS, f"expected {', '.join(ENCODINGS)}")
        raise InputError(f"{name}: the encoding {message.encoding!r} is not understood{hint}")
    height, width, step = int(message.height), int(message.width), int(message.step)
    kind = np.dtype(encoding.kind).newbyteorder(">" if message.is_bigendian else "<")
    used = width * encoding.channels * kind.itemsize
    data = np.frombuffer(message.data, np.uint8)
    if not height or not width or step < used or data.size < step * height:
        raise InputError(
            f"{name}: expected {height} rows of {width} {message.encoding} pixels, {used} bytes "
            f"each, got {data.size} bytes in rows of {step}; record it again"
        )
    # Rows may be padded, so that each begins at a convenient address.
    rows = np.ascontiguousarray(data[: step * height].reshape(height, step)[:, :used])
    pixels = rows.view(kind).astype(encoding.kind, copy=False)
    return _as_grey_or_rgb(pixels.reshape(height, width, encoding.channels), encoding.order)


def _as_grey_or_rgb(pixels: NDArray[Any], order: str) -> Image:
    if order == "":
        return pixels[..., 0]
    if order in ("rgb", "bgr"):
        return np.ascontiguousarray(pixels[..., 2::-1] if order == "bgr" else pixels[..., :3])
    from slanted.runtime.opencv import cv2

    mosaic = pixels[..., 0]
    if min(mosaic.shape) < 3:  # smaller than the pattern's neighbourhood
        return mosaic
    colour: Image = cv2.cvtColor(mosaic, getattr(cv2, f"COLOR_Bayer{order}2RGB"))
    return colour


def _decoded(name: str, message: Any) -> Image:
    """Return the pixels of a JPEG or PNG, whose transport ROS calls ``compressed``."""
    from slanted.io.containers import read_header
    from slanted.io.images import decode_samples

    data = np.frombuffer(message.data, np.uint8).tobytes()
    try:
        image = decode_samples(Path(name), data, read_header(Path(name), data))
    except FileError as error:
        raise InputError(f"{name}: the compressed image {error.problem}") from error
    if image.dtype not in (np.uint8, np.uint16):
        raise InputError(
            f"{name}: expected a compressed image of 8 or 16 bits, got {image.dtype}; is it depth?"
        )
    return image
