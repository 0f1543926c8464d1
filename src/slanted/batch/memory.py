"""Estimates of the memory that a pair takes."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from slanted.errors import InputError, SlantedError
from slanted.io.files import open_input, read_bytes
from slanted.runtime.memory import USABLE, available_bytes

if TYPE_CHECKING:
    from slanted.settings import Settings

PROCESS_BYTES = 300 * 2**20
"""Memory of a worker with all libraries and kernels loaded, before it reads an image."""
BYTES_A_PIXEL = 250
"""For images, census words, matches of segments and boundaries, the result and its pictures."""
BYTES_A_TILED_PIXEL = 48
"""For what is kept of a whole image that is processed in tiles."""
AUTO_DISPARITIES = 0.25
"""Assumed disparity range, as a share of the width, where it is found from the pair."""


def pair_bytes(size: tuple[int, int], settings: Settings) -> int:
    """Return an upper estimate of a worker's memory for a pair of some (height, width)."""
    from slanted.matching.search_bands import BAND_BYTES, BYTES_A_CELL
    from slanted.matching.search_grid import rounded

    height, width = size
    matching = settings.matching
    if matching.max_disparity is None:
        disparities = int(AUTO_DISPARITIES * width)
    else:
        disparities = matching.max_disparity - matching.min_disparity
    volume: int = min(height * width * rounded(disparities) * BYTES_A_CELL, BAND_BYTES)
    pixels = height * width
    if pixels <= settings.tiles.above:
        return PROCESS_BYTES + pixels * BYTES_A_PIXEL + volume
    inside = pixels * BYTES_A_TILED_PIXEL
    return PROCESS_BYTES + inside + max(volume, settings.tiles.pixels * BYTES_A_PIXEL)


def image_size(path: Path) -> tuple[int, int]:
    """Return the (height, width) of an image file, which must be complete, without decoding it."""
    from slanted.io.containers import read_header

    header = read_header(path, read_bytes(path))
    return header.height_pixels, header.width_pixels


def header_size(path: Path) -> tuple[int, int]:
    """Return the (height, width) in the header of a file, complete or not.

    Only the first bytes of a PNG are read: there may be thousands of files on a slow disk.
    """
    with open_input(path) as file:
        start = file.read(24)
        if start.startswith(b"\x89PNG\r\n\x1a\n") and start[12:16] == b"IHDR":
            width, height = struct.unpack(">II", start[16:].ljust(8, b"\0"))
            return height, width
    return image_size(path)


def largest_pair(files: Iterable[Path], settings: Settings) -> int:
    """Return the bytes that the largest pair takes.

    Pairs that cannot be read or would not fit even alone are left out: they fail when their turn
    comes.
    """
    limit, largest = available_bytes(), 0
    for file in files:
        try:
            needed = pair_bytes(header_size(file), settings)
        except SlantedError:
            continue
        if needed <= USABLE * limit:
            largest = max(largest, needed)
    return largest


def refuse_what_does_not_fit(path: Path, settings: Settings) -> None:
    """Raise if the pair of a left image does not fit into memory, before anything is decoded."""
    height, width = image_size(path)
    needed, available = pair_bytes((height, width), settings), available_bytes()
    if needed > available:
        raise InputError(
            f"{path}: expected a pair that fits the memory available, {available / 1e9:.1f} GB, "
            f"got {width}×{height} pixels, which take about {needed / 1e9:.1f} GB; run it alone, "
            "lower tiles.above and tiles.pixels, make the images smaller or set "
            "matching.max_disparity"
        )
