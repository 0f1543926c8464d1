"""The disparity is that of dense matches near planes, and where the right view looks like them."""

import numpy as np
import pytest

from slanted import estimate
from slanted.images.census import CensusPair, census_of_pair, differing_bits
from slanted.images.colour import grey_pair
from slanted.model.following import follow_matches
from slanted.regions import build_regions
from slanted.synthetic import make_scene

RNG = np.random.default_rng(5)
WIDTH = 60
RIGHT = RNG.integers(0, 2**62, (20, WIDTH), np.uint64)
SEGMENTS = build_regions(np.repeat([[0, 1]], 20, 0).repeat(WIDTH // 2, 1).astype(np.int32))
TRUTH = np.full((20, WIDTH), 5, np.float32)
CENSUS = CensusPair(np.roll(RIGHT, 5, axis=1), RIGHT)


def test_differing_bits_are_counted_one_by_one():
    disparity = RNG.uniform(-3, 40, RIGHT.shape).astype(np.float32)
    disparity[3, 4] = np.nan
    found = differing_bits(CENSUS.left, CENSUS.right, disparity)
    for y, x in np.ndindex(*found.shape):
        place = np.rint(np.float32(x) - disparity[y, x])
        inside = 0 <= place < WIDTH
        words = int(CENSUS.left[y, x]), int(RIGHT[y, int(place)]) if inside else 0
        assert found[y, x] == (bin(words[0] ^ words[1]).count("1") if inside else -1)


def test_matches_near_their_plane_are_followed():
    matched = TRUTH + RNG.uniform(-1.9, 1.9, TRUTH.shape).astype(np.float32)
    matched[4, 7] = np.nan
    found = follow_matches(TRUTH, matched, SEGMENTS, CENSUS, 2.0)
    np.testing.assert_array_equal(found, np.where(np.isnan(matched), TRUTH, matched))


@pytest.mark.parametrize("plane_is_right", [False, True])
def test_the_right_view_decides_where_they_are_far(plane_is_right):
    wrong = TRUTH + np.where(SEGMENTS.label_image == 0, 8, 0).astype(np.float32)
    planes, matched = (TRUTH, wrong) if plane_is_right else (wrong, TRUTH)
    found = follow_matches(planes, matched, SEGMENTS, CENSUS, 2.0)
    seen = np.arange(WIDTH) >= 13  # where both are inside the right view
    np.testing.assert_array_equal(found[:, seen], TRUTH[:, seen])


def test_segments_decide_each_for_themselves():
    is_first = SEGMENTS.label_image == 0
    planes = np.where(is_first, TRUTH, TRUTH + 8)
    matched = np.where(is_first, TRUTH + 8, TRUTH)
    np.testing.assert_array_equal(follow_matches(planes, matched, SEGMENTS, CENSUS, 2.0), TRUTH)


def test_matches_are_kept_where_nothing_speaks_for_the_plane():
    far_out = np.full_like(TRUTH, 200)  # the right view does not show it
    np.testing.assert_array_equal(
        follow_matches(TRUTH, far_out, SEGMENTS, CENSUS, 2.0), far_out
    )


def test_planes_labels_and_occlusions_do_not_depend_on_it():
    scene = make_scene(140, 90, segments=30, seed=3, max_disparity=22.0)
    given = scene.disparity + RNG.normal(0, 0.4, scene.disparity.shape).astype(np.float32)
    flat, following = (
        estimate(scene.left, scene.right, {"model.follow": near}, disparity=np.maximum(given, 0))
        for near in (0.0, 2.0)
    )
    np.testing.assert_array_equal(flat.planes, following.planes)
    np.testing.assert_array_equal(flat.labels, following.labels)
    np.testing.assert_array_equal(flat.occluded, following.occluded)
    near = np.abs(following.matched - flat.disparity) <= 2
    np.testing.assert_array_equal(following.disparity[near], following.matched[near])
    census = census_of_pair(grey_pair(scene.left, scene.right))
    drawn = follow_matches(flat.disparity, flat.matched, flat.regions, census, 2.0)
    np.testing.assert_array_equal(following.disparity, drawn)
