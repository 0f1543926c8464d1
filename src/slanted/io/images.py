"""Colour, grey and label images: PNG, JPEG, TIFF, PPM, PGM and BMP."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slanted.errors import FileError, InputError
from slanted.io import pnm
from slanted.io.arrays import decode_npy, encode_npy
from slanted.io.containers import pixels_only, read_header
from slanted.io.files import read_bytes, write_bytes
from slanted.io.image_header import ImageHeader
from slanted.runtime.opencv import cv2, silenced

WRITABLE_SUFFIXES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".ppm", ".pgm", ".bmp")

_EIGHT_BIT_SUFFIXES = (".jpg", ".jpeg", ".bmp")
_ROWS_AT_A_TIME = 64


def read_image(path: Path | str) -> NDArray[np.uint8 | np.uint16]:
    """Read a grey or colour image.

    Pixels are returned as stored: an EXIF orientation is ignored, because a calibration refers to
    the sensor's rows and columns. Alpha is dropped and palettes are looked up.

    Parameters
    ----------
    path
        A PNG, JPEG, TIFF, PPM, PGM or BMP file, recognised by its content.

    Returns
    -------
    NDArray[np.uint8 | np.uint16]
        ``(H, W)`` grey or ``(H, W, 3)`` RGB.

    Raises
    ------
    FileError
        If the file is missing, not an image, truncated, or neither 8- nor 16-bit.

    Examples
    --------
    >>> import numpy as np
    >>> import slanted
    >>> slanted.write_image("left.png", np.zeros((64, 96, 3), np.uint8))
    >>> slanted.read_image("left.png").shape
    (64, 96, 3)
    """
    path = Path(path)
    data = read_bytes(path)
    image = decode_samples(path, data, read_header(path, data))
    if image.dtype not in (np.uint8, np.uint16):
        raise FileError(
            path,
            "has the wrong bit depth, expected 8- or 16-bit integers, but pixels are"
            f" {image.dtype}; convert it to an 8- or 16-bit PNG",
        )
    return image


def write_image(path: Path | str, image: NDArray[np.uint8 | np.uint16]) -> None:
    """Write a grey or RGB image in the format that the suffix names.

    Parameters
    ----------
    path
        The file; its suffix is one of `WRITABLE_SUFFIXES`.
    image
        ``(H, W)`` or ``(H, W, 3)`` RGB, uint8 or uint16.

    Raises
    ------
    FileError
        If the suffix is unknown or the file cannot be written.
    InputError
        If the array is not an image, or the format cannot hold it.

    Examples
    --------
    >>> import numpy as np
    >>> import slanted
    >>> slanted.write_image("grey.tiff", np.full((64, 96), 40_000, np.uint16))
    >>> int(slanted.read_image("grey.tiff").max())
    40000
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in WRITABLE_SUFFIXES:
        raise FileError(
            path, f"expected a name that ends in {', '.join(WRITABLE_SUFFIXES)}, not {suffix!r}"
        )
    image = np.asarray(image)
    _check_writable(image, suffix)
    pixels = image if image.ndim == 2 else image[..., ::-1]
    write_bytes(path, encode(suffix, pixels))


def read_label_image(path: Path | str) -> NDArray[np.integer[Any]]:
    """Read a label image: NPY of integers, or a grey PNG, TIFF or PGM of 8 or 16 bits.

    More than 65,536 labels need NPY.

    Raises
    ------
    FileError
        If the file is not a single-channel image of integers.
    """
    path = Path(path)
    label_image: NDArray[Any]
    if path.suffix.lower() == ".npy":
        label_image = decode_npy(path, read_bytes(path))
    elif read_bytes(path).startswith(b"\xff\xd8"):
        raise FileError(path, "expected a label image, got a JPEG, which changes numbers; use PNG")
    else:
        label_image = read_image(path)
    if label_image.dtype.kind not in "iu" or label_image.ndim != 2:
        raise FileError(
            path,
            f"expected a label image, (H, W) whole numbers, got shape {label_image.shape} of type "
            f"{label_image.dtype}; save the numbers of the segments, not their colours",
        )
    return label_image


def write_label_image(path: Path | str, label_image: NDArray[np.int32]) -> None:
    """Write a label image as NPY."""
    write_bytes(path, encode_npy(label_image))


def encode(suffix: str, samples: NDArray[Any]) -> bytes:
    """Encode samples, ``(H, W)`` or BGR ``(H, W, 3)``, in the format of a suffix."""
    with silenced():
        _, encoded = cv2.imencode(suffix, np.ascontiguousarray(samples))
    return bytes(encoded.tobytes())


def decode_samples(path: Path, data: bytes, header: ImageHeader) -> NDArray[Any]:
    """Return the samples as stored, ``(H, W)`` or RGB ``(H, W, 3)``, of any depth, floats included.

    `header` comes from `read_header`, which has checked that the file is complete.
    """
    if header.format == "PNM":
        return pnm.decode(path, data)
    if header.format == "JPEG" and header.bits != 8:
        raise FileError(
            path, f"has the wrong bit depth, expected an 8-bit JPEG, but it has {header.bits} bits"
        )
    if header.format == "PNG":
        data = pixels_only(data)
    try:
        with silenced():
            decoded = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    except cv2.error as error:
        raise FileError(path, f"the {header.format} image cannot be decoded; convert it") from error
    if decoded is None or decoded.shape[:2] != (header.height_pixels, header.width_pixels):
        raise FileError(
            path,
            f"the {header.format} image is damaged or of a rare kind and cannot be decoded;"
            " save it as an 8- or 16-bit PNG",
        )
    if header.format == "TIFF" and decoded.dtype == np.uint8:
        _check_opaque(path, decoded)
    return _without_alpha(path, decoded, header)


def _without_alpha(path: Path, decoded: NDArray[Any], header: ImageHeader) -> NDArray[Any]:
    """Keep grey or RGB; OpenCV returns grey with alpha as BGRA, so the header decides."""
    if decoded.ndim == 2:
        return decoded
    if header.channels <= 2 and header.format != "BMP":  # which has no alpha
        return np.ascontiguousarray(decoded[..., 0])
    if decoded.shape[2] not in (3, 4):
        raise FileError(
            path, f"expected 1 to 4 channels, but it has {decoded.shape[2]}; keep the colour ones"
        )
    if decoded.shape[2] == 4:
        return np.ascontiguousarray(decoded[..., 2::-1])
    for first in range(0, len(decoded), _ROWS_AT_A_TIME):  # a copy would double the memory
        rows = decoded[first : first + _ROWS_AT_A_TIME]
        blue = rows[..., 0].copy()
        rows[..., 0] = rows[..., 2]
        rows[..., 2] = blue
    return decoded


def _check_opaque(path: Path, decoded: NDArray[Any]) -> None:
    """Refuse transparency in 8-bit TIFF, whose colours libtiff has multiplied by it."""
    if decoded.ndim == 3 and decoded.shape[2] == 4 and decoded[..., 3].min() < 255:
        raise FileError(
            path,
            "is an 8-bit TIFF with transparent pixels, whose colours cannot be recovered;"
            " save it without alpha or as PNG",
        )


def _check_writable(image: NDArray[Any], suffix: str) -> None:
    if image.ndim not in (2, 3) or image.shape[2:] not in ((), (3,)) or image.size == 0:
        raise InputError(
            f"image: expected shape (H, W) or (H, W, 3) and at least one pixel, got {image.shape}"
        )
    if image.dtype not in (np.uint8, np.uint16):
        raise InputError(
            f"image: expected uint8 or uint16 values, got {image.dtype}; scale and convert it first"
        )
    if suffix in _EIGHT_BIT_SUFFIXES and image.dtype != np.uint8:
        raise InputError(f"image: {suffix} holds 8 bits, got {image.dtype}; write .png or .tiff")
    if suffix == ".pgm" and image.ndim == 3:
        raise InputError("image: .pgm holds grey only, got three channels; write .ppm or .png")
    if suffix == ".ppm" and image.ndim == 2:
        raise InputError("image: .ppm holds RGB only, got one channel; write .pgm or .png")
