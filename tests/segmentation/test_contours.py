"""Oriented gradients, the hierarchy of regions, and contours of the user's own."""

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from slanted.errors import FileError
from slanted.images.colour import lab_planes
from slanted.segmentation import make_ucm
from slanted.segmentation.contour_kernels import BINS, add_histogram_gradient, disc_slices
from slanted.segmentation.contours import contours_from_user, find_contours, strongest
from slanted.segmentation.ucm import build_ucm
from slanted.settings import SegmentationSettings, UcmSettings


def edge_image(angle, size=81):
    """Dark on one side of a line through the middle, bright on the other."""
    ys, xs = np.mgrid[:size, :size] - size // 2
    side = np.cos(angle) * xs + np.sin(angle) * ys
    return np.where(side > 0, 200, 60).astype(np.uint8)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.integers(2, 6), st.integers(2, 6))
def test_gradient_equals_its_naive_twin(seed, radius, height, width):
    rng = np.random.default_rng(seed)
    shape = (height + 2 * radius, width + 2 * radius)
    bins = rng.integers(0, BINS - 1, shape, dtype=np.uint8)
    fractions = rng.random(shape).astype(np.float32)
    gradient = np.ones((8, height, width), np.float32)
    add_histogram_gradient(bins, fractions, *disc_slices(radius), gradient)
    expected = 1 + naive.histogram_gradient(bins, fractions, radius, BINS)
    np.testing.assert_allclose(gradient, expected, atol=2e-4)


@pytest.mark.parametrize("radius", [1, 3, 5, 8])
def test_opposite_half_discs_weigh_the_same(radius):
    offsets, slices, weights = disc_slices(radius)
    per_slice = np.bincount(slices, weights=weights, minlength=16)
    np.testing.assert_allclose(per_slice[:8], per_slice[8:])
    assert (offsets**2).sum(axis=1).max() <= radius * (radius + 0.5)


@pytest.mark.parametrize("k", range(8))
def test_the_gradient_points_across_the_edge(k):
    strength, angles = strongest(find_contours(lab_planes(edge_image(k * np.pi / 8))))
    middle = (slice(35, 46), slice(35, 46))
    on_edge = strength[middle] > 0.8 * strength[middle].max()
    apart = np.abs(angles[middle][on_edge] - k * np.pi / 8)
    assert np.minimum(apart, np.pi - apart).max() <= np.pi / 8 + 1e-6
    away = 40 + round(30 * np.sin(k * np.pi / 8)), 40 + round(30 * np.cos(k * np.pi / 8))
    assert strength[away] < 0.1 * strength[40, 40]


def test_a_hierarchy_cuts_where_the_contours_are():
    image = np.full((90, 120), 60, np.uint8)
    image[20:60, 30:80] = 200  # strong
    image[:, 100:] = 64  # weak
    ucm = make_ucm(image, SegmentationSettings())
    two = ucm.cut_regions(2)
    inside = two == two[40, 50]
    assert abs(int(inside.sum()) - 40 * 50) < 0.15 * 40 * 50
    three = ucm.cut_regions(3)
    assert three.max() == 2
    assert three[10, 110] != three[10, 10]
    picture = ucm.picture()
    assert picture[40, 28:32].max() > 2 * picture[10, 97:104].max() > 0
    strong = ucm.cut_threshold(float(picture[10, 97:104].max()) * 1.5)
    assert strong[10, 110] == strong[10, 10] != strong[40, 50]


def test_a_constant_image_is_one_region():
    ucm = make_ucm(np.full((30, 40, 3), 77, np.uint8), SegmentationSettings())
    assert ucm.cut_regions(10).max() == 0
    assert ucm.cut_threshold(0.5).max() == 0
    assert np.allclose(ucm.picture(), 0)


def test_contours_of_the_users_own_as_an_image(tmp_path):
    drawn = np.zeros((60, 80), np.uint8)
    cv2.line(drawn, (40, 0), (40, 59), 255, 3)
    cv2.imwrite(str(tmp_path / "drawn.png"), drawn)
    ucm = UcmSettings(contours=str(tmp_path / "drawn.png"))
    labels = make_ucm(np.zeros((60, 80), np.uint8), SegmentationSettings(ucm=ucm)).cut_regions(2)
    assert labels[30, 10] != labels[30, 70]
    assert (labels[:, :35] == labels[0, 0]).all()
    _, angles = contours_from_user(tmp_path / "drawn.png", np.zeros((60, 80, 3), np.uint8))
    across = np.minimum(angles[30, 40], np.pi - angles[30, 40])
    assert across < 0.2  # a vertical line has a horizontal gradient
    with pytest.raises(
        FileError, match=r"drawn\.png: expected contours of the image's size, 81×60"
    ):
        contours_from_user(tmp_path / "drawn.png", np.zeros((60, 81, 3), np.uint8))


def message(*fields):
    """Write protobuf fields: (number, int | bytes)."""

    def varint(value):
        parts = []
        while value > 127:
            parts.append(value & 127 | 128)
            value >>= 7
        return bytes([*parts, value])

    out = b""
    for number, value in fields:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
        else:
            out += varint(number << 3 | 2) + varint(len(value)) + value
    return out


def tiny_onnx():
    """A model of one node: the mean over the channels, as bytes of ONNX's protobuf."""
    axes = message((1, b"axes"), (8, 1), (20, 7))
    keep = message((1, b"keepdims"), (3, 1), (20, 2))
    node = message((1, b"x"), (2, b"y"), (4, b"ReduceMean"), (5, axes), (5, keep))

    def value(name, channels):
        dims = [(1, 1), (1, channels), (1, 40), (1, 50)]
        shape = message(*[(1, message(d)) for d in dims])
        return message((1, name), (2, message((1, message((1, 1), (2, shape))))))

    graph = message((1, node), (2, b"g"), (11, value(b"x", 3)), (12, value(b"y", 1)))
    return message((1, 8), (7, graph), (8, message((2, 11))))


def test_contours_by_an_onnx_model(tmp_path):
    (tmp_path / "mean.onnx").write_bytes(tiny_onnx())
    image = np.zeros((40, 50, 3), np.uint8)
    image[:, 24:26] = 255
    strength, _ = contours_from_user(tmp_path / "mean.onnx", image)
    np.testing.assert_allclose(strength, image[..., 0] / 255.0, atol=1e-6)
    (tmp_path / "bad.onnx").write_bytes(b"nothing of the kind")
    with pytest.raises(FileError, match=r"bad\.onnx: OpenCV cannot run"):
        contours_from_user(tmp_path / "bad.onnx", image)


def test_the_hierarchy_respects_a_given_strength():
    strength = np.zeros((20, 30), np.float32)
    strength[:, 14:16] = 0.5
    ucm = build_ucm(strength, np.zeros_like(strength))
    assert ucm.cut_threshold(0.9).max() == 0
    assert ucm.cut_threshold(0.1).max() == 1
