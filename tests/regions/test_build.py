"""Every array of Regions against its slow, obvious twin."""

import pickle
from dataclasses import fields
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

import naive
from partition.label_maps import SPECIAL_MAPS, checks, label_maps, segments
from slanted.regions import BOUNDARY_REACH, build_regions
from slanted.regions.hull_kernels import convex_hulls
from slanted.regions.structure import Boundaries

SHAPES = {"pixel_order": 1, "edges": 2, "hull_points": 2, "junctions3": 3, "junctions4": 4}


def assert_equals_twins(labels):
    regions = build_regions(labels)
    width = labels.shape[1]
    points = naive.pixels_of(labels)
    n = len(points)

    def flat(chosen):
        return [v * width + u for u, v in chosen]

    np.testing.assert_array_equal(regions.label_image, labels)
    assert regions.count == n
    assert regions.size.tolist() == [len(points[i]) for i in range(n)]
    for i in range(n):
        assert regions.pixels(i).tolist() == flat(points[i])
        assert_moments(regions.centre[i], regions.covariance[i], points[i])

    cracks = naive.cracks(labels)
    pairs = sorted(cracks)
    number = {pair: e for e, pair in enumerate(pairs)}
    assert regions.edges.tolist() == [list(pair) for pair in pairs]
    assert regions.boundary_length.tolist() == [len(cracks[pair]) for pair in pairs]
    for i in range(n):
        others = sorted({j for pair in pairs if i in pair for j in pair} - {i})
        share = slice(regions.adjacency_start[i], regions.adjacency_start[i + 1])
        assert regions.neighbours(i).tolist() == others
        expected = [number[min(i, j), max(i, j)] for j in others]
        assert regions.adjacency_edge[share].tolist() == expected

    for e, (i, j) in enumerate(pairs):
        boundary = naive.boundary_set(points[i], points[j])
        assert regions.boundary(e).tolist() == flat(boundary)
        assert_moments(regions.boundary_centre[e], regions.boundary_covariance[e], boundary)
        assert_moments(regions.union_centre[e], regions.union_covariance[e], points[i] + points[j])
        assert regions.hull(e).tolist() == [list(p) for p in naive.hull(boundary)]

    for found, edges, position, expected in (
        (regions.junctions3, regions.junctions3_edges, regions.junctions3_position, naive.junctions3(labels)),
        (regions.junctions4, regions.junctions4_edges, regions.junctions4_position, naive.junctions4(labels)),
    ):  # fmt: skip
        assert found.tolist() == [list(segments) for segments in sorted(expected)]
        assert position.tolist() == [list(expected[s]) for s in sorted(expected)]
        for around, row in zip(sorted(expected), edges.tolist(), strict=True):
            following = (*around[1:], around[0])
            sides = [tuple(sorted(side)) for side in zip(around, following, strict=True)]
            assert row == [number[side] for side in sides]
    return regions


def assert_moments(centre, covariance, points):
    expected_centre, expected_covariance = naive.moments(points)
    np.testing.assert_allclose(centre, expected_centre, rtol=1e-13, atol=0)
    np.testing.assert_allclose(covariance, expected_covariance, rtol=1e-12, atol=1e-12)


@settings(max_examples=120, deadline=None)
@given(label_maps)
def test_equals_the_naive_twins(labels):
    assert_equals_twins(labels)


@pytest.mark.parametrize("name", SPECIAL_MAPS)
def test_special_maps_equal_the_naive_twins(name):
    regions = assert_equals_twins(SPECIAL_MAPS[name])
    for field, columns in SHAPES.items():
        array = getattr(regions, field)
        assert array.dtype == np.int32
        assert array.ndim == 1 or array.shape[1] == columns  # also where there are none


def test_a_map_by_hand():
    regions = build_regions(
        [
            [0, 0, 0, 0, 1],
            [0, 0, 0, 0, 1],
            [2, 2, 2, 2, 1],
        ]
    )
    assert regions.number_of_edges == 3
    assert regions.edges.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert regions.boundary_length.tolist() == [2, 4, 1]
    # Pixels of 0 in columns 2 and 3 are near 1; all of 1 is near 0, the last one by a corner.
    assert regions.boundary(0).tolist() == [2, 3, 4, 7, 8, 9, 14]
    assert regions.hull(0).tolist() == [[2, 0], [4, 0], [4, 2], [2, 1]]
    assert regions.centre.tolist() == [[1.5, 0.5], [4.0, 1.0], [1.5, 2.0]]
    assert regions.covariance.tolist()[0] == [1.25, 0.0, 0.25]
    assert regions.junctions3.tolist() == [[0, 1, 2]]
    assert regions.junctions3_edges.tolist() == [[0, 2, 1]]
    assert regions.junctions3_position.tolist() == [[3.5, 1.5]]
    assert regions.junctions4.shape == regions.junctions4_edges.shape == (0, 4)


def test_reach_is_that_of_the_paper():
    assert BOUNDARY_REACH == 2
    regions = build_regions(np.repeat([[0] * 6 + [1] * 6], 3, axis=0))
    assert sorted(set((regions.boundary(0) % 12).tolist())) == [4, 5, 6, 7]


def test_large_coordinates_keep_moments_exact():
    # A strip far from the origin: sums of squares about (0, 0) would lose the variance of v.
    labels = np.zeros((2, 20_000), int)
    labels[:, -3:] = 1
    regions = build_regions(labels)
    assert regions.centre[1].tolist() == [19_998.0, 0.5]
    np.testing.assert_allclose(regions.covariance[1], [2 / 3, 0, 1 / 4], rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(regions.covariance[0], [(19_997**2 - 1) / 12, 0, 1 / 4], rtol=1e-12)


@settings(max_examples=25, deadline=None)
@given(label_maps)
def test_moments_give_means_of_squared_planes(labels):
    """What moments are for: the hinge and coplanar costs without their pixels."""
    regions = build_regions(labels)
    slope, offset = np.array([0.3, -0.7]), 1.9
    for e in range(regions.number_of_edges):
        v, u = np.divmod(regions.boundary(e), labels.shape[1])
        expected = np.mean((slope[0] * u + slope[1] * v + offset) ** 2)
        at_centre = slope @ regions.boundary_centre[e] + offset
        uu, uv, vv = regions.boundary_covariance[e]
        spread = slope @ np.array([[uu, uv], [uv, vv]]) @ slope
        assert at_centre**2 + spread == pytest.approx(expected, rel=1e-11, abs=1e-11)


@settings(max_examples=40, deadline=None)
@given(label_maps)
def test_hulls_are_hulls(labels):
    regions = build_regions(labels)
    for e in range(regions.number_of_edges):
        v, u = np.divmod(regions.boundary(e), labels.shape[1])
        points, corners = np.stack([u, v], axis=1), regions.hull(e).astype(np.int64)
        members = {tuple(p) for p in points.tolist()}
        assert {tuple(c) for c in corners.tolist()} <= members
        if np.linalg.matrix_rank(points - points[0]) < 2:
            ends = [min(members, key=lambda p: p[::-1]), max(members, key=lambda p: p[::-1])]
            assert corners.tolist() == [list(end) for end in ends]
            continue
        assert naive.turns_right(corners.tolist())
        sides = np.roll(corners, -1, axis=0) - corners
        apart = points[None] - corners[:, None]
        assert (sides[:, None, 0] * apart[..., 1] - sides[:, None, 1] * apart[..., 0] >= 0).all()
        expected = points[ConvexHull(points).vertices]
        assert sorted(corners.tolist()) == sorted(expected.tolist())


def test_hulls_of_single_pixels_lines_and_gaps():
    sets = [[7], [7, 8], [7, 19], [0, 13, 26], [0, 35], [5, 6, 7, 29, 31]]
    start = np.cumsum([0] + [len(s) for s in sets])
    points, hull_start = convex_hulls(np.concatenate(sets).astype(np.int32), start, 3, 12)
    for k, pixels in enumerate(sets):
        expected = naive.hull([(p % 12, p // 12) for p in pixels])
        assert points[hull_start[k] : hull_start[k + 1]].tolist() == [list(p) for p in expected]


def test_hundreds_of_neighbours():
    """A background that touches everything: long runs, long adjacency lists, grown buffers."""
    array = np.zeros((21, 21), int)
    array[1::2, 1::2] = 1
    assert len(assert_equals_twins(segments(array)).edges) == 100
    assert len(assert_equals_twins(checks(7, 9)).junctions4) == 6 * 8


@pytest.mark.parametrize("numbers", list(permutations(range(4))))
def test_four_way_junctions_are_canonical(numbers):
    p, q, s, r = numbers
    labels = np.array([[p, q], [s, r]]).repeat(2, axis=0).repeat(3, axis=1)
    (around,) = build_regions(labels).junctions4.tolist()
    assert around[0] == 0
    assert around[1] < around[3]
    assert {frozenset(around[::2]), frozenset(around[1::2])} == {
        frozenset([p, r]),
        frozenset([q, s]),
    }


@settings(max_examples=50, deadline=None)
@given(label_maps)
def test_four_segments_meet_in_one_order_only(labels):
    # Between two points that all four touch they are four disjoint paths in the plane.
    junctions = build_regions(labels).junctions4.tolist()
    assert len({frozenset(around) for around in junctions}) == len(junctions)


def test_segments_that_meet_twice_are_one_junction():
    regions = build_regions([[0, 0, 0, 0], [0, 1, 2, 0], [0, 0, 0, 0]])
    assert regions.junctions3.tolist() == [[0, 1, 2]]
    assert regions.junctions3_position.tolist() == [[1.5, 0.5]]  # not (1.5, 1.5), the second


OWN = {"known_boundaries", "boundaries"}
"""What of regions is no array."""


@settings(max_examples=25, deadline=None)
@given(label_maps, st.booleans())
def test_boundaries_that_are_found_later_are_the_same(labels, pickled):
    at_once, later = build_regions(labels), build_regions(labels, boundaries=False)
    assert later.known_boundaries is None
    if pickled:
        later = pickle.loads(pickle.dumps(later))
    for field in fields(Boundaries):
        one, other = (getattr(each.boundaries, field.name) for each in (at_once, later))
        np.testing.assert_array_equal(one, other)


@settings(max_examples=25, deadline=None)
@given(label_maps, st.booleans())
def test_nothing_can_be_written_to(labels, pickled):
    before = labels.copy()
    regions = build_regions(labels, np.zeros((*labels.shape, 3), np.uint8))
    if pickled:
        regions = pickle.loads(pickle.dumps(regions))
    arrays = {**vars(regions), **vars(regions.boundaries)}
    assert not any(arrays[name].flags.writeable for name in arrays.keys() - OWN)
    labels[...] = 0  # the caller's array is still the caller's
    np.testing.assert_array_equal(regions.label_image, before)
