"""Pixels of image messages, in every encoding."""

import array
from types import SimpleNamespace

import cv2
import numpy as np
import pytest

from ros import bags
from slanted.errors import InputError
from slanted.io.images import encode
from slanted.ros.images import ENCODINGS, image_of

RGB = np.random.default_rng(0).integers(0, 256, (6, 10, 3), np.uint8)
GREY = RGB[..., 0]
ALPHA = np.full((6, 10, 1), 7, np.uint8)


@pytest.mark.parametrize(
    ("encoding", "stored", "expected"),
    [
        ("mono8", GREY, GREY),
        ("8UC1", GREY, GREY),
        ("mono16", GREY.astype(np.uint16) * 257, GREY.astype(np.uint16) * 257),
        ("16UC1", GREY.astype(np.uint16) * 257, GREY.astype(np.uint16) * 257),
        ("rgb8", RGB, RGB),
        ("bgr8", RGB[..., ::-1], RGB),
        ("8UC3", RGB[..., ::-1], RGB),
        ("rgba8", np.concatenate([RGB, ALPHA], axis=2), RGB),
        ("bgra8", np.concatenate([RGB[..., ::-1], ALPHA], axis=2), RGB),
        ("rgb16", RGB.astype(np.uint16) * 257, RGB.astype(np.uint16) * 257),
        ("bgr16", RGB[..., ::-1].astype(np.uint16) * 257, RGB.astype(np.uint16) * 257),
    ],
)
@pytest.mark.parametrize("padding", [0, 6])
def test_pixels_are_those_that_were_stored(encoding, stored, expected, padding):
    found = image_of("/left", bags.image(stored, 0, encoding, padding=padding))
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == expected.dtype
    assert found.flags.c_contiguous


@pytest.mark.parametrize("pattern", ["rggb", "bggr", "gbrg", "grbg"])
@pytest.mark.parametrize(("bits", "kind"), [(8, np.uint8), (16, np.uint16)])
def test_bayer_patterns_have_the_colours_of_their_first_pixels(pattern, bits, kind):
    colour = {"r": 200, "g": 90, "b": 30}  # of a wall in one colour
    tile = np.array([[colour[c] for c in pattern[:2]], [colour[c] for c in pattern[2:]]], kind)
    message = bags.image(np.tile(tile, (4, 6)), 0, f"bayer_{pattern}{bits}")
    found = image_of("/left", message)
    assert found.shape == (8, 12, 3)
    assert (found[2:-2, 2:-2] == [200, 90, 30]).all()


def test_big_endian_pixels_are_turned():
    wide = GREY.astype(np.uint16) * 300
    message = bags.image(wide.byteswap(), 0, "mono16")
    message.is_bigendian = 1
    np.testing.assert_array_equal(image_of("/left", message), wide)


def test_arrays_of_rclpy_are_read_as_well():
    message = bags.image(RGB, 0)
    message.data = array.array("B", message.data.tobytes())
    np.testing.assert_array_equal(image_of("/left", message), RGB)


def test_compressed_images_are_decoded():
    png = bags.compressed(encode(".png", RGB[..., ::-1]), 0)
    np.testing.assert_array_equal(image_of("/left/compressed", png), RGB)
    smooth = cv2.GaussianBlur(np.tile(RGB, (8, 8, 1)), (0, 0), 8)
    jpeg = bags.compressed(encode(".jpg", smooth[..., ::-1]), 0)
    assert np.abs(image_of("/left/compressed", jpeg).astype(int) - smooth).max() < 30


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            {"encoding": "mono9"},
            r"/left: the encoding 'mono9' is not understood; did you mean mono",
        ),
        ({"encoding": "yuv422"}, "/left: the encoding 'yuv422' is not understood"),
        ({"height": 7}, "/left: expected 7 rows of 10 rgb8 pixels, 30 bytes each, got 180 bytes"),
        (
            {"step": 29},
            "expected 6 rows of 10 rgb8 pixels, 30 bytes each, got 180 bytes in rows of",
        ),
        ({"width": 0}, "expected 6 rows of 0 rgb8 pixels"),
    ],
)
def test_a_message_that_is_no_image_is_named(change, problem):
    message = bags.image(RGB, 0)
    for name, value in change.items():
        setattr(message, name, value)
    with pytest.raises(InputError, match=problem):
        image_of("/left", message)


@pytest.mark.parametrize("data", [b"", b"nothing", encode(".png", RGB)[:-40]])
def test_a_damaged_compressed_image_is_named(data):
    with pytest.raises(InputError, match=r"^/left: the compressed image "):
        image_of("/left", SimpleNamespace(format="png", data=data))


def test_the_encodings_of_the_documentation_are_all_there():
    from pathlib import Path

    page = (Path(__file__).parents[2] / "docs" / "robotics.md").read_text("utf-8")
    named = {name for name in ENCODINGS if not name.startswith("bayer_")}
    assert all(f"`{name}`" in page for name in named)
