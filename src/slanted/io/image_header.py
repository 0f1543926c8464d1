"""What the header of an image file says, whatever its format."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from slanted.errors import FileError

MAX_PIXELS = 2**29


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
