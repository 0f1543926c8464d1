"""Portable anymaps (PGM and PPM), plain and binary.

OpenCV is not used, because labels and disparities must be the numbers in the file.
OpenCV 5.0 scales plain values (with a largest value of 9, it reads 3 as 85) but not binary ones,
and accepts pixels above the largest value that the header allows.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slanted.errors import FileError
from slanted.io.image_header import ImageHeader

# Possessive (++), because the search would otherwise remember every comment, to go back to it.
_SPACE = rb"(?:\s++|#[^\n]*+\n)++"
_HEADER = re.compile(
    rb"P([2356])" + _SPACE + rb"(\d{1,9})" + _SPACE + rb"(\d{1,9})" + _SPACE + rb"(\d{1,9})\s"
)

_LONGEST_WORD = 12
_TEXT_AT_A_TIME = 2**20
"""Bytes of plain text to split into words at a time; a word takes ten times its length."""


@dataclass(frozen=True)
class _Layout:
    """Shape, type and largest value of the samples, and where and how they are stored."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    max_value: int
    is_plain: bool
    offset_bytes: int


def read_header(path: Path, data: bytes) -> ImageHeader:
    """Parse the header and check that binary samples are all there."""
    layout = _read_layout(path, data)
    height, width, channels = (*layout.shape, 1)[:3]
    return ImageHeader("PNM", width, height, 8 * layout.dtype.itemsize, channels)


def decode(path: Path, data: bytes) -> NDArray[np.uint8 | np.uint16]:
    """Return ``(H, W)`` grey or ``(H, W, 3)`` RGB values as stored."""
    layout = _read_layout(path, data)
    count = math.prod(layout.shape)
    if layout.is_plain:
        values = _plain_values(path, memoryview(data)[layout.offset_bytes :], count)
    else:
        values = np.frombuffer(data, layout.dtype.newbyteorder(">"), count, layout.offset_bytes)
    if values.max(initial=0) > layout.max_value:
        raise FileError(
            path, f"a pixel is above the largest value {layout.max_value} that its header allows"
        )
    return values.astype(layout.dtype).reshape(layout.shape)


def _read_layout(path: Path, data: bytes) -> _Layout:
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
    shape = (height, width, 3) if kind in (3, 6) else (height, width)
    is_plain = kind < 5
    # A plain value takes at least a digit and a space; the last one may lack its space.
    sample_bytes = 2 if is_plain or max_value > 255 else 1
    needed, there = math.prod(shape) * sample_bytes - is_plain, len(data) - found.end()
    if there < needed:
        raise FileError(
            path,
            f"the image is truncated, {width} × {height} pixels need {needed} bytes, but"
            f" {there} follow its header; fetch it again",
        )
    dtype = np.dtype(np.uint8 if max_value < 256 else np.uint16)
    return _Layout(shape, dtype, max_value, is_plain, found.end())


def _plain_values(path: Path, text: memoryview, count: int) -> NDArray[np.int64]:
    """Return the first `count` numbers of a text."""
    values, found = np.empty(count, np.int64), 0
    for words in _words(path, text):
        try:
            numbers = np.array(words[: count - found]).astype(np.int64)
        except ValueError as error:
            raise FileError(path, "a pixel of this plain PGM/PPM is not a number") from error
        values[found : found + len(numbers)] = numbers
        found += len(numbers)
        if found == count:
            break
    if found < count:
        raise FileError(
            path,
            f"the image is truncated, it needs {count} values, but has {found}; fetch it again",
        )
    if values.min(initial=0) < 0:
        raise FileError(path, "a pixel of this plain PGM/PPM is negative; expected 0 or more")
    return values


def _words(path: Path, text: memoryview) -> Iterator[list[bytes]]:
    """Yield the words of a text, as many at a time as `_TEXT_AT_A_TIME` holds."""
    rest = b""
    for start in range(0, len(text), _TEXT_AT_A_TIME):
        part = rest + text[start : start + _TEXT_AT_A_TIME]
        words = part.split()
        # NumPy makes every element of an array of words as long as the longest one, so that a
        # single absurd word in a large file would ask for terabytes.
        if max(map(len, words), default=0) > _LONGEST_WORD:
            raise FileError(
                path, "a pixel of this plain PGM/PPM has too many digits; fetch it again"
            )
        rest = words.pop() if words and not part[-1:].isspace() else b""  # may go on
        if words:
            yield words
    if rest:
        yield [rest]
