"""Recognising an image file by its content, and checking that all of it is there.

Decoders treat damaged files in different ways: some give up, some print to stderr, and some return
an image whose lower half is grey, which a stereo method would match without complaint. So each file
is walked to its end before a decoder gets it.
"""

from __future__ import annotations

import re
import struct
import zlib
from pathlib import Path

from slanted.errors import FileError
from slanted.io import pnm, tiff
from slanted.io.image_header import ImageHeader, check_size, truncated

_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_PNG_CHANNELS = {0: 1, 2: 3, 3: 3, 4: 2, 6: 4}  # a palette (3) holds RGB
_PNG_BITS = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}

_LARGEST_DEFLATE_RATIO = 1032

# In coded pixels FF 00 is an escaped FF and FF D0–D7 are restart marks; others end the pixels.
_JPEG_MARKER = re.compile(rb"\xff+([^\x00\xd0-\xd7\xff])")
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_JPEG_SCAN, _JPEG_END = 0xDA, 0xD9


def read_header(path: Path, data: bytes) -> ImageHeader:
    """Return what an image file holds, recognised by its content.

    Raises
    ------
    FileError
        If it is not an image of a known format, is truncated, damaged or absurdly large.
    """
    for signature, parse in _PARSERS:
        if re.match(signature, data):
            try:
                header = parse(path, data)
            except (struct.error, IndexError) as error:
                raise truncated(path, "its header") from error
            check_size(path, header)
            return header
    raise FileError(
        path,
        "is not an image that slanted reads; expected PNG, JPEG, TIFF, PPM, PGM or BMP content,"
        f" but the file starts with {data[:8]!r}",
    )


def _parse_png(path: Path, data: bytes) -> ImageHeader:
    if data[12:16] != b"IHDR" and len(data) >= 16:
        raise FileError(path, "the PNG image is damaged, it does not start with its header (IHDR)")
    width, height, bits, colour = struct.unpack_from(">IIBB", data, 16)
    if bits not in _PNG_BITS.get(colour, ()):
        raise FileError(
            path, f"the PNG image is damaged, no image has colour type {colour} with {bits} bits"
        )
    header = ImageHeader("PNG", width, height, bits, _PNG_CHANNELS[colour])
    # Checked before the walk, so that a header that lies about its size costs no checksums.
    check_size(path, header)
    position, kind, seen, packed = len(_PNG_SIGNATURE), b"", set(), 0
    view = memoryview(data)
    while kind != b"IEND":
        if position + 12 > len(data):
            raise truncated(path, "its chunks")
        length, kind = struct.unpack_from(">I4s", data, position)
        body_end = position + 8 + length
        if body_end + 4 > len(data):
            raise truncated(path, f"chunk {kind.decode('latin-1')}")
        (expected,) = struct.unpack_from(">I", data, body_end)
        if zlib.crc32(view[position + 4 : body_end]) != expected:
            raise FileError(path, "the PNG image is damaged, a checksum is wrong; fetch it again")
        seen.add(kind)
        packed += length if kind == b"IDAT" else 0
        position = body_end + 4
    if b"IDAT" not in seen or (colour == 3 and b"PLTE" not in seen):
        raise FileError(path, "the PNG image is damaged, its pixels or palette are missing")
    samples = 1 if colour == 3 else _PNG_CHANNELS[colour]
    # Decoders allocate all pixels first, and a few bytes must not ask for gigabytes.
    if width * height * samples * bits > 8 * _LARGEST_DEFLATE_RATIO * packed:
        raise truncated(path, "its pixels")
    return header


def _parse_jpeg(path: Path, data: bytes) -> ImageHeader:
    header: ImageHeader | None = None
    position, scanned = 2, False
    while True:
        # Coded pixels lie between segments, but only after a scan has started.
        found = (_JPEG_MARKER.search if scanned else _JPEG_MARKER.match)(data, position)
        if found is None:
            if scanned or position + 2 > len(data):
                raise truncated(path, "its pixels" if scanned else "its header")
            raise FileError(path, "the JPEG image is damaged, a segment is missing; fetch it again")
        marker, position = found[1][0], found.end()
        if marker == _JPEG_END:
            break
        (length,) = struct.unpack_from(">H", data, position)
        if position + length > len(data):
            raise truncated(path, "a JPEG segment")
        if marker in _JPEG_FRAMES:
            bits, height, width, channels = struct.unpack_from(">BHHB", data, position + 2)
            header = ImageHeader("JPEG", width, height, bits, channels)
        scanned = scanned or marker == _JPEG_SCAN
        position += length
    if header is None or not scanned:
        raise FileError(path, "the JPEG image is damaged, it holds no pixels; fetch it again")
    return header


def _parse_bmp(path: Path, data: bytes) -> ImageHeader:
    offset, _, width, height, _, bits, compression = struct.unpack_from("<IIiiHHI", data, 10)
    header = ImageHeader("BMP", width, abs(height), 8, 1 if bits <= 8 else 3)
    row_bytes = (width * bits + 31) // 32 * 4
    if compression == 0 and offset + row_bytes * abs(height) > len(data):
        raise truncated(path, "its pixels")
    if compression not in (0, 3):
        raise FileError(path, "expected an uncompressed BMP image; save it as PNG instead")
    return header


_PARSERS = (
    (re.escape(_PNG_SIGNATURE), _parse_png),
    (rb"\xff\xd8\xff", _parse_jpeg),
    (rb"II[*+]\x00|MM\x00[*+]", tiff.read_header),
    (rb"P[1-6]\s", pnm.read_header),
    (rb"BM", _parse_bmp),
)
