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


def naive(planes, matched, near):
    """Decide pixel by pixel where the map is off at a depth edge, and then segment by segment."""
    dense = np.where(np.isnan(matched), planes, matched)
    off = np.zeros(dense.shape, bool)
    for y, x in np.ndindex(*dense.shape):
        window = dense[max(y - 2, 0) : y + 3, max(x - 2, 0) : x + 3]
        is_edge = window.max() - window.min() > 2 * near
        off[y, x] = is_edge and abs(dense[y, x] - planes[y, x]) > near
    of_planes, of_map = (differing_bits(CENSUS.left, RIGHT, each) for each in (planes, dense))
    for segment in range(SEGMENTS.count):
        own = off & (SEGMENTS.label_image == segment)
        both = own & (of_planes >= 0) & (of_map >= 0)
        if both.any() and (of_planes[both] - of_map[both]).mean() < 1:
            dense[own] = planes[own]
    return dense


@pytest.mark.parametrize("seed", range(8))
def test_the_right_view_decides_at_depth_edges_alone(seed):
    rng = np.random.default_rng(seed)
    steps = rng.choice([0, 0, 0, 3, 9], (2, 5, 12)).repeat(4, 1).repeat(5, 2)
    planes, matched = (np.float32(TRUTH + each + rng.uniform(-1, 1)) for each in steps)
    matched[rng.random(TRUTH.shape) < 0.05] = np.nan
    found = follow_matches(planes, matched, SEGMENTS, CENSUS, 1.5)
    np.testing.assert_array_equal(found, naive(planes, matched, 1.5))


@pytest.mark.parametrize("plane_is_right", [False, True])
def test_the_better_one_of_plane_and_map_is_taken(plane_is_right):
    other = TRUTH.copy()
    other[:, 20:23] = 17  # a thin thing, all of it near its edges
    planes, matched = (TRUTH, other) if plane_is_right else (other, TRUTH)
    found = follow_matches(planes, matched, SEGMENTS, CENSUS, 2.0)
    # Of the map's own edges only: where it has none it is kept in any case.
    np.testing.assert_array_equal(found, TRUTH)


def test_the_map_is_kept_away_from_edges_and_where_nothing_speaks_for_the_plane():
    level = np.full_like(TRUTH, 17)
    np.testing.assert_array_equal(follow_matches(TRUTH, level, SEGMENTS, CENSUS, 2.0), level)
    far_out = TRUTH.copy()
    far_out[:, 20:30] = 205  # the right view does not show it
    np.testing.assert_array_equal(follow_matches(TRUTH, far_out, SEGMENTS, CENSUS, 2.0), far_out)


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
