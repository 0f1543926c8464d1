"""Portable anymaps (PGM and PPM), plain and binary.

Read here rather than by OpenCV, so that every OpenCV gives the numbers that are in the file,
whatever the largest value of its header, and so that its size is checked once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from slanted.errors import FileError

_SPACE = rb"(?:\s|#[^\n]*\n)+"
_HEADER = re.compile(
    rb"P([2356])" + _SPACE + rb"(\d{1,9})" + _SPACE + rb"(\d{1,9})" + _SPACE + rb"(\d{1,9})\s"
)

_LONGEST_WORD = 12


@dataclass(frozen=True)
class PnmHeader:
    """Header of a PGM or PPM file.

    Parameters
    ----------
    is_plain
        Whether values are written as decimal text.
    width_pixels, height_pixels, channels
        Shape.
    max_value
        Largest value a sample may have.
    offset_bytes
        Where the samples start.
    """

    is_plain: bool
    width_pixels: int
    height_pixels: int
    channels: int
    max_value: int
    offset_bytes: int


def read_header(path: Path, data: bytes) -> PnmHeader:
    """Parse the header and check that binary samples are all there.

    Parameters
    ----------
    path
        The file, for messages.
    data
        Its whole content.

    Returns
    -------
    PnmHeader
        The header.
    """
    if data[:2] in (b"P1", b"P4"):
        raise FileError(path, "has the wrong bit depth, 1 bit per pixel (PBM); save it as PGM")
    found = _HEADER.match(data)
    if found is None:
        raise FileError(path, "the PGM/PPM header is damaged or truncated; fetch it again")
    kind, width, height, max_value = (int(text) for text in found.groups())
    if not 1 <= max_value <= 65535:
        raise FileError(
            path, f"expected a largest value of 1 to 65535 in its header, but it is {max_value}"
        )
    header = PnmHeader(kind < 5, width, height, 3 if kind in (3, 6) else 1, max_value, found.end())
    # Plain values take a digit and a space each at the least; the last one may lack its space.
    sample_bytes = 2 if header.is_plain or max_value > 255 else 1
    needed = width * height * header.channels * sample_bytes - header.is_plain
    if len(data) - header.offset_bytes < needed:
        raise FileError(
            path,
            f"the image is truncated, {width} × {height} pixels need {needed} bytes, but"
            f" {len(data) - header.offset_bytes} follow its header; fetch it again",
        )
    return header


def decode(path: Path, data: bytes) -> NDArray[np.uint8 | np.uint16]:
    """Decode a PGM or PPM file.

    Parameters
    ----------
    path
        The file, for messages.
    data
        Its whole content.

    Returns
    -------
    NDArray[np.uint8 | np.uint16]
        ``(H, W)`` grey or ``(H, W, 3)`` RGB values as stored.
    """
    header = read_header(path, data)
    dtype = np.dtype(np.uint8 if header.max_value < 256 else np.uint16)
    shape: tuple[int, ...] = (header.height_pixels, header.width_pixels)
    if header.channels == 3:
        shape = (*shape, 3)
    count = int(np.prod(shape))
    if header.is_plain:
        values = _plain_values(path, data[header.offset_bytes :], count)
    else:
        stored = dtype.newbyteorder(">")
        values = np.frombuffer(data, stored, count, header.offset_bytes)
    if values.max(initial=0) > header.max_value:
        raise FileError(
            path, f"a pixel is above the largest value {header.max_value} that its header allows"
        )
    return values.astype(dtype).reshape(shape)


def _plain_values(path: Path, text: bytes, count: int) -> NDArray[np.int64]:
    words = text.split()
    if len(words) < count:
        raise FileError(
            path,
            f"the image is truncated, it needs {count} values, but has {len(words)};"
            " fetch it again",
        )
    # An array of words has room for the longest one in every place: a single absurd one of a large
    # file would ask for terabytes.
    if max(map(len, words), default=0) > _LONGEST_WORD:
        raise FileError(path, "a pixel of this plain PGM/PPM has too many digits; fetch it again")
    try:
        values = np.array(words[:count]).astype(np.int64)
    except ValueError as error:
        raise FileError(path, "a pixel of this plain PGM/PPM is not a number") from error
    if values.min(initial=0) < 0:
        raise FileError(path, "a pixel of this plain PGM/PPM is negative; expected 0 or more")
    return values
