"""The junction tables against the captions of the paper's figures."""

from itertools import combinations, permutations, product

import numpy as np
import pytest

import naive_model
from slanted.boundary_label import BoundaryLabel
from slanted.model.junctions import (
    IMPOSSIBLE_THREE_WAY,
    VALID_FOUR_WAY,
    junction3_impossible,
    junction4_impossible,
    junction4_kinds,
    junction4_variants,
)
from slanted.regions import build_regions

CO, HI, LO, RO = BoundaryLabel
TRIPLES = list(product(BoundaryLabel, repeat=3))
QUADRUPLES = list(product(BoundaryLabel, repeat=4))
IJK = [(0, 1), (1, 2), (0, 2)]
PQRS = [(0, 1), (1, 2), (2, 3), (0, 3)]


def by_pair(pairs, labelling):
    return dict(zip(pairs, labelling, strict=True))


def reordered(pairs, labelling, order):
    """The labels that the same scene has if segment k is called order[k]."""
    renamed = {(order[x], order[y]): o for (x, y), o in by_pair(pairs, labelling).items()}
    return tuple(naive_model.towards(renamed, *pair) for pair in pairs)


def test_counts():
    assert junction3_impossible().shape == (4, 4, 4)
    assert junction3_impossible().sum() == 35
    assert (~junction3_impossible()).sum() == 29
    assert junction4_impossible().shape == (4, 4, 4, 4)
    assert (~junction4_impossible()).sum() == 7
    assert junction4_impossible().sum() == 249
    cases = {case: len(labellings) for case, labellings in IMPOSSIBLE_THREE_WAY.items()}
    assert cases == {"a": 2, "b": 6, "c": 6, "d": 6, "e": 6, "f": 3, "g": 6}
    assert {len(labellings) for labellings in VALID_FOUR_WAY.values()} == {1}
    assert list(VALID_FOUR_WAY) == list("abcdefg")


def test_cases_do_not_overlap():
    for first, second in combinations(IMPOSSIBLE_THREE_WAY.values(), 2):
        assert not first & second
    assert len(frozenset().union(*VALID_FOUR_WAY.values())) == 7


@pytest.mark.parametrize("case", IMPOSSIBLE_THREE_WAY)
def test_three_way_cases_are_their_captions(case):
    expected = {o for o in TRIPLES if naive_model.impossible_three_way(by_pair(IJK, o)) == case}
    assert IMPOSSIBLE_THREE_WAY[case] == expected


@pytest.mark.parametrize(
    ("case", "labelling"),
    [
        ("a", (LO, LO, RO)),  # i hides j, j hides k, k hides i
        ("b", (HI, LO, RO)),  # i and j are hinged; j hides k, k hides i
        ("c", (CO, RO, LO)),
        ("d", (HI, HI, LO)),
        ("e", (CO, LO, CO)),
        ("f", (CO, CO, HI)),
        ("g", (CO, HI, LO)),  # i and j are coplanar, j and k hinged, i in front of k
    ],
)
def test_an_example_of_each_impossible_case(case, labelling):
    assert labelling in IMPOSSIBLE_THREE_WAY[case]
    assert junction3_impossible()[labelling]


@pytest.mark.parametrize(
    "labelling",
    [
        (CO, CO, CO),
        (HI, HI, HI),  # the corner of a box
        (HI, HI, CO),  # two segments of a wall on the ground
        (LO, LO, LO),  # three layers
        (CO, LO, LO),  # a T-junction: i and j in front of k
        (HI, RO, RO),  # k in front of a hinge
        (LO, CO, LO),  # i in front of j and k
        (CO, HI, RO),  # a box face k, hinged to the ground j, in front of the ground i
    ],
)
def test_what_is_common_is_possible(labelling):
    assert not junction3_impossible()[labelling]


def test_four_way_cases_are_their_captions():
    expected = {o for o in QUADRUPLES if naive_model.valid_four_way(by_pair(PQRS, o), range(4))}
    assert frozenset().union(*VALID_FOUR_WAY.values()) == expected


@pytest.mark.parametrize(
    ("case", "labelling"),
    [
        ("a", (CO, CO, CO, CO)),
        ("b", (CO, HI, CO, HI)),
        ("c", (CO, LO, CO, LO)),  # p and q in front of r and s
        ("d", (CO, RO, CO, RO)),
        ("e", (HI, CO, HI, CO)),
        ("f", (LO, CO, RO, CO)),  # p and s in front of q and r
        ("g", (RO, CO, LO, CO)),
    ],
)
def test_four_way_cases_by_name(case, labelling):
    assert VALID_FOUR_WAY[case] == {labelling}
    assert not junction4_impossible()[labelling]


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_three_way_holds_for_any_order_of_segments(order):
    table = junction3_impossible()
    for labelling in TRIPLES:
        assert table[labelling] == table[reordered(IJK, labelling, order)]


@pytest.mark.parametrize("first", range(4))
@pytest.mark.parametrize("step", [1, -1])
def test_four_way_holds_from_any_segment_in_both_directions(first, step):
    table = junction4_impossible()
    order = [(first + step * k) % 4 for k in range(4)]
    for labelling in QUADRUPLES:
        assert table[labelling] == table[reordered(PQRS, labelling, order)]


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_variants_are_relabellings(order):
    labels = np.array([[order[0], order[1]], [order[3], order[2]]])
    regions = build_regions(labels.repeat(3, axis=0).repeat(3, axis=1))
    (kind,) = junction4_kinds(regions.junctions4)
    (cycle,) = regions.junctions4.tolist()
    assert kind == (cycle[1] > cycle[2]) + 2 * (cycle[2] > cycle[3])
    stored = [tuple(pair) for pair in regions.edges[regions.junctions4_edges[0]].tolist()]
    for labelling in QUADRUPLES:
        labels_of_pairs = by_pair(stored, labelling)
        valid = naive_model.valid_four_way(labels_of_pairs, cycle)
        assert junction4_variants()[kind][labelling] == (not valid)


def test_all_kinds_of_stored_cycles():
    # p, q, r, s with p smallest and q < s: r can be below, between or above q and s.
    cycles = np.array([[0, 1, 2, 3], [0, 1, 3, 2], [0, 2, 1, 3]], np.int32)
    kinds = junction4_kinds(cycles)
    assert kinds.dtype == np.int32
    assert kinds.tolist() == [0, 2, 1]
    assert junction4_kinds(np.empty((0, 4), np.int32)).shape == (0,)


def test_variants_turn_each_edge_once():
    flip = [label.flipped() for label in BoundaryLabel]
    plain, qr, rs, both = junction4_variants()
    np.testing.assert_array_equal(plain, junction4_impossible())
    np.testing.assert_array_equal(qr, plain[:, flip])
    np.testing.assert_array_equal(rs, plain[:, :, flip])
    np.testing.assert_array_equal(both[:, flip][:, :, flip], plain)


@pytest.mark.parametrize("table", [junction3_impossible, junction4_impossible, junction4_variants])
def test_shared_tables_cannot_be_written(table):
    with pytest.raises(ValueError, match="read-only"):
        table()[0] = False
