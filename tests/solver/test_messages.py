"""Messages: every update is the exact ascent step, and the dual bounds every labelling."""

from dataclasses import replace
from fractions import Fraction
from math import fsum

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_solver as naive
from partition.label_maps import voronoi
from slanted.errors import InputError
from slanted.solver import CountingNumbers, FactorGraph, SolverOptions, solve, topology
from slanted.solver.dual import certified_bound, dual_terms
from slanted.solver.messages import Messages
from slanted.solver.problem import build_problem
from slanted.solver.sweeps import Sweeper
from slanted.solver.topology import Block, build_topology
from solver.graphs import dual, paper_like, random_tables, small_map

seeds = st.integers(0, 10_000)
EPSILONS = (0.0, 0.1, 1.0)
COUNTS = [CountingNumbers(*c) for c in ((0.0, 0.0, 1.0), (1.0, 1.0, 1.0), (0.3, 0.0, 2.0))]


def single(graph, node=(), label=()):
    """A block of one variable."""
    edges = np.arange(len(graph.edges), dtype=np.int32)
    return Block(np.array(node, np.int32), edges, np.array(label, np.int32))


def some_graph(seed):
    kind = random_tables if seed % 2 else paper_like
    return kind(small_map(seed), 1 + seed % 3, seed)


def both_junctions():
    """Three 4-way and two 3-way junctions: Voronoi cells hardly ever have both."""
    walls = np.array([[0, 1, 2], [3, 4, 5], [6, 6, 7], [8, 8, 8]])
    graph = random_tables(walls.repeat(3, axis=0).repeat(3, axis=1), 2, 0)
    assert (len(graph.junctions3), len(graph.junctions4)) == (2, 3)
    return graph


@pytest.mark.parametrize("counts", COUNTS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_each_update_is_that_of_the_plain_loops(epsilon, counts):
    # 3-way or 4-way junctions, and both; 1, 2, 3, 1, 2 states
    for graph in (*map(some_graph, (3, 4, 5, 12)), both_junctions()):
        lists, problem = build_topology(graph), build_problem(graph, counts)
        nodes = len(graph.node_costs)
        for variable in range(nodes + len(graph.edges)):
            start = naive.random_messages(graph, variable)
            sort = {"node": [variable]} if variable < nodes else {"label": [variable - nodes]}
            after = start.copy()
            Sweeper(problem, lists, single(graph, **sort)).sweep(after, epsilon)
            expected = naive.as_lists(start)
            count = counts.node if variable < nodes else counts.label
            _, sent = naive.belief_and_update(graph, start, variable, epsilon, count, counts.factor)
            for factor, slot, message in sent:
                expected[factor][slot] = message
            for mine, theirs in zip(naive.as_lists(after), expected, strict=True):
                for a, b in zip(mine, theirs, strict=True):
                    np.testing.assert_allclose(a, b, atol=1e-11)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("graph", [some_graph(7), both_junctions()])
def test_beliefs_are_those_of_the_plain_loops(epsilon, graph):
    messages = naive.random_messages(graph, 1)
    sweeper = Sweeper(build_problem(graph), build_topology(graph))
    beliefs = [*sweeper.node_beliefs(messages, epsilon), *sweeper.label_beliefs(messages, epsilon)]
    for variable, belief in enumerate(beliefs):
        expected, _ = naive.belief_and_update(graph, messages, variable, epsilon, 0.0, 1.0)
        np.testing.assert_allclose(belief, expected, atol=1e-11)


@settings(max_examples=20, deadline=None)
@given(seeds, st.sampled_from(EPSILONS), st.sampled_from(COUNTS))
def test_dual_is_that_of_the_plain_loops(seed, epsilon, counts):
    graph = some_graph(seed)
    messages = naive.random_messages(graph, seed, size=5.0)
    found = dual(graph, messages, epsilon, counts)
    assert found == pytest.approx(naive.dual(graph, messages, epsilon, counts), rel=1e-12, abs=1e-9)


@pytest.mark.parametrize("counts", COUNTS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_no_block_update_lowers_the_dual(epsilon, counts):
    for seed in range(50):
        graph = some_graph(seed)
        lists, problem = build_topology(graph), build_problem(graph, counts)
        messages = naive.random_messages(graph, seed)
        blocks = [single(graph, node=[i]) for i in range(len(graph.node_costs))]
        blocks += [single(graph, label=[e]) for e in range(len(graph.edges))]
        sweepers = [Sweeper(problem, lists, block) for block in blocks]

        def value():
            return fsum(np.concatenate(dual_terms(problem, messages, epsilon)))  # noqa: B023

        before = value()
        for _ in range(2):
            for sweeper in sweepers:
                sweeper.sweep(messages, epsilon)
                after = value()
                assert after >= before - 1e-9
                before = after


@settings(max_examples=30, deadline=None)
@given(seeds, st.sampled_from((0.1, 10.0, 1e6)))
def test_any_messages_give_a_bound(seed, size):
    graph = some_graph(seed)
    rng = np.random.default_rng(seed)
    messages = naive.random_messages(graph, seed, size)
    bound = certified_bound(graph, messages)
    assert bound <= dual(graph, messages) <= bound + 1e-8 * (1 + size)
    for _ in range(20):
        states = rng.integers(0, graph.node_costs.shape[1], len(graph.node_costs))
        assert bound <= graph.energy(states, rng.integers(0, 4, len(graph.edges)))


def test_the_bound_stays_below_when_messages_dwarf_the_costs():
    # One labelling, so the exact bound is its energy: rounding alone decides on which side it falls.
    for seed in range(20):
        graph = paper_like(small_map(seed), 1, seed)
        graph = replace(
            graph,
            label_costs=np.zeros_like(graph.label_costs),
            edge_costs=np.zeros_like(graph.edge_costs),
            junction3_costs=np.zeros_like(graph.junction3_costs),
            junction4_costs=np.zeros_like(graph.junction4_costs),
        )
        zeros = vars(Messages.zeros(graph))
        messages = Messages(**{k: np.full_like(v, 1e9 / 3) for k, v in zeros.items()})
        energy = graph.energy(np.zeros(len(graph.node_costs), int), np.zeros(len(graph.edges), int))
        assert energy - 1.0 <= certified_bound(graph, messages) <= energy


@pytest.mark.parametrize("size", [0.1, 1e3, 1e8])
def test_the_bound_is_at_most_the_exact_one_of_its_messages(size):
    """However rounding falls: D_0 as it is computed is too high about every other time."""
    too_high = 0
    for seed in range(8):
        graph = some_graph(seed)
        messages = naive.random_messages(graph, seed, size)
        exact, bound = naive.exact_bound(graph, messages), certified_bound(graph, messages)
        assert bound <= exact
        assert exact - Fraction(bound) <= Fraction(1e-12 * (1 + size))
        too_high += dual(graph, messages) > exact
    assert too_high > 0, "no case in which rounding down matters"


def test_the_bound_of_a_solution_is_at_most_the_exact_one():
    once = SolverOptions(max_sweeps=5, check_every=5)  # the only check is that of the last messages
    too_high = 0
    for seed in range(12):
        graph = some_graph(seed)
        solution = solve(graph, once)
        exact = naive.exact_bound(graph, solution.messages)
        assert solution.bound <= exact
        assert exact - Fraction(solution.bound) <= Fraction(1e-9)
        too_high += dual(graph, solution.messages) > exact
    assert too_high > 0, "no case in which rounding down matters"


def check_phases(graph):
    """Every variable is updated once, and of no factor by two blocks of a phase."""
    lists = build_topology(graph)
    nodes, labels = np.full(len(graph.node_costs), -1), np.full(len(graph.edges), -1)
    reduced = np.full(len(graph.edges), -1)
    number, phase_of = 0, []
    for k, phase in enumerate(lists.phases):
        for block in phase:
            for known, members in (
                (nodes, block.nodes),
                (labels, block.labels),
                (reduced, block.edges),
            ):
                assert (known[members] == -1).all()
                known[members] = number
            number += 1
            phase_of.append(k)
    phase_of = np.array(phase_of)
    for known in (nodes, labels, reduced):
        assert known.min(initial=0) >= 0
    for met in (*nodes[graph.edges], *labels[graph.junctions3], *labels[graph.junctions4]):
        different = sorted(set(met))
        assert len(set(phase_of[different])) == len(different)
    for e, ends in enumerate(graph.edges):
        # A node needs the reduced table of its edge when it is updated, and a label the messages of
        # both nodes, which nothing may be writing meanwhile.
        assert reduced[e] == min(nodes[ends])
        for node in nodes[ends]:
            assert node == labels[e] or phase_of[node] < phase_of[labels[e]]
    return lists


@settings(max_examples=30, deadline=None)
@given(seeds, st.integers(1, 4))
def test_blocks_share_no_factor(seed, smallest):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(topology, "SMALLEST_BLOCK", smallest)  # even small maps are cut
        check_phases(some_graph(seed))


@settings(max_examples=30, deadline=None)
@given(seeds)
def test_blocks_of_any_graph_share_no_factor(seed):
    """Factors at random, as no map has them; some variables are in none."""
    rng = np.random.default_rng(seed)
    n, e = rng.integers(2, 30), rng.integers(4, 40)
    first = rng.integers(0, n - 1, e)
    graph = FactorGraph(
        edges=np.stack([first, rng.integers(first + 1, n)], axis=1).astype(np.int32),
        node_costs=np.zeros((n, 1)),
        label_costs=np.zeros((e, 4)),
        edge_costs=np.zeros((e, 4, 1, 1)),
        junctions3=np.array([rng.permutation(e)[:3] for _ in range(9)], np.int32),
        junction3_costs=np.zeros((4, 4, 4)),
        junctions4=np.array([rng.permutation(e)[:4] for _ in range(3)], np.int32),
        junction4_kinds=np.zeros(3, np.int32),
        junction4_costs=np.zeros((4, 4, 4, 4, 4)),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(topology, "SMALLEST_BLOCK", 1)
        check_phases(graph)


def test_a_map_of_many_nodes_is_cut_into_blocks_of_like_size():
    graph = paper_like(voronoi(80, 240, 600, 1), 1, 0)
    blocks, borders, rest = check_phases(graph).phases
    assert (len(blocks), len(borders)) == (4, 3)
    assert min(len(block.nodes) for block in blocks) > 0.15 * 600
    assert sum(len(border.nodes) for border in borders) < 0.2 * 600
    assert len(rest[0].nodes) == 0
    assert len(rest[0].labels) < 0.02 * len(graph.edges)


def test_bad_graphs_are_named():
    graph = paper_like(small_map(3), 2, 0)
    with pytest.raises(InputError, match="edge_costs"):
        build_problem(replace(graph, edge_costs=np.full_like(graph.edge_costs, np.inf)))
    with pytest.raises(InputError, match="counting numbers"):
        CountingNumbers(node=-1.0)
    with pytest.raises(InputError, match="different variables"):
        build_topology(replace(graph, edges=np.zeros_like(graph.edges)))
    with pytest.raises(InputError, match="junctions3"):
        build_topology(replace(graph, junctions3=graph.junctions3 + len(graph.edges)))
