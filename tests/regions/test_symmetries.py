"""What must not change, or change in a known way, when a label image is turned or renumbered."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import naive
from partition.label_maps import checks, label_maps, voronoi
from slanted.regions import build_regions


def rows(array):
    return [tuple(row) for row in array.tolist()]


@settings(max_examples=40, deadline=None)
@given(label_maps)
def test_a_mirror_mirrors_everything(labels):
    regions, mirrored = build_regions(labels), build_regions(labels[:, ::-1])
    last = labels.shape[1] - 1
    for same in ("size", "edges", "boundary_length", "junctions3", "junctions3_edges",
                 "junctions4", "junctions4_edges", "boundary_start"):  # fmt: skip
        np.testing.assert_array_equal(getattr(regions, same), getattr(mirrored, same))
    for what in ("", "boundary_", "union_"):
        centre, other = getattr(regions, what + "centre"), getattr(mirrored, what + "centre")
        np.testing.assert_allclose(other, [last, 0] + centre * [-1, 1], rtol=1e-12, atol=1e-12)
        covariance = getattr(regions, what + "covariance") * [1, -1, 1]
        np.testing.assert_allclose(getattr(mirrored, what + "covariance"), covariance, atol=1e-11)
    for e in range(regions.number_of_edges):
        turned = [(last - u, v) for u, v in rows(regions.hull(e))]
        assert sorted(rows(mirrored.hull(e))) == sorted(turned)


@settings(max_examples=40, deadline=None)
@given(label_maps)
def test_a_transposed_map_has_the_same_graph(labels):
    regions, turned = build_regions(labels), build_regions(labels.T)
    for same in ("size", "edges", "boundary_length", "junctions3", "junctions4", "boundary_start"):
        np.testing.assert_array_equal(getattr(regions, same), getattr(turned, same))
    np.testing.assert_allclose(turned.boundary_centre, regions.boundary_centre[:, ::-1], rtol=1e-12)
    for e in range(regions.number_of_edges):
        assert sorted(rows(turned.hull(e)[:, ::-1])) == sorted(rows(regions.hull(e)))


@settings(max_examples=40, deadline=None)
@given(label_maps, st.randoms(use_true_random=False))
def test_renumbering_renumbers_everything(labels, random):
    n = int(labels.max()) + 1
    new = list(range(n))
    random.shuffle(new)
    regions, other = build_regions(labels), build_regions(np.array(new)[labels])
    for i in range(n):
        np.testing.assert_array_equal(other.pixels(new[i]), regions.pixels(i))
        assert sorted(new[j] for j in regions.neighbours(i)) == other.neighbours(new[i]).tolist()
    number = {pair: e for e, pair in enumerate(rows(other.edges))}
    edge = [number[tuple(sorted((new[i], new[j])))] for i, j in rows(regions.edges)]
    assert sorted(edge) == list(range(other.number_of_edges))
    for e, twin in enumerate(edge):
        np.testing.assert_array_equal(other.boundary(twin), regions.boundary(e))
        np.testing.assert_array_equal(other.hull(twin), regions.hull(e))
        assert other.boundary_length[twin] == regions.boundary_length[e]
        np.testing.assert_allclose(other.union_centre[twin], regions.union_centre[e], rtol=1e-12)
    renumbered = {frozenset(new[i] for i in junction) for junction in rows(regions.junctions3)}
    assert renumbered == {frozenset(junction) for junction in rows(other.junctions3)}
    assert {opposite_pairs([new[i] for i in junction]) for junction in rows(regions.junctions4)} == {
        opposite_pairs(junction) for junction in rows(other.junctions4)
    }  # fmt: skip


def opposite_pairs(cycle):
    """All that a four-way junction says, however it is written down."""
    return frozenset([frozenset(cycle[::2]), frozenset(cycle[1::2])])


def junctions_by_euler(regions):
    return regions.number_of_edges - regions.count + 1


@settings(max_examples=60, deadline=None)
@given(st.integers(8, 24), st.integers(8, 24), st.integers(1, 25), st.integers(0, 2**32 - 1))
def test_euler_counts_the_junctions(height, width, sites, seed):
    labels = voronoi(height, width, sites, seed)
    assume(naive.is_simple_map(labels))  # most of them; the conditions stand there
    regions = build_regions(labels)
    assert len(regions.junctions3) + len(regions.junctions4) == junctions_by_euler(regions)


def test_simple_maps_are_common_enough():
    simple = [naive.is_simple_map(voronoi(12, 12, 20, seed)) for seed in range(40)]
    assert sum(simple) > 30


@pytest.mark.parametrize(
    ("labels", "simple"),
    [
        (checks(5, 6), True),
        (np.zeros((3, 3), int), True),
        (np.array([[0, 0, 0], [0, 1, 0], [0, 0, 0]]), False),  # a hole
        (np.array([[0, 0, 0, 0], [0, 1, 2, 0], [0, 0, 0, 0]]), False),  # a hole of two
        (np.array([[0, 0, 1], [0, 2, 0], [0, 0, 0]]), False),  # 0 twice across a diagonal
        (np.array([[0, 1, 1, 1], [0, 0, 2, 1], [0, 1, 1, 1]]), False),  # 0 and 1 meet twice
    ],
)
def test_simple_maps_by_hand(labels, simple):
    assert naive.is_simple_map(labels) == simple
    if simple:
        regions = build_regions(labels)
        assert len(regions.junctions3) + len(regions.junctions4) == junctions_by_euler(regions)
