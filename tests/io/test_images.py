import struct
import zlib

import cv2
import numpy as np
import pytest
import tifffile

from slanted.errors import FileError, InputError
from slanted.io import read_image, write_image

LOGGING = getattr(cv2.utils, "logging", cv2)
RNG = np.random.default_rng(7)
RGB8 = RNG.integers(0, 256, (9, 13, 3), dtype=np.uint8)
RGB16 = RNG.integers(0, 65536, (9, 13, 3), dtype=np.uint16)
GREY8, GREY16 = RGB8[..., 0], RGB16[..., 0]


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(width, height, bits, colour, rows, *extra):
    ihdr = struct.pack(">IIBBBBB", width, height, bits, colour, 0, 0, 0)
    pixels = zlib.compress(b"".join(b"\0" + row for row in rows))
    chunks = [chunk(b"IHDR", ihdr), *extra, chunk(b"IDAT", pixels), chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def encoded(suffix, image, *options):
    pixels = image if image.ndim == 2 else image[..., ::-1]
    return cv2.imencode(suffix, pixels, list(options))[1].tobytes()


def smooth(channels=3):
    ramp = np.linspace(0, 255, 64 * 48 * channels).reshape(48, 64, channels)
    return ramp.astype(np.uint8) if channels > 1 else ramp[..., 0].astype(np.uint8)


CASES = [
    (suffix, image)
    for suffix in (".png", ".tiff", ".tif", ".ppm", ".pgm", ".bmp")
    for image in (RGB8, RGB16, GREY8, GREY16)
    if not (suffix == ".bmp" and image.dtype == np.uint16)
    and not (suffix == ".ppm" and image.ndim == 2)
    and not (suffix == ".pgm" and image.ndim == 3)
]


@pytest.mark.parametrize(("suffix", "image"), CASES)
def test_round_trip(tmp_path, suffix, image):
    path = tmp_path / f"x{suffix}"
    write_image(path, image)
    back = read_image(path)
    assert back.dtype == image.dtype
    assert back.flags.c_contiguous
    np.testing.assert_array_equal(back, image)


def test_jpeg_is_close_and_keeps_red_red(tmp_path):
    image = np.zeros((16, 16, 3), np.uint8)
    image[..., 0] = 200
    write_image(tmp_path / "x.JPG", image)
    np.testing.assert_allclose(read_image(tmp_path / "x.JPG").astype(int), image, atol=4)


def test_content_decides_not_the_suffix(tmp_path):
    (tmp_path / "x.jpg").write_bytes(encoded(".png", RGB8))
    np.testing.assert_array_equal(read_image(tmp_path / "x.jpg"), RGB8)


PALETTE = bytes([10, 20, 30, 40, 50, 60])
HAND_MADE = {
    "palette": (
        png(2, 1, 8, 3, [b"\1\0"], chunk(b"PLTE", PALETTE)),
        np.array([[[40, 50, 60], [10, 20, 30]]], np.uint8),
    ),
    "palette with transparency": (
        png(2, 1, 8, 3, [b"\1\0"], chunk(b"PLTE", PALETTE), chunk(b"tRNS", b"\0\x80")),
        np.array([[[40, 50, 60], [10, 20, 30]]], np.uint8),
    ),
    "grey and alpha": (png(2, 1, 8, 4, [b"\xc8\x0a\x05\x00"]), np.array([[200, 5]], np.uint8)),
    "grey and alpha, 16 bit": (
        png(1, 1, 16, 4, [b"\x12\x34\x00\x01"]),
        np.array([[0x1234]], np.uint16),
    ),
    "RGB and alpha": (png(1, 1, 8, 6, [b"\1\2\3\0"]), np.array([[[1, 2, 3]]], np.uint8)),
    "1 bit": (png(3, 1, 1, 0, [b"\xa0"]), np.array([[255, 0, 255]], np.uint8)),
    "PGM with a comment": (b"P5 # hi\n2 # w\n1\n255\n\x20\x0a", np.array([[32, 10]], np.uint8)),
    "10-bit PGM": (b"P5\n2 1\n1023\n\x03\xff\x00\x10", np.array([[1023, 16]], np.uint16)),
    "7-bit PGM": (b"P5\n2 1\n100\n\x32\x64", np.array([[50, 100]], np.uint8)),
    "plain PGM": (b"P2\n2 1\n9\n3 9", np.array([[3, 9]], np.uint8)),
    "plain PPM": (b"P3\n1 1\n300\n3 9 300\n", np.array([[[3, 9, 300]]], np.uint16)),
}


@pytest.mark.parametrize("name", HAND_MADE)
def test_kinds_made_by_hand(tmp_path, name):
    data, expected = HAND_MADE[name]
    (tmp_path / "x").write_bytes(data)
    image = read_image(tmp_path / "x")
    assert image.dtype == expected.dtype
    np.testing.assert_array_equal(image, expected)


SMOOTH = smooth()
COMPLETE = {
    "png": encoded(".png", SMOOTH),
    "png16": encoded(".png", RGB16),
    "jpeg": encoded(".jpg", SMOOTH),
    "progressive jpeg": encoded(".jpg", SMOOTH, cv2.IMWRITE_JPEG_PROGRESSIVE, 1),
    "jpeg with restarts": encoded(".jpg", SMOOTH, cv2.IMWRITE_JPEG_RST_INTERVAL, 2),
    "tiff": encoded(".tiff", SMOOTH),
    "tiff uncompressed": encoded(".tiff", SMOOTH, cv2.IMWRITE_TIFF_COMPRESSION, 1),
    "tiff16": encoded(".tiff", RGB16),
    "ppm": encoded(".ppm", SMOOTH),
    "pgm16": encoded(".pgm", GREY16),
    "bmp": encoded(".bmp", SMOOTH),
    "plain pgm": b"P2\n4 2\n255\n" + b"100 " * 8,
}


@pytest.mark.parametrize("name", COMPLETE)
def test_every_truncation_is_refused_silently(tmp_path, capfd, name):
    data = COMPLETE[name]
    path = tmp_path / "x"
    path.write_bytes(data)
    read_image(path)
    # The last bytes of a TIFF may be padding, and of a plain PGM white space; nothing else is.
    spare = {"plain pgm": 3}.get(name, 0)
    lengths = {*range(1, 40), *range(40, len(data), max(1, len(data) // 60))}
    lengths |= {len(data) - n for n in range(1, 40)}
    accepted = []
    for length in sorted(n for n in lengths if 0 < n < len(data) - spare):
        path.write_bytes(data[:length])
        try:
            read_image(path)
        except FileError:
            continue
        accepted.append(length - len(data))
    assert accepted == []
    assert capfd.readouterr() == ("", "")


def png_of_size(width, height):
    return png(width, height, 8, 0, [b"\0"])


def tiff_field(data, tag, value):
    """Change one short field of a little-endian TIFF."""
    position = data.index(struct.pack("<HHI", tag, 3, 1), struct.unpack_from("<I", data, 4)[0])
    return data[: position + 8] + struct.pack("<H", value) + data[position + 10 :]


def tiff_entries(data, count):
    """Change the number of entries in the directory of a little-endian TIFF."""
    (start,) = struct.unpack_from("<I", data, 4)
    return data[:start] + struct.pack("<H", count) + data[start + 2 :]


FLIPPED = bytearray(COMPLETE["png"])
FLIPPED[60] ^= 1
BAD = {
    "text": (b"hello world", "is not an image"),
    "html": (b"<!DOCTYPE html><html></html>", "is not an image"),
    "gif": (b"GIF89a" + bytes(30), "is not an image"),
    "huge png": (png_of_size(2**20, 2**20), "header says 1048576 × 1048576"),
    "flat png": (png_of_size(0, 5), "header says 0 × 5"),
    "huge pgm": (b"P5\n99999 99999\n255\n" + bytes(99), "truncated"),
    "flat pgm": (b"P5\n0 3\n255\n" + bytes(9), "header says 0 × 3"),
    "png checksum": (bytes(FLIPPED), "a checksum is wrong"),
    "png depth": (png(1, 1, 3, 0, [b"\0"]), "colour type 0 with 3 bits"),
    "png without pixels": (COMPLETE["png"][:33] + chunk(b"IEND", b""), "are missing"),
    "pbm": (b"P4\n8 1\n\xff", "wrong bit depth"),
    "pgm depth": (b"P5\n1 1\n70000\n\0\0\0", "1 to 65535"),
    "pgm header": (b"P5\n1 x\n255\n\0", "header is damaged"),
    "pgm value": (b"P5\n1 1\n100\n\xff", "above the largest value 100"),
    "plain pgm word": (b"P2\n1 1\n255\nred", "not a number"),
    "plain pgm sign": (b"P2\n1 1\n255\n-4", "negative"),
    "float tiff": (encoded(".tiff", GREY8.astype(np.float32)), "wrong bit depth"),
    "inverted tiff16": (tiff_field(COMPLETE["tiff16"], 262, 0), "white is zero"),
    "inverted tiff9": (
        tiff_field(tiff_field(encoded(".tiff", GREY16), 258, 9), 262, 0),
        "white is zero (inverted) with more than 8 bits",
    ),
    "planar tiff16": (tiff_field(COMPLETE["tiff16"], 284, 2), "one plane per channel"),
    "tiff directory": (tiff_entries(COMPLETE["tiff"], 60000), "it ends within its directory"),
    "jpeg without its end": (COMPLETE["jpeg"][:-2], "ends within its pixels"),
    "jpeg head": (COMPLETE["jpeg"][:20] + b"\xff\xd9", "holds no pixels"),
    "jpeg gap": (COMPLETE["jpeg"][:20] + b"\0\0\0\0" + COMPLETE["jpeg"][20:], "damaged"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_images_are_refused_with_a_reason(tmp_path, check_refused, name):
    data, fragment = BAD[name]
    (tmp_path / "bad.png").write_bytes(data)
    check_refused(read_image, tmp_path / "bad.png", fragment)


def test_transparent_8_bit_tiff_is_refused_and_opaque_is_read(tmp_path):
    pixels = np.dstack([RGB8[..., ::-1], np.full(RGB8.shape[:2], 255, np.uint8)])
    (tmp_path / "x.tiff").write_bytes(cv2.imencode(".tiff", pixels)[1].tobytes())
    np.testing.assert_array_equal(read_image(tmp_path / "x.tiff"), RGB8)
    pixels[0, 0, 3] = 10
    (tmp_path / "x.tiff").write_bytes(cv2.imencode(".tiff", pixels)[1].tobytes())
    with pytest.raises(FileError, match="transparent"):
        read_image(tmp_path / "x.tiff")


def test_opencv_does_not_print_about_private_tags(tmp_path, capfd):
    data = encoded(".tiff", SMOOTH, cv2.IMWRITE_TIFF_COMPRESSION, 1)
    position = data.rindex(struct.pack("<HH", 339, 3))  # the last tag, whose value is the default
    data = data[:position] + struct.pack("<H", 60000) + data[position + 2 :]
    (tmp_path / "x.tiff").write_bytes(data)
    np.testing.assert_array_equal(read_image(tmp_path / "x.tiff"), SMOOTH)
    assert capfd.readouterr() == ("", "")


def test_values_of_a_tiff_may_lie_at_its_very_end_and_not_beyond(tmp_path):
    data = encoded(".tiff", SMOOTH, cv2.IMWRITE_TIFF_COMPRESSION, 1)
    entry = data.index(struct.pack("<HHI", 258, 3, 3))  # bits of each channel, kept elsewhere
    data = data[: entry + 8] + struct.pack("<I", len(data)) + data[entry + 12 :]
    data += struct.pack("<HHH", 8, 8, 8)
    (tmp_path / "x.tiff").write_bytes(data)
    np.testing.assert_array_equal(read_image(tmp_path / "x.tiff"), SMOOTH)
    for missing in range(1, 7):
        (tmp_path / "x.tiff").write_bytes(data[:-missing])
        with pytest.raises(FileError, match="it ends within its directory"):
            read_image(tmp_path / "x.tiff")


@pytest.mark.parametrize("byteorder", "<>")
@pytest.mark.parametrize("is_big", [False, True])
def test_tiffs_of_both_sizes_and_byte_orders_are_read(tmp_path, byteorder, is_big):
    for image in (GREY8, RGB8, GREY16):
        colours = "rgb" if image.ndim == 3 else "minisblack"
        options = {"bigtiff": is_big, "byteorder": byteorder, "photometric": colours}
        tifffile.imwrite(tmp_path / "x.tiff", image, **options)
        np.testing.assert_array_equal(read_image(tmp_path / "x.tiff"), image)


def test_log_level_of_opencv_is_restored(tmp_path):
    level = LOGGING.getLogLevel()
    write_image(tmp_path / "x.png", RGB8)
    read_image(tmp_path / "x.png")
    assert LOGGING.getLogLevel() == level


@pytest.mark.parametrize(
    ("name", "image", "fragment"),
    [
        ("x.png", GREY8.astype(float), "expected uint8 or uint16"),
        ("x.png", GREY8[0], "expected shape"),
        ("x.png", GREY8[:0], "at least one pixel"),
        ("x.png", np.zeros((2, 2, 4), np.uint8), "expected shape"),
        ("x.jpg", GREY16, "holds 8 bits"),
        ("x.pgm", RGB8, "grey only"),
        ("x.ppm", GREY8, "RGB only"),
    ],
)
def test_images_that_cannot_be_written(tmp_path, name, image, fragment):
    with pytest.raises(InputError, match=fragment):
        write_image(tmp_path / name, image)
    assert list(tmp_path.iterdir()) == []


def test_unknown_suffix_lists_the_known_ones(tmp_path):
    with pytest.raises(FileError, match=r"\.png, \.jpg.*not '\.gif'"):
        write_image(tmp_path / "x.gif", RGB8)
