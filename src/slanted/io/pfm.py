"""Portable float maps (PFM) with one channel.

OpenCV is not used, because it divides every value by the scale in the header: where that is
0.5, OpenCV 5.0 reads a stored 3.0 as 6.0.
"""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from slanted.errors import FileError
from slanted.io.image_header import MAX_PIXELS

_HEADER = re.compile(rb"P([fF])\s+(\S{1,40})\s+(\S{1,40})\s+(\S{1,40})(?:\r\n|\s)")


def decode(path: Path, data: bytes) -> NDArray[np.float32]:
    """Return the ``(H, W)`` values as stored, top row first.

    Only the sign of the header's scale matters: it is the byte order. Writers fill in any magnitude
    (1/255 in Middlebury's files), and nothing is multiplied by it.
    """
    width, height, scale, offset_bytes = _parse_header(path, data)
    expected_bytes, found_bytes = 4 * width * height, len(data) - offset_bytes
    if found_bytes != expected_bytes:
        cause = "truncated" if found_bytes < expected_bytes else "damaged"
        raise FileError(
            path,
            f"the PFM file is {cause}, {width} × {height} pixels need {expected_bytes} bytes, but"
            f" {found_bytes} follow its header; fetch it again",
        )
    stored = np.frombuffer(data, "<f4" if scale < 0 else ">f4", offset=offset_bytes)
    return stored.reshape(height, width)[::-1].astype(np.float32)


def encode(values: NDArray[np.float32]) -> bytes:
    """Encode an ``(H, W)`` array, top row first, as a little-endian PFM file of scale −1."""
    height, width = values.shape
    return b"Pf\n%d %d\n-1.0\n" % (width, height) + values[::-1].astype("<f4").tobytes()


def _parse_header(path: Path, data: bytes) -> tuple[int, int, float, int]:
    """Return width, height, scale and the header's length in bytes."""
    found = _HEADER.match(data)
    if found is None:
        raise FileError(
            path,
            "expected a PFM header ('Pf', width, height and scale), but the file starts with"
            f" {data[:16]!r}; check that it is a PFM file",
        )
    kind, width_text, height_text, scale_text = found.groups()
    if kind == b"F":
        raise FileError(
            path, "expected one channel ('Pf'), but this PFM has three ('PF'); keep only one"
        )
    width, height = _dimension(path, "width", width_text), _dimension(path, "height", height_text)
    if width * height > MAX_PIXELS:
        raise FileError(
            path,
            f"expected at most {MAX_PIXELS} pixels, but the PFM header says {width} × {height};"
            " the file is damaged",
        )
    try:
        scale = float(scale_text)
    except ValueError:
        scale = math.nan
    if not math.isfinite(scale) or scale == 0.0:
        raise FileError(
            path,
            "expected a PFM scale other than zero, whose sign is the byte order, but it is"
            f" {scale_text.decode('latin-1')!r}; write -1.0 for little-endian",
        )
    return width, height, scale, found.end()


def _dimension(path: Path, name: str, text: bytes) -> int:
    # int() would also accept '1_0' and '+5', which no PFM header has.
    if not re.fullmatch(rb"[0-9]{1,10}", text) or int(text) < 1:
        raise FileError(
            path,
            f"expected a PFM {name} of 1 pixel or more, but it is {text.decode('latin-1')!r};"
            " the file is damaged",
        )
    return int(text)
