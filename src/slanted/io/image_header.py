"""What the header of an image file says, whatever its format."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from slanted.errors import FileError

MAX_PIXELS = 2**29
LARGEST_UNPACKED, LARGEST_RATIO = 2**28, 128
"""Bytes that any image may unpack to, and beyond them how many times the bytes of its file.

A photograph as JPEG unpacks to 10 to 50 times its size, a map or a drawing as PNG to 2 to 100
times; a file of zeros, made to exhaust the memory of whoever opens it, to 1000 times.
"""


@dataclass(frozen=True)
class ImageHeader:
    """What the header of an image file says."""

    format: str
    """``"PNG"``, ``"JPEG"``, ``"TIFF"``, ``"PNM"`` or ``"BMP"``."""
    width_pixels: int
    height_pixels: int
    """Size."""
    bits: int
    """Bits per sample as stored."""
    channels: int
    """Samples per pixel, alpha included; a palette counts as 3."""
    is_float: bool = False
    """Whether samples are floating-point numbers."""

    @property
    def unpacked_bytes(self) -> int:
        """Memory that the decoded samples take; grey with alpha is decoded as colour with alpha."""
        channels = 4 if self.channels == 2 else self.channels
        return self.width_pixels * self.height_pixels * channels * max(1, self.bits // 8)


def truncated(path: Path, where: str) -> FileError:
    """Return the error for a file that ends too early."""
    return FileError(path, f"the image is truncated, it ends within {where}; fetch it again")


def check_size(path: Path, header: ImageHeader) -> None:
    """Raise a FileError unless the image has 1 to `MAX_PIXELS` pixels."""
    width, height = header.width_pixels, header.height_pixels
    if width < 1 or height < 1 or width * height > MAX_PIXELS:
        raise FileError(
            path,
            f"expected an image of 1 to {MAX_PIXELS} pixels, but its header says {width} ×"
            f" {height}; the file is damaged or must be split",
        )


def check_unpacked(path: Path, header: ImageHeader, file_bytes: int) -> None:
    """Raise a FileError if the pixels take absurdly more memory than the file has bytes."""
    unpacked = header.unpacked_bytes
    if unpacked > max(LARGEST_UNPACKED, LARGEST_RATIO * file_bytes):
        raise FileError(
            path,
            f"would unpack from {file_bytes} bytes to {unpacked}, more than {LARGEST_RATIO} times"
            " as many, as files do that are made to exhaust memory; if you trust it, save it as PPM"
            " or uncompressed TIFF",
        )
