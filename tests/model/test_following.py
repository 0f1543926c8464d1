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


def blurred(step):
    """Return the disparity with a depth edge in the first segment, and where it is not its own."""
    wrong = TRUTH.copy()
    wrong[:, 20:23] += step * np.array([0.3, 0.5, 0.8], np.float32)
    wrong[:, 23:30] += step
    return wrong, np.abs(wrong - TRUTH) > 2


@pytest.mark.parametrize("plane_is_right", [False, True])
def test_the_right_view_decides_at_depth_edges(plane_is_right):
    wrong, is_off = blurred(12.0)
    edge = np.zeros_like(is_off)
    edge[:, 18:25] = True  # where a window of 5 pixels sees more than a step of 4
    planes, matched = (TRUTH, wrong) if plane_is_right else (wrong, TRUTH)
    found = follow_matches(planes, matched, SEGMENTS, CENSUS, 2.0)
    np.testing.assert_array_equal(
        found, np.where(edge & is_off, planes if plane_is_right else matched, matched)
    )
    if plane_is_right:
        assert (found[:, 18:25] == TRUTH[:, 18:25]).all()
        assert (found[:, 26:30] == wrong[:, 26:30]).all()  # away from the edge the map is kept


def test_segments_decide_each_for_themselves():
    wrong, is_off = blurred(12.0)
    wrong[:, 30:] = wrong[:, :30]
    wrong[:, 23:30] = wrong[:, 53:] = 17
    is_first = SEGMENTS.label_image == 0
    planes = np.where(is_first, TRUTH, wrong)
    matched = np.where(is_first, wrong, TRUTH)
    found = follow_matches(planes, matched, SEGMENTS, CENSUS, 2.0)
    assert (found[:, 20:25] == TRUTH[:, 20:25]).all()
    assert (found[:, 32:] == TRUTH[:, 32:]).all()


def test_the_map_is_kept_where_nothing_speaks_for_the_plane():
    far_out, _ = blurred(200.0)  # the right view does not show it
    far_out[:, 20:30] = 205
    found = follow_matches(TRUTH, far_out, SEGMENTS, CENSUS, 2.0)
    np.testing.assert_array_equal(found, far_out)


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
