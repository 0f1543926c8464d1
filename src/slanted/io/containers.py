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
from slanted.io.image_header import ImageHeader, check_size, check_unpacked, truncated

_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_PNG_CHANNELS = {0: 1, 2: 3, 3: 3, 4: 2, 6: 4}  # a palette (3) holds RGB
_PNG_BITS = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}

_PNG_NEEDED = (b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND")
_LARGEST_DEFLATE_RATIO = 1032

# In coded pixels FF 00 is an escaped FF and FF D0–D7 are restart marks; others end the pixels.
_JPEG_MARKER = re.compile(rb"\xff+([^\x00\xd0-\xd7\xff])")
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_OLD_BMP_BYTES = 12
"""Size of the header of OS/2, whose fields are shorter."""
_BMP_MASKS = 3
"""Uncompressed, with masks for the colours."""
_JPEG_ARITHMETIC = 0xC9  # the first kind of frame that may code a block in less than a bit
_JPEG_SCAN, _JPEG_END = 0xDA, 0xD9
_MOST_SCANS = 100
"""Encoders write about ten; each makes the decoder go over all pixels once more."""


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
            check_unpacked(path, header, len(data))
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
    position, scans = 2, 0
    while True:
        # Coded pixels lie between segments, but only after a scan has started.
        found = (_JPEG_MARKER.search if scans else _JPEG_MARKER.match)(data, position)
        if found is None:
            if scans or position + 2 > len(data):
                raise truncated(path, "its pixels" if scans else "its header")
            raise FileError(path, "the JPEG image is damaged, a segment is missing; fetch it again")
        marker, position = found[1][0], found.end()
        if marker == _JPEG_END:
            break
        (length,) = struct.unpack_from(">H", data, position)
        if position + length > len(data):
            raise truncated(path, "a JPEG segment")
        if marker in _JPEG_FRAMES:
            if header is not None:  # decoders use the first, and a check of the last is none
                raise FileError(path, "the JPEG image is damaged, it has two headers")
            bits, height, width, channels = struct.unpack_from(">BHHB", data, position + 2)
            header = ImageHeader("JPEG", width, height, bits, channels)
            check_size(path, header)
            _check_coded(path, header, marker, len(data))
        scans += marker == _JPEG_SCAN
        if scans > _MOST_SCANS:
            raise FileError(
                path, f"expected a JPEG of at most {_MOST_SCANS} scans; save it as PNG instead"
            )
        position += length
    if header is None or not scans:
        raise FileError(path, "the JPEG image is damaged, it holds no pixels; fetch it again")
    return header


def _check_coded(path: Path, header: ImageHeader, marker: int, file_bytes: int) -> None:
    """Refuse a JPEG whose header claims more pixels than its file can hold.

    Decoders fill up what is missing with grey. A Huffman code takes at least a bit for each block
    of 8×8 pixels; a channel may have a quarter of the blocks of the image.
    """
    blocks = -(-header.width_pixels // 8) * -(-header.height_pixels // 8)
    if marker < _JPEG_ARITHMETIC and blocks > 4 * 8 * file_bytes:
        raise truncated(path, "its pixels")


def _parse_bmp(path: Path, data: bytes) -> ImageHeader:
    offset, size = struct.unpack_from("<II", data, 10)
    if size == _OLD_BMP_BYTES:
        width, height, _, bits = struct.unpack_from("<HHHH", data, 18)
        compression = 0
    else:
        width, height, _, bits, compression = struct.unpack_from("<iiHHI", data, 18)
    if compression not in (0, _BMP_MASKS):
        raise FileError(path, "expected an uncompressed BMP image; save it as PNG instead")
    header = ImageHeader("BMP", width, abs(height), 8, _bmp_channels(data, offset, size, bits))
    row_bytes = (width * bits + 31) // 32 * 4
    if offset + row_bytes * abs(height) > len(data):
        raise truncated(path, "its pixels")
    return header


def _bmp_channels(data: bytes, offset: int, size: int, bits: int) -> int:
    """Return 3 unless all colours of the palette are grey."""
    palette, entry = data[14 + size : offset][:1024], 3 if size == _OLD_BMP_BYTES else 4
    blue, green, red = (palette[channel::entry] for channel in range(3))
    return 1 if bits <= 8 and blue == green == red else 3


def pixels_only(data: bytes) -> bytes:
    """Return a PNG, which `read_header` has checked, without what is not needed to decode it.

    Decoders unpack texts and profiles as well, a thousand of them of 8 MB each, and the frames of
    animations.
    """
    parts, start, position, kind = [], 0, len(_PNG_SIGNATURE), b""
    while kind != b"IEND":
        length, kind = struct.unpack_from(">I4s", data, position)
        end = position + 12 + length
        if kind not in _PNG_NEEDED:
            parts.append(data[start:position])
            start = end
        position = end
    return b"".join([*parts, data[start:position]]) if parts else data


_PARSERS = (
    (re.escape(_PNG_SIGNATURE), _parse_png),
    (rb"\xff\xd8\xff", _parse_jpeg),
    (rb"II[*+]\x00|MM\x00[*+]", tiff.read_header),
    (rb"P[1-6]\s", pnm.read_header),
    (rb"BM", _parse_bmp),
)
