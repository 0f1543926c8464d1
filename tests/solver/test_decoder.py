"""Labellings: moves never raise the energy, and star moves are exact."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import naive_solver as naive
from slanted.solver.decoder import Decoder
from slanted.solver.decoder_kernels import descend_coordinates
from slanted.solver.factor_graph import FactorGraph
from slanted.solver.problem import build_problem
from slanted.solver.star_kernels import star_move, star_moves
from slanted.solver.sweeps import Sweeper
from slanted.solver.topology import build_topology
from solver.graphs import paper_like, random_tables, small_map

seeds = st.integers(0, 10_000)


def some_graph(seed):
    kind = random_tables if seed % 2 else paper_like
    return kind(small_map(seed), 1 + seed % 3, seed)


def random_states(graph, seed):
    rng = np.random.default_rng(seed)
    count, size = graph.node_costs.shape
    states = rng.integers(0, size, count).astype(np.int32)
    return states, rng.integers(0, 4, len(graph.edges)).astype(np.int32)


def decoder_of(graph):
    return Decoder(Sweeper(build_problem(graph), build_topology(graph)))


def move_star(graph, node, states, labels):
    position = np.full(len(graph.edges), -1, np.int32)
    moved = star_move(node, *decoder_of(graph).tables, position, states, labels)
    assert (position == -1).all()
    return moved


def is_simple(graph, node):
    """Whether a node's labels form paths and cycles; two boundary pieces can make them more."""
    around = set(np.flatnonzero((graph.edges == node).any(axis=1)).tolist())
    partners = {edge: set() for edge in around}
    for scope in [*graph.junctions3.tolist(), *graph.junctions4.tolist()]:
        held = around & set(scope)
        if len(held) > 2:
            return False
        for edge in held:
            partners[edge] |= held - {edge}
    return all(len(others) <= 2 for others in partners.values())


@settings(max_examples=30, deadline=None)
@given(seeds)
def test_moves_that_are_not_kept_tell_which_stars_would_gain(seed):
    graph = some_graph(seed)
    states, labels = random_states(graph, seed)
    expected = [move_star(graph, i, states.copy(), labels.copy()) for i in range(len(states))]
    due, tried = np.ones(len(states), np.bool_), (states.copy(), labels.copy())
    gained = star_moves(*decoder_of(graph).tables, *tried, False, 0, len(states), due)
    np.testing.assert_array_equal(due, expected)
    assert gained == any(expected)
    np.testing.assert_array_equal(tried[0], states)
    np.testing.assert_array_equal(tried[1], labels)


@settings(max_examples=60, deadline=None)
@given(seeds)
@example(573)  # one label of node has three neighbours
def test_star_moves_are_the_best_of_all_choices(seed):
    graph = some_graph(seed)
    states, labels = random_states(graph, seed)
    for node in range(len(states)):
        if np.count_nonzero(graph.edges == node) > 5:
            continue  # too many to try all
        before = graph.energy(states, labels)
        best = naive.best_star(graph, node, states, labels)
        old_states, old_labels = states.copy(), labels.copy()
        moved = move_star(graph, node, states, labels)
        if not is_simple(graph, node):
            assert not moved
            np.testing.assert_array_equal(states, old_states)
            np.testing.assert_array_equal(labels, old_labels)
            continue
        assert graph.energy(states, labels) == pytest.approx(best, rel=1e-10, abs=1e-10)
        assert moved == (best < before - 1e-10)
        outside = ~(graph.edges == node).any(axis=1)
        np.testing.assert_array_equal(labels[outside], old_labels[outside])
        assert (np.delete(states, node) == np.delete(old_states, node)).all()


def wheel(extra=()):
    """Four nodes round a hub: edges of hub 0 to 1 … 4 are 0 … 3, with junctions as asked for."""
    rng = np.random.default_rng(0)
    edges = np.array([(0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (2, 3), (3, 4)], np.int32)
    return FactorGraph(
        edges=edges,
        node_costs=rng.random((5, 2)),
        label_costs=rng.random((7, 4)),
        edge_costs=rng.random((7, 4, 2, 2)),
        junctions3=np.array([(0, 4, 1), (1, 5, 2), (2, 6, 3), *extra], np.int32),
        junction3_costs=3 * rng.random((4, 4, 4)),
        junctions4=np.empty((0, 4), np.int32),
        junction4_kinds=np.empty(0, np.int32),
        junction4_costs=3 * rng.random((4, 4, 4, 4, 4)),
    )


@pytest.mark.parametrize(
    ("extra", "exact"),
    [
        ((), True),  # a path
        (((3, 4, 0),), True),  # a cycle
        (((0, 5, 1),), True),  # two junctions between the same labels
        (((3, 4, 6),), True),  # a junction with one label of the star
        (((0, 4, 2),), False),  # a label with three neighbours
        (((0, 1, 2),), False),  # three labels of the star in one junction
    ],
)
def test_stars_of_every_shape(extra, exact):
    graph = wheel(extra)
    for seed in range(20):
        states, labels = random_states(graph, seed)
        best, before = naive.best_star(graph, 0, states, labels), graph.energy(states, labels)
        move_star(graph, 0, states, labels)
        assert not move_star(graph, 0, states, labels)
        after = graph.energy(states, labels)
        assert best - 1e-10 <= after <= before + 1e-10
        if exact:
            assert after == pytest.approx(best, abs=1e-10)


@settings(max_examples=30, deadline=None)
@given(seeds)
def test_polishing_never_raises_the_energy_and_ends_where_no_star_gains(seed):
    graph = some_graph(seed)
    decoder = decoder_of(graph)
    start = decoder.labelling(*random_states(graph, seed))
    states, labels = start.states.copy(), start.labels.copy()
    descend_coordinates(*decoder_of(graph).tables, 100, states, labels)
    single = graph.energy(states, labels)
    end = decoder.polish(start)
    assert end.energy <= single + 1e-10 <= start.energy + 2e-10
    assert end.energy == graph.energy(end.states, end.labels)
    for node in range(len(graph.node_costs)):
        assert not move_star(graph, node, end.states.copy(), end.labels.copy())


@settings(max_examples=20, deadline=None)
@given(seeds)
def test_single_moves_end_in_a_local_optimum(seed):
    graph = some_graph(seed)
    states, labels = random_states(graph, seed)
    descend_coordinates(*decoder_of(graph).tables, 100, states, labels)
    energy = graph.energy(states, labels)
    for chosen, count in ((states, graph.node_costs.shape[1]), (labels, 4)):
        for v in range(len(chosen)):
            kept = chosen[v]
            for x in range(count):
                chosen[v] = x
                assert graph.energy(states, labels) >= energy - 1e-9 * (1 + energy)
            chosen[v] = kept


def test_single_moves_end_when_their_rounds_are_over():
    graph = some_graph(2)
    tables, (states, labels) = decoder_of(graph).tables, random_states(graph, 2)
    energies, rounds = [graph.energy(states, labels)], []
    for most in (1, 100, 100):
        rounds.append(descend_coordinates(*tables, most, states, labels))
        energies.append(graph.energy(states, labels))
    assert rounds[0] == rounds[2] == 1  # cut off with moves left, and nothing left to move
    assert 1 < rounds[1] < 100
    assert energies[0] > energies[1] > energies[2] == energies[3]


def conditional_choices(graph, messages):
    """Sequential choices by plain loops: states, then labels."""
    chosen = [None] * len(naive.variables(graph))
    for v, unary in enumerate(naive.variables(graph)):
        cost = unary.copy()
        for (scope, table), sent in zip(
            naive.factors(graph), naive.as_lists(messages), strict=True
        ):
            if v not in scope:
                continue
            slot = scope.index(v)
            values = table.copy()
            for other, w in enumerate(scope):
                if other == slot:
                    continue
                shape = [-1 if k == other else 1 for k in range(len(scope))]
                if chosen[w] is None:
                    values = values - sent[other].reshape(shape)
                else:
                    keep = np.arange(values.shape[other]) == chosen[w]
                    values = np.where(keep.reshape(shape), values, np.inf)
            cost += np.moveaxis(values, slot, 0).reshape(len(unary), -1).min(axis=1)
        chosen[v] = int(cost.argmin())
    return chosen


@settings(max_examples=15, deadline=None)
@given(seeds)
def test_candidates_are_those_of_the_plain_loops(seed):
    graph = some_graph(seed)
    messages = naive.random_messages(graph, seed)
    decoder = decoder_of(graph)
    found = decoder.sequential(messages)
    assert [*found.states, *found.labels] == conditional_choices(graph, messages)
    alone = decoder.independent(messages)
    for v, state in enumerate([*alone.states, *alone.labels]):
        belief, _ = naive.belief_and_update(graph, messages, v, 0.0, 0.0, 1.0)
        assert belief[state] == pytest.approx(belief.min(), abs=1e-12)
    assert decoder.decode(messages).energy <= min(found.energy, alone.energy)


def test_ties_go_to_the_lowest_index():
    graph = paper_like(small_map(8), 3, 8)
    flat = replace(graph, **{k: 0 * v for k, v in vars(graph).items() if k.endswith("costs")})
    decoder = decoder_of(flat)
    messages = naive.random_messages(flat, 0, size=0.0)
    for found in (decoder.independent(messages), decoder.sequential(messages)):
        assert not found.states.any()
        assert not found.labels.any()
