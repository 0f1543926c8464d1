"""Small files that claim to be large: each must be read or refused in little memory and time.

``python -m fuzz.measure`` runs commands on them; scaled down they are seeds of the fuzz targets.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator

PNG = b"\x89PNG\r\n\x1a\n"
LARGEST_SEED = 20_000
_BLOCK = 2**20
Make = Callable[[float], bytes]


def png_chunk(kind: bytes, body: bytes) -> bytes:
    """Return a chunk of a PNG file with its checksum."""
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def zeros(count: int) -> bytes:
    """Return so many zeros, packed by zlib, without ever having them all."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = packer.compress(bytes(_BLOCK)) + packer.flush(zlib.Z_FULL_FLUSH)
    rest = packer.compress(bytes(count % _BLOCK)) + packer.flush()
    checksum = (count % 65_521) << 16 | 1
    return b"\x78\xda" + block * (count // _BLOCK) + rest + struct.pack(">I", checksum)


def png(side: int, bits: int = 8, colour: int = 0, extra: bytes = b"") -> bytes:
    """Return a black square PNG, with chunks `extra` before its pixels."""
    header = struct.pack(">IIBBBBB", side, side, bits, colour, 0, 0, 0)
    samples = {0: 1, 2: 3, 4: 2, 6: 4}[colour]
    pixels = zeros(side * (side * samples * bits // 8 + 1))
    body = png_chunk(b"IHDR", header) + extra + png_chunk(b"IDAT", pixels)
    return PNG + body + png_chunk(b"IEND", b"")


def jpeg(width: int, height: int, scans: int = 1, frames: int = 1, body: bytes = b"abc") -> bytes:
    """Return a JPEG that ends long before its pixels do."""
    import cv2
    import numpy as np

    tables = cv2.imencode(".jpg", np.zeros((8, 8), np.uint8))[1].tobytes()
    start = tables.index(b"\xff\xc0")
    end = tables.index(b"\xff\xda")
    (length,) = struct.unpack_from(">H", tables, start + 2)
    size = struct.pack(">HH", height, width)
    frame = tables[start : start + 5] + size + tables[start + 9 : start + 2 + length]
    small = tables[start : start + 2 + length]
    rest = tables[start + 2 + length : end]
    (scan_length,) = struct.unpack_from(">H", tables, end + 2)
    scan = tables[end : end + 2 + scan_length] + body
    more = b"".join(small + scan for _ in range(frames - 1))
    return tables[:start] + frame + rest + scan * scans + more + b"\xff\xd9"


def progressive_jpeg(side: int, scans: int) -> bytes:
    """Return a progressive JPEG that goes over all its pixels again and again."""
    table = struct.pack(">HB", 19 + 1, 0) + bytes([1] + [0] * 15) + b"\0"
    ac = struct.pack(">HB", 19 + 1, 0x10) + bytes([1] + [0] * 15) + b"\xe0"
    quantities = struct.pack(">HB", 67, 0) + bytes([1] * 64)
    frame = struct.pack(">HBHHB", 11, 8, side, side, 1) + b"\1\x11\0"
    first = struct.pack(">HBBBBBB", 8, 1, 1, 0, 0, 0, 0) + bytes(side * side // 512 + 2)
    # A run of 2^14 blocks without coefficients takes 15 bits.
    again = struct.pack(">HBBBBBB", 8, 1, 1, 0, 1, 63, 0) + bytes(2 * (side * side // 2**20) + 4)
    return b"".join([
        b"\xff\xd8", b"\xff\xdb", quantities, b"\xff\xc2", frame, b"\xff\xc4", table, b"\xff\xc4",
        ac, b"\xff\xda", first, (b"\xff\xda" + again) * scans, b"\xff\xd9",
    ])  # fmt: skip


def tiff(fields: list[tuple[int, int, int, int]], tail: bytes = b"") -> bytes:
    """Return a little-endian TIFF whose directory has (tag, type, count, value) entries."""
    entries = b"".join(struct.pack("<HHII", *field) for field in fields)
    head = b"II*\0" + struct.pack("<IH", 8, len(fields))
    return head + entries + bytes(4) + tail


def deflated_tiff(side: int, bits: int = 8) -> bytes:
    """Return a black square TIFF of one packed strip."""
    pixels = zeros(side * side * bits // 8)
    at = 8 + 2 + 12 * 9 + 4
    return tiff(
        [(256, 4, 1, side), (257, 4, 1, side), (258, 3, 1, bits), (259, 3, 1, 8), (262, 3, 1, 1),
         (273, 4, 1, at), (277, 3, 1, 1), (278, 4, 1, side), (279, 4, 1, len(pixels))],
        pixels,
    )  # fmt: skip


def tiled_tiff(side: int) -> bytes:
    """Return a small TIFF whose only tile is large."""
    at, tile = 8 + 2 + 12 * 9 + 4, zeros(side * side)
    return tiff(
        [(256, 4, 1, 16), (257, 4, 1, 16), (258, 3, 1, 8), (259, 3, 1, 8), (262, 3, 1, 1),
         (322, 4, 1, side), (323, 4, 1, side), (324, 4, 1, at), (325, 4, 1, len(tile))],
        tile,
    )  # fmt: skip


def tiff_of_tags(count: int, size: int) -> bytes:
    """Return a TIFF of many fields that all lie on the same bytes."""
    at = 8 + 2 + 12 * count + 4
    fields = [(1000 + number, 1, size, at) for number in range(count - 4)]
    needed = [(256, 4, 1, 8), (257, 4, 1, 8), (273, 4, 1, 8), (279, 4, 1, 64)]
    return tiff([*needed, *fields], bytes(size))


def tiff_of_strips(count: int) -> bytes:
    """Return a TIFF of many strips, whose tables share their bytes."""
    at = 8 + 2 + 12 * 9 + 4
    return tiff(
        [(256, 4, 1, 8), (257, 4, 1, count), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1),
         (273, 4, count, at), (277, 3, 1, 1), (278, 4, 1, 1), (279, 4, count, at)],
        struct.pack("<I", 8) * count,
    )  # fmt: skip


def bmp_of_few_bytes(width: int, height: int) -> bytes:
    """Return a BMP with the short header of OS/2 that claims many pixels."""
    head = b"BM" + struct.pack("<IHHI", 0, 0, 0, 26)
    return head + struct.pack("<IHHHH", 12, width, height, 1, 24) + bytes(4000)


def bmp_of_bits(width: int, height: int) -> bytes:
    """Return a BMP of one bit per pixel and two colours, which takes 24 times as much unpacked."""
    head = b"BM" + struct.pack("<IIIIiiHHI", 0, 0, 62, 40, width, height, 1, 1, 0)
    return head + bytes(20) + b"\0\0\xff\0\0\xff\0\0" + bytes(-(-width // 32) * 4 * height)


def masked_bmp(width: int, height: int) -> bytes:
    """Return a BMP with colour masks and hardly any pixels."""
    head = b"BM" + struct.pack("<IIIIiiHHI", 0, 0, 70, 40, width, height, 1, 32, 3)
    return head + struct.pack("<IIIIIIII", 0, 0, 0, 0, 0, 0xFF0000, 0xFF00, 0xFF) + bytes(4000)


def npz(members: dict[str, tuple[str, tuple[int, ...], int]]) -> bytes:
    """Return an archive of zeros: for each name a dtype, a shape and its number of bytes."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, (dtype, shape, size) in members.items():
            text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}}}\n".encode()
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                member.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text)
                for at in range(0, size, 2**20):
                    member.write(bytes(min(2**20, size - at)))
    return stream.getvalue()


def zip_of_entries(count: int) -> bytes:
    """Return an archive with many names for one member."""
    local = b"PK\3\4" + struct.pack("<HHHHHIIIHH", 20, 0, 0, 0, 33, 0, 0, 0, 1, 0) + b"a"
    entry = b"PK\1\2" + struct.pack("<HHHHHHIIIHHHHHII", 20, 20, 0, 0, 0, 33, 0, 0, 0, 4, 0, 0, 0,
                                    0, 0, 0)  # fmt: skip
    entries = b"".join(entry + struct.pack("<I", number) for number in range(count))
    end = b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 0, 0, len(entries), len(local), 0)
    return local + entries + end


def _n(count: float, scale: float) -> int:
    return max(1, int(count * scale))


def _side(side: float, scale: float) -> int:
    return max(16, int(side * scale**0.5))


def glb(content: bytes) -> bytes:
    """Return a binary glTF file with some JSON."""
    return b"glTF" + struct.pack("<III4s", 2, 20 + len(content), len(content), b"JSON") + content


def numbered(pattern: bytes, count: int) -> bytes:
    """Return a pattern with each number below `count`."""
    return b"".join(pattern % number for number in range(count))


def _images() -> Iterator[tuple[str, Make]]:
    texts = png_chunk(b"zTXt", b"a\0\0" + zeros(7_900_000))
    profile = png_chunk(b"iCCP", b"a\0\0" + zeros(2**30))
    empty = png_chunk(b"IDAT", b"")
    yield "rgba16.png", lambda s: png(_side(12_000, s), 16, 6)
    yield "grey16.png", lambda s: png(_side(23_000, s), 16)
    yield "texts.png", lambda s: png(64, extra=texts * _n(1000, s))
    yield "profile.png", lambda s: png(64, extra=profile if s == 1 else texts)
    yield "chunks.png", lambda s: png(64, extra=empty * _n(1_300_000, s))
    yield "claims.jpg", lambda s: jpeg(65_000, 8_000)
    yield "dark.jpg", lambda s: jpeg(*[_side(22_000, s)] * 2, body=bytes(_n(15_000_000, s)))
    yield "frames.jpg", lambda s: jpeg(65_000, 8_000, frames=2, body=bytes(_n(3e5, s)))
    yield "scans.jpg", lambda s: progressive_jpeg(_side(8000, s), _n(10_000, s))
    yield "deflated.tif", lambda s: deflated_tiff(_side(20_000, s))
    yield "tile.tif", lambda s: tiled_tiff(_side(16_384, s))
    yield "tags.tif", lambda s: tiff_of_tags(_n(60_000, s) + 4, _n(15_000_000, s))
    yield "strips.tif", lambda s: tiff_of_strips(_n(4_000_000, s))
    yield "short.bmp", lambda s: bmp_of_few_bytes(32_000, 16_000)
    yield "masks.bmp", lambda s: masked_bmp(20_000, 20_000)
    yield "bits.bmp", lambda s: bmp_of_bits(11_000, _n(11_000, s))
    yield "comments.pgm", lambda s: b"P5\n" + b"#\n" * _n(5e6, s) + b"1 1 255\n0"
    yield "spaces.pgm", lambda s: b"P5" + b"\n" * _n(16e6, s)
    yield "words.pgm", lambda s: b"P2 400 %d 9\n" % _n(19_900, s) + b"1 " * 400 * _n(19_900, s)


def _texts() -> Iterator[tuple[str, Make]]:
    yield "dots.toml", lambda s: b"a." * _n(40_000, s) + b"a = 1\n"
    yield "quoted.toml", lambda s: b"''." * _n(40_000, s) + b"a = 1\n"
    yield (
        "table.toml",
        lambda s: b"[%sa]\n" % (b"a." * _n(9e4, s)) + numbered(b"a%d=1\n", _n(3e4, s)),
    )
    yield "within.toml", lambda s: b"a = {" + b"a." * _n(40_000, s) + b"a = 1}\n"
    yield "keys.toml", lambda s: numbered(b"a%d=1\n", _n(1.5e6, s))
    yield "tables.toml", lambda s: numbered(b"[a%d]\n", _n(1.5e6, s))
    yield "small_tables.toml", lambda s: numbered(b"[a.a.a.a.%d]\n", _n(3.2e4, s))
    yield "lists.toml", lambda s: b"[[a]]\n" * _n(2e6, s)
    yield "nested.toml", lambda s: b"a = " + b"[" * _n(5e5, s)
    yield "empties.toml", lambda s: b"a = [" + b"[]," * _n(5e6, s) + b"]"
    yield "hex.toml", lambda s: b"seed = 0x" + b"f" * _n(16e6, s)
    yield "small_hex.toml", lambda s: b"seed = 0x" + b"f" * _n(5e5, s)
    yield "digits.toml", lambda s: b"seed = " + b"9" * _n(16e6, s)
    yield "long.toml", lambda s: b"a" * _n(16e6, s) + b" = 1"
    yield "objects.json", lambda s: b'{"features": [' + b'{"":1},' * _n(2.2e6, s) + b"1]}"
    yield "arrays.json", lambda s: b'{"features": [' + b"[]," * _n(5e6, s) + b"1]}"
    yield "names.json", lambda s: b"{%s}" % numbered(b'"%x":1,', _n(1e6, s))[:-1]
    yield "nested.json", lambda s: b'{"features": ' + b"[" * 900 + b"]" * 900 + b"}"
    yield "deep.json", lambda s: b'{"a":' * _n(3e6, s)
    yield "lines.jsonl", lambda s: b"{}\n" * _n(5.3e6, s)
    yield "pairs.jsonl", lambda s: b'{"name":"a","status":""}\n' * _n(6.4e5, s)
    yield "columns.csv", lambda s: numbered(b"%x,", _n(2.3e6, s)) + b"\n1\n"
    yield "commas.csv", lambda s: b"," * _n(16e6, s)
    yield "rows.csv", lambda s: b"name,status\n" + b",\n" * _n(7.9e6, s)
    yield "long_rows.csv", lambda s: b"name,status\n" + b'"\n",' * _n(3.9e6, s)
    yield "mesh.glb", lambda s: glb(b'{"accessors":[],"meshes":[%s{}]}' % (b"{}," * _n(5e6, s)))


def _calibrations() -> Iterator[tuple[str, Make]]:
    yield "blank.txt", lambda s: b"\n" * _n(1e6, s)
    yield "numbers.txt", lambda s: b"P0: 1" + b" 1" * _n(5e5, s)
    yield "scalars.yaml", lambda s: b"camera_name: [" + b"1," * _n(65_000, s) + b"1]\n"
    yield "lists.yaml", lambda s: b"camera_name:\n" + b"- 1\n" * _n(32_000, s)
    yield "maps.yaml", lambda s: b"camera_name: x\n" + numbered(b"%d: 1\n", _n(12_000, s))


def _arrays() -> Iterator[tuple[str, Make]]:
    yield "complex.npz", lambda s: npz({"a": ("<c32", (_n(2**24, s),), 32 * _n(2**24, s))})
    yield "entries.npz", lambda s: zip_of_entries(_n(320_000, s))


BOMBS: dict[str, Make] = dict(
    bomb for bombs in (_images, _texts, _calibrations, _arrays) for bomb in bombs()
)
"""What makes each file, by its name.

Called with 1, each gives a file of less than 16 MB; with 0.001, one of a few kilobytes.
"""


def seeds(*suffixes: str) -> list[bytes]:
    """Return small files of the kinds of `BOMBS`, as seeds of a fuzzer."""
    made = [make(0.001) for name, make in BOMBS.items() if name.endswith(suffixes)]
    return [data for data in made if len(data) < LARGEST_SEED]
