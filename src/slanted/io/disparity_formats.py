"""Encoding and decoding of each disparity format.

This module returns whatever a file stores; :mod:`slanted.io.disparity` checks whether the values
make sense.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slanted.errors import FileError, InputError
from slanted.io import images, pfm
from slanted.io.arrays import decode_npy, encode_npy
from slanted.io.containers import read_header
from slanted.io.image_header import ImageHeader

#: Suffixes of each disparity format.
DISPARITY_FORMATS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "kitti": (".png",),
        "pfm": (".pfm",),
        "npy": (".npy",),
        "tiff": (".tiff", ".tif"),
        "middlebury": (".pgm", ".png"),
    }
)

KITTI_SCALE = 256.0
"""Levels per pixel of disparity."""

ROWS_AT_A_TIME = 256
"""Rows rounded in float64 at a time; all rows would take several times the map's memory."""

SMALL_FILE, PIXELS_OF_A_SMALL_FILE = 2**24, 2**25
"""A map of more pixels in a packed file of fewer bytes is taken for one made to exhaust memory."""


def known_format(name: str) -> str:
    """Return `name`; raise InputError unless it is ``"auto"`` or in `DISPARITY_FORMATS`."""
    if name != "auto" and name not in DISPARITY_FORMATS:
        raise InputError(
            f"format: expected 'auto' or one of {', '.join(DISPARITY_FORMATS)}, got {name!r}"
        )
    return name


def checked_scale(scale: float | None, format: str) -> float:
    """Return how many grey levels a format has per pixel of disparity.

    Only for Middlebury's 8-bit maps may the caller choose a `scale`; None means 1.
    """
    if format != "middlebury":
        if scale is not None:
            raise InputError(
                f"scale: only the middlebury format has one, but the format is {format};"
                " leave it out"
            )
        return KITTI_SCALE
    value = 1.0 if scale is None else float(scale)
    if not (np.isfinite(value) and value > 0):
        raise InputError(f"scale: expected a finite number above 0, got {scale}")
    return value


def format_by_suffix(path: Path) -> str:
    """Return the format that a suffix stands for, KITTI's for ``.png``."""
    for name, suffixes in DISPARITY_FORMATS.items():
        if path.suffix.lower() in suffixes:
            return name
    known = sorted({suffix for suffixes in DISPARITY_FORMATS.values() for suffix in suffixes})
    raise FileError(
        path,
        f"expected a disparity map that ends in {', '.join(known)}, but the suffix is"
        f" {path.suffix!r}; rename it or name the format",
    )


def format_of_file(path: Path, data: bytes) -> str:
    """Return the format of a file by its suffix and, for PNG, its bit depth."""
    name = format_by_suffix(path)
    if name == "kitti" and read_header(path, data).bits <= 8:
        return "middlebury"
    return name


def decode(path: Path, data: bytes, format: str, scale: float) -> NDArray[Any]:
    """Return the real numbers of a map, of any shape and dtype; NaN and +inf are unknown.

    `scale` is the number of grey levels per pixel of disparity, for integer formats.
    """
    if format == "pfm":
        return pfm.decode(path, data)
    if format == "npy":
        return decode_npy(path, data)
    if format == "tiff":
        return _decode_samples(path, data, ("TIFF",), (np.float32, np.float64), "float32 TIFF")
    if format == "kitti":
        levels = _decode_samples(path, data, ("PNG",), (np.uint16,), "16-bit grey PNG (KITTI)")
    else:
        levels = _decode_samples(
            path, data, ("PNG", "PNM"), (np.uint8,), "8-bit grey PNG or PGM (Middlebury)"
        )
    highest = float(levels.max()) / scale
    if highest > np.finfo(np.float32).max:
        raise FileError(path, f"a disparity of {highest:.6g} pixels is beyond float32")
    return _disparities(levels, scale)


def _disparities(levels: NDArray[Any], scale: float) -> NDArray[np.float32]:
    """Divide grey levels by the scale, in float64; level 0 is unknown."""
    disparity = np.empty(levels.shape, np.float32)
    for first in range(0, len(levels), ROWS_AT_A_TIME):
        rows = slice(first, first + ROWS_AT_A_TIME)
        disparity[rows] = np.where(levels[rows] == 0, np.nan, levels[rows] / scale)
    return disparity


def encode(disparity: NDArray[np.float32], suffix: str, format: str, scale: float) -> bytes:
    """Encode an ``(H, W)`` map in pixels, NaN where unknown; `suffix` chooses PNG or PGM."""
    if format == "pfm":
        return pfm.encode(np.where(np.isnan(disparity), np.float32(np.inf), disparity))
    if format == "npy":
        return encode_npy(disparity)
    if format == "tiff":
        return images.encode(".tiff", disparity)
    dtype = np.uint16 if format == "kitti" else np.uint8
    return images.encode(suffix, _levels(disparity, format, scale, dtype))


def _decode_samples(
    path: Path, data: bytes, containers: tuple[str, ...], dtypes: tuple[type, ...], expected: str
) -> NDArray[Any]:
    header = read_header(path, data)
    _check_packed(path, header, len(data))
    samples = images.decode_samples(path, data, header)
    # Decoding stretches fewer than 8 bits to 0–255, which would invent disparities.
    is_stretched = header.bits < 8
    if header.format not in containers or samples.dtype not in dtypes or is_stretched:
        raise FileError(
            path,
            f"expected a disparity map as {expected}, but it is a {header.format} with"
            f" {header.bits}-bit {'float' if header.is_float else 'integer'} samples;"
            " name its format or convert it",
        )
    if samples.ndim != 2:
        raise FileError(
            path,
            f"expected a disparity map as {expected}, but it has {samples.shape[2]} channels;"
            " is it a colour image or a rendering?",
        )
    return samples


def _check_packed(path: Path, header: ImageHeader, file_bytes: int) -> None:
    """Refuse a small file of a huge map: metrics take many times the memory of its file."""
    pixels = header.width_pixels * header.height_pixels
    is_huge = max(pixels, header.unpacked_bytes // 4) > PIXELS_OF_A_SMALL_FILE
    if is_huge and file_bytes < SMALL_FILE:
        raise FileError(
            path,
            f"expected a map of at most {PIXELS_OF_A_SMALL_FILE} pixels in a file of {file_bytes}"
            f" bytes, but its header says {header.width_pixels} × {header.height_pixels}; if you"
            " trust it, save it as PFM",
        )


def _levels(
    disparity: NDArray[np.float32], format: str, scale: float, dtype: type[np.uint8 | np.uint16]
) -> NDArray[np.uint8 | np.uint16]:
    """Round to grey levels; 0 means unknown, so the lowest level of a known disparity is 1."""
    largest = int(np.iinfo(dtype).max)
    highest = float(np.nanmax(disparity, initial=0))
    if np.rint(highest * scale) > largest:
        too_large = np.rint(disparity.astype(np.float64) * scale) > largest
        raise InputError(
            f"disparity: the {format} format holds at most {largest / scale:.6g} pixels, but"
            f" {too_large.sum()} of {disparity.size} pixels exceed it (largest"
            f" {highest:.6g}); write .pfm, .npy or .tiff instead"
        )
    levels = np.zeros(disparity.shape, dtype)
    for first in range(0, len(disparity), ROWS_AT_A_TIME):
        rows = slice(first, first + ROWS_AT_A_TIME)
        is_known = ~np.isnan(disparity[rows])
        exact = np.rint(np.where(is_known, disparity[rows], 0).astype(np.float64) * scale)
        levels[rows] = np.where(is_known, np.maximum(exact, 1), 0)
    return levels
