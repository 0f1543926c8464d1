"""The directory of a TIFF file: its header, and a check that all bytes it refers to exist.

OpenCV decodes the pixels. tifffile, which scikit-image installs, was tried for both steps and does
neither: without a further package it cannot unpack LZW, which OpenCV writes by default; and it
repairs damaged directories with a log line where a stereo method needs an error. Of 3,000 mutated
files, tifffile 2026.3.3 accepted 1,728 and logged 7,919 lines; this module accepts 684.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slanted.errors import FileError
from slanted.io.image_header import ImageHeader, truncated

_TYPE_BYTES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8}
_BIG_TYPE_BYTES = {13: 4, 16: 8, 17: 8, 18: 8}
_INTEGER_CODES = {1: "u1", 3: "u2", 4: "u4", 16: "u8"}

_WIDTH, _HEIGHT, _BITS, _COMPRESSION, _PHOTOMETRIC = 256, 257, 258, 259, 262
_CHANNELS, _PLANAR, _SAMPLE_FORMAT = 277, 284, 339
_STRIPS, _TILES = (273, 279), (324, 325)  # tags of the offsets and of the byte counts
_TILE_WIDTH, _TILE_HEIGHT = 322, 323
_READ = {_WIDTH, _HEIGHT, _BITS, _COMPRESSION, _PHOTOMETRIC, _CHANNELS, _PLANAR, _SAMPLE_FORMAT,
         *_STRIPS, *_TILES, _TILE_WIDTH, _TILE_HEIGHT}  # fmt: skip
"""Tags of all fields that are read; others may number thousands, each as large as the file."""
LARGEST_TILE = 2**22
"""Pixels of a tile in an image that has fewer; decoders make room for a whole tile."""
_WHITE_IS_ZERO, _PALETTE = 0, 3
_SEPARATE_PLANES = 2
_FLOAT_SAMPLES = 3

Fields = dict[int, NDArray[Any]]


def read_header(path: Path, data: bytes) -> ImageHeader:
    """Read the first directory and check that the file holds all its strips or tiles.

    Raises
    ------
    FileError
        If the file ends too early, lacks a field, or is of a kind that OpenCV decodes wrongly.
    struct.error, IndexError
        If the file ends within its directory, or a field is empty.
    """
    fields = _read_directory(path, data)
    for tag, name in ((_WIDTH, "width"), (_HEIGHT, "height")):
        if tag not in fields or not fields[tag].size:
            raise _damaged(path, f"its {name} is missing")
    _check_pixels(path, fields, len(data))
    _check_kind(path, fields)
    is_palette = _value(fields, _PHOTOMETRIC) == _PALETTE
    return ImageHeader(
        "TIFF",
        width_pixels=_value(fields, _WIDTH),
        height_pixels=_value(fields, _HEIGHT),
        bits=_value(fields, _BITS),
        channels=3 if is_palette else _value(fields, _CHANNELS),
        is_float=_value(fields, _SAMPLE_FORMAT) == _FLOAT_SAMPLES,
    )


def _value(fields: Fields, tag: int) -> int:
    """Return the first value of a field; the default of every field read here is 1."""
    return int(fields[tag][0]) if tag in fields else 1


def _damaged(path: Path, problem: str) -> FileError:
    return FileError(path, f"the TIFF image is damaged, {problem}; fetch it again")


def _read_directory(path: Path, data: bytes) -> Fields:
    """Return the integer fields of the first directory that are in `_READ`, by tag."""
    order = "<" if data[:2] == b"II" else ">"
    is_big = struct.unpack_from(order + "H", data, 2)[0] == 43
    word, count_code, entry_bytes = ("Q", "Q", 20) if is_big else ("I", "H", 12)
    (start,) = struct.unpack_from(order + word, data, 8 if is_big else 4)
    if start > len(data):  # may be more than struct accepts as an offset
        raise truncated(path, "its directory")
    (count,) = struct.unpack_from(order + count_code, data, start)
    first = start + struct.calcsize(order + count_code)
    if first + count * entry_bytes > len(data):
        raise truncated(path, "its directory")
    sizes = _TYPE_BYTES | _BIG_TYPE_BYTES
    fields: Fields = {}
    for entry in range(first, first + count * entry_bytes, entry_bytes):
        tag, kind, length = struct.unpack_from(order + "HH" + word, data, entry)
        if tag not in _READ:
            continue
        if tag in fields:
            raise _damaged(path, f"it has two fields {tag}")
        value = entry + 4 + struct.calcsize(order + word)
        if length * sizes.get(kind, 0) > struct.calcsize(order + word):
            (value,) = struct.unpack_from(order + word, data, value)
            if value + length * sizes[kind] > len(data):
                raise truncated(path, "its directory")
        if kind in _INTEGER_CODES:
            if value + length * sizes[kind] > len(data):
                raise truncated(path, "its directory")
            fields[tag] = np.frombuffer(data, order + _INTEGER_CODES[kind], length, value)
    return fields


def _check_pixels(path: Path, fields: Fields, file_bytes: int) -> None:
    offsets_tag, sizes_tag = _TILES if _TILES[0] in fields else _STRIPS
    nothing = np.empty(0, np.uint64)
    offsets, sizes = fields.get(offsets_tag, nothing), fields.get(sizes_tag, nothing)
    if not offsets.size or len(offsets) != len(sizes):
        raise _damaged(path, "its table of pixel data is missing")
    # A sum of two large numbers would overflow.
    if offsets.max() > file_bytes or (sizes > file_bytes - offsets.astype(np.int64)).any():
        raise truncated(path, "its pixels")
    is_compressed = _value(fields, _COMPRESSION) != 1
    pixels = _value(fields, _WIDTH) * _value(fields, _HEIGHT)
    needed_bits = pixels * _value(fields, _CHANNELS) * _value(fields, _BITS)
    if not is_compressed and 8 * int(sizes.sum(dtype=np.uint64)) < needed_bits:
        raise truncated(path, "its pixels")
    if _value(fields, _TILE_WIDTH) * _value(fields, _TILE_HEIGHT) > max(pixels, LARGEST_TILE):
        raise _damaged(path, "its tiles are much larger than the image")


def _check_kind(path: Path, fields: Fields) -> None:
    """Refuse what OpenCV (5.0) decodes into wrong pixels without an error."""
    if _value(fields, _BITS) <= 8:
        return
    is_planar = _value(fields, _CHANNELS) > 1 and _value(fields, _PLANAR) == _SEPARATE_PLANES
    if _value(fields, _PHOTOMETRIC) == _WHITE_IS_ZERO:
        kind = "whose white is zero (inverted) with more than 8 bits"
    elif is_planar:
        kind = "with one plane per channel and more than 8 bits"
    else:
        return
    raise FileError(path, f"is a TIFF {kind}, which cannot be read; save it as PNG")
