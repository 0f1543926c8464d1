"""The directory of a TIFF file: enough of it to know whether every byte it names is there."""

from __future__ import annotations

import struct
from dataclasses import dataclass

_TYPE_BYTES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8}
_BIG_TYPE_BYTES = {13: 4, 16: 8, 17: 8, 18: 8}
_INTEGER_CODES = {1: "B", 3: "H", 4: "I", 16: "Q"}

_WIDTH, _HEIGHT, _BITS, _COMPRESSION, _PHOTOMETRIC = 256, 257, 258, 259, 262
_CHANNELS, _PLANAR, _SAMPLE_FORMAT = 277, 284, 339
_STRIPS, _TILES = (273, 279), (324, 325)  # tags of the offsets and of the byte counts
_WHITE_IS_ZERO, _PALETTE = 0, 3
_SEPARATE_PLANES = 2
_FLOAT_SAMPLES = 3


class TruncatedTiffError(ValueError):
    """The file ends before something that its directory names."""


class UnsupportedTiffError(ValueError):
    """The file is sound, but OpenCV is known to decode its kind into wrong pixels."""


@dataclass(frozen=True)
class TiffLayout:
    """The first image of a TIFF file.

    Parameters
    ----------
    width_pixels, height_pixels
        Size.
    bits
        Bits per sample.
    channels
        Samples per pixel; a palette counts as 3.
    is_float
        Whether samples are floating-point numbers.
    """

    width_pixels: int
    height_pixels: int
    bits: int
    channels: int
    is_float: bool


def read_layout(data: bytes) -> TiffLayout:
    """Read the first directory and check that the file holds all its strips or tiles.

    Parameters
    ----------
    data
        The whole file.

    Returns
    -------
    TiffLayout
        What the first image is.

    Raises
    ------
    TruncatedTiffError
        If the file ends too early.
    UnsupportedTiffError
        If its pixels would be decoded wrongly.
    ValueError
        If a field that every image needs is missing.
    """
    try:
        fields = _read_directory(data)
    except struct.error as error:
        raise TruncatedTiffError("its directory") from error
    for tag, name in ((_WIDTH, "width"), (_HEIGHT, "height")):
        if not fields.get(tag):
            raise ValueError(f"its {name} is missing")
    _check_pixels(fields, len(data))
    _check_kind(fields)
    is_palette = fields.get(_PHOTOMETRIC, (1,))[0] == _PALETTE
    return TiffLayout(
        width_pixels=fields[_WIDTH][0],
        height_pixels=fields[_HEIGHT][0],
        bits=fields.get(_BITS, (1,))[0],
        channels=3 if is_palette else fields.get(_CHANNELS, (1,))[0],
        is_float=fields.get(_SAMPLE_FORMAT, (1,))[0] == _FLOAT_SAMPLES,
    )


def _read_directory(data: bytes) -> dict[int, tuple[int, ...]]:
    """Return the integer fields of the first directory, by tag."""
    order = "<" if data[:2] == b"II" else ">"
    is_big = struct.unpack_from(order + "H", data, 2)[0] == 43
    word, count_code, entry_bytes = ("Q", "Q", 20) if is_big else ("I", "H", 12)
    (start,) = struct.unpack_from(order + word, data, 8 if is_big else 4)
    if start > len(data):  # perhaps more than struct takes for a place
        raise TruncatedTiffError("its directory")
    (count,) = struct.unpack_from(order + count_code, data, start)
    first = start + struct.calcsize(order + count_code)
    if first + count * entry_bytes > len(data):
        raise TruncatedTiffError("its directory")
    sizes = _TYPE_BYTES | _BIG_TYPE_BYTES
    fields = {}
    for entry in range(first, first + count * entry_bytes, entry_bytes):
        tag, kind, length = struct.unpack_from(order + "HH" + word, data, entry)
        value = entry + 4 + struct.calcsize(order + word)
        if length * sizes.get(kind, 0) > struct.calcsize(order + word):
            (value,) = struct.unpack_from(order + word, data, value)
            if value + length * sizes[kind] > len(data):
                raise TruncatedTiffError("its directory")
        if kind in _INTEGER_CODES:
            fields[tag] = struct.unpack_from(f"{order}{length}{_INTEGER_CODES[kind]}", data, value)
    return fields


def _check_pixels(fields: dict[int, tuple[int, ...]], file_bytes: int) -> None:
    offsets_tag, sizes_tag = _TILES if _TILES[0] in fields else _STRIPS
    offsets, sizes = fields.get(offsets_tag, ()), fields.get(sizes_tag, ())
    if not offsets or len(offsets) != len(sizes):
        raise ValueError("its table of pixel data is missing")
    if any(offset + size > file_bytes for offset, size in zip(offsets, sizes, strict=True)):
        raise TruncatedTiffError("its pixels")
    is_compressed = fields.get(_COMPRESSION, (1,))[0] != 1
    samples = fields.get(_CHANNELS, (1,))[0]
    needed_bits = fields[_WIDTH][0] * fields[_HEIGHT][0] * samples * fields.get(_BITS, (1,))[0]
    if not is_compressed and 8 * sum(sizes) < needed_bits:
        raise TruncatedTiffError("its pixels")


def _check_kind(fields: dict[int, tuple[int, ...]]) -> None:
    """Refuse what OpenCV (5.0) decodes without complaint, but wrongly."""
    if fields.get(_BITS, (1,))[0] <= 8:
        return
    if fields.get(_PHOTOMETRIC, (1,))[0] == _WHITE_IS_ZERO:
        raise UnsupportedTiffError("is a TIFF whose white is zero (inverted) with more than 8 bits")
    if fields.get(_CHANNELS, (1,))[0] > 1 and fields.get(_PLANAR, (1,))[0] == _SEPARATE_PLANES:
        raise UnsupportedTiffError("is a TIFF with one plane per channel and more than 8 bits")
