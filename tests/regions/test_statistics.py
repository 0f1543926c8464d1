"""Colour histograms and their χ² distance."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from partition.label_maps import label_maps
from slanted.errors import InputError
from slanted.regions import build_regions

HALVES = np.array([[0, 0, 1, 1]])


@settings(max_examples=40, deadline=None)
@given(label_maps, st.integers(0, 2**32 - 1))
def test_equals_the_naive_twins(labels, seed):
    image = np.random.default_rng(seed).integers(0, 256, (*labels.shape, 3), dtype=np.uint8)
    regions = build_regions(labels, image)
    points = naive.pixels_of(labels)
    expected = [naive.histogram(points[i], image) for i in range(regions.count)]
    np.testing.assert_array_equal(regions.histograms, expected)
    np.testing.assert_allclose(regions.histograms.sum(axis=1), 1, rtol=1e-14)
    distances = [naive.chi_squared(expected[i], expected[j]) for i, j in regions.edges]
    np.testing.assert_allclose(regions.chi_squared, distances, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("greys", "distance"),
    [
        ([0, 63, 10, 20], 0),  # one bin
        ([0, 64, 0, 255], 0.5),  # ½ (0 + ½² / ½ + ½² / ½)
        ([0, 0, 255, 192], 1),  # nothing in common
        ([0, 64, 64, 64], 1 / 3),  # ½ (½² / ½ + ½² / 3/2)
    ],
)
def test_distances_by_hand(greys, distance):
    image = np.array([greys], np.uint8)
    regions = build_regions(HALVES, image)
    assert regions.chi_squared.tolist() == [pytest.approx(distance, rel=1e-15)]
    # Grey is RGB of three equal channels.
    same = build_regions(HALVES, np.repeat(image[..., None], 3, axis=2))
    np.testing.assert_array_equal(same.histograms, regions.histograms)


def test_each_channel_has_its_place():
    image = np.zeros((1, 4, 3), np.uint8)
    image[0, 1], image[0, 2], image[0, 3] = (255, 0, 0), (0, 130, 0), (0, 0, 64)
    regions = build_regions(np.arange(4)[None], image)
    assert regions.histograms.argmax(axis=1).tolist() == [0, 3 * 16, 2 * 4, 1]
    assert regions.chi_squared.tolist() == [1, 1, 1]


def test_sixteen_bits_are_scaled_to_their_own_white():
    # 12 bit stored in 16: a plain division by 256 would put all into the darkest bin.
    image = (np.arange(64)[None] * 64).astype(np.uint16)
    regions = build_regions(np.zeros((1, 64), int), image)
    dark, *_, bright = regions.histograms[0][[0, 21, 42, 63]]
    assert dark == pytest.approx(0.25, abs=0.02)
    assert bright == pytest.approx(0.25, abs=0.02)


def test_without_an_image_there_are_none():
    regions = build_regions(HALVES)
    assert regions.histograms is None
    assert regions.chi_squared is None


def test_views_of_images_are_read_as_they_look():
    image = np.random.default_rng(0).integers(0, 256, (4, 6, 3), dtype=np.uint8)
    labels = np.arange(24).reshape(4, 6)
    flipped = build_regions(labels, image[::-1, :, ::-1])
    copied = build_regions(labels, image[::-1, :, ::-1].copy())
    np.testing.assert_array_equal(flipped.histograms, copied.histograms)


@pytest.mark.parametrize(
    ("image", "message"),
    [
        (np.zeros((1, 4, 3)), "expected a grey .* of type float64"),
        (np.zeros((1, 4, 4), np.uint8), r"got shape \(1, 4, 4\)"),
        (np.zeros(4, np.uint8), r"got shape \(4,\)"),
        (np.zeros((4, 1), np.uint8), "expected the size of the label image, 4×1, got 1×4"),
    ],
)
def test_unusable_images_are_named(image, message):
    with pytest.raises(InputError, match=f"^image: .*{message}.*; "):
        build_regions(HALVES, image)
