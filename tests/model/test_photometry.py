"""Planes are judged by what the views look like."""

import numpy as np
import pytest

from slanted.images.census import CensusPair, census_of_pair
from slanted.images.colour import grey_pair
from slanted.inference.local_fit import fit_local_planes
from slanted.model.evidence import Evidence
from slanted.model.observations import observe
from slanted.model.photometry import HIDDEN, photometric_cost
from slanted.pipeline import estimate
from slanted.regions import build_regions
from slanted.settings import Settings
from slanted.settings.matching import CENSUS_BITS
from slanted.synthetic import make_scene


def random_census(seed=0, shape=(12, 40)):
    rng = np.random.default_rng(seed)
    right = rng.integers(0, 2**62, shape, np.uint64)
    return CensusPair(np.roll(right, 7, axis=1), right)


def test_the_true_disparity_costs_nothing_and_hidden_pixels_a_constant():
    census = random_census()
    labels = np.zeros((12, 40), np.int32)
    labels[:, :8] = 1  # out of view, but for the last column
    regions = build_regions(labels)
    nothing = np.full(labels.shape, np.nan, np.float32)
    planes = np.zeros((2, 2, 3))
    planes[:, :, 2] = 7, 11
    seen = observe(regions, Evidence(nothing, census=census))
    cost = photometric_cost(regions, seen, planes)
    assert cost[0, 0] == 0
    assert cost[0, 1] > 0.4 * regions.size[0]
    # A fourth of the pixels are looked at, two a row here, and count for four.
    assert cost[1, 0] == 12 * 8 * HIDDEN / CENSUS_BITS
    np.testing.assert_array_equal(
        photometric_cost(regions, observe(regions, Evidence(nothing)), planes), 0
    )
    # Disparities counted from elsewhere make no difference, and weights do.
    low, shift = observe(regions, Evidence(nothing, census=census), -5.0), np.array([0, 0, 5])
    np.testing.assert_array_equal(photometric_cost(regions, low, planes + shift), cost)
    np.testing.assert_array_equal(photometric_cost(regions, seen.scaled(2.0), planes), 2 * cost)


def test_what_is_behind_something_nearer_is_hidden():
    census = random_census(1)
    regions = build_regions(np.zeros((12, 40), np.int32))
    nearer = np.full((12, 40), np.nan, np.float32)
    nearer[:, 20:30] = 15.0  # seen in columns 5 to 14 of the right view
    planes = np.array([[[0, 0, 7.0]]])
    hidden = photometric_cost(regions, observe(regions, Evidence(nearer, census=census)), planes)
    free = photometric_cost(
        regions, observe(regions, Evidence(nearer * np.nan, census=census)), planes
    )
    assert hidden - free == pytest.approx(12 * 10 * HIDDEN / CENSUS_BITS)


def test_words_do_not_depend_on_bits_or_colours():
    scene = make_scene(60, 40, segments=20, seed=1)
    left, right = (image[..., 0].copy() for image in (scene.left, scene.right))
    left[0, :9] = right[0, :9] = 255  # white, by which 16 bits are scaled
    census = census_of_pair(grey_pair(left, right))
    wide = census_of_pair(grey_pair(left.astype(np.uint16) * 257, right.astype(np.uint16) * 257))
    grey = census_of_pair(grey_pair(np.dstack([left] * 3), np.dstack([right] * 3)))
    for other in (wide, grey):
        np.testing.assert_array_equal(other.left, census.left)
        np.testing.assert_array_equal(other.right, census.right)


def test_local_planes_of_a_result_are_those_of_its_matches():
    scene = make_scene(120, 80, seed=2)
    settings = Settings().with_text({"segmentation.count": "30"})
    result = estimate(scene.left, scene.right, settings)
    observed = observe(result.regions, Evidence(result.matched))
    expected = fit_local_planes(result.regions, observed, result.model.truncation)
    np.testing.assert_array_equal(result.local_planes(), expected)
