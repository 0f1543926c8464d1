"""The distributed solver: parts climb the same dual as the whole."""

from dataclasses import replace
from math import fsum

import numpy as np
import pytest

import naive_solver as naive
from slanted.errors import InputError
from slanted.runtime.threads import thread_limit
from slanted.solver import CountingNumbers, SolverOptions, build_topology, solve
from slanted.solver.distributed import Parts, sweep_parts, with_moved
from slanted.solver.dual import dual_terms
from slanted.solver.problem import build_problem
from slanted.solver.sweeps import Sweeper
from solver.graphs import dual, paper_like, random_tables, small_map

TO_REST = SolverOptions(progress_tolerance=0.0, gap_tolerance=0.0)


def parts_of(graph, count, seed):
    return np.random.default_rng(seed).integers(0, count, len(graph.node_costs)).astype(np.int32)


def split_dual(problem, local, parts, part_of_node, epsilon):
    """The dual of the split problem: every copy in its own part, every variable in its own."""
    first, second, label, three, four = parts.owners
    total = []
    for k, messages in enumerate(local):
        terms = dual_terms(problem, messages, epsilon)
        here = (
            (first == k) | (second == k), (three == k).any(axis=1), (four == k).any(axis=1),
            part_of_node == k, label == k,
        )  # fmt: skip
        total += [term[mask] for term, mask in zip(terms, here, strict=True)]
    return fsum(np.concatenate(total))


@pytest.mark.parametrize("epsilon", [0.0, 0.5])
@pytest.mark.parametrize("sweeps", [1, 5])
@pytest.mark.parametrize("count", [2, 3, 4])
def test_sweeps_and_exchanges_climb_one_dual(count, sweeps, epsilon):
    graph = random_tables(small_map(9 if count == 2 else 7), 3, count)
    part = parts_of(graph, count, count)
    counting = CountingNumbers(0.5, 0.2, 1.5)
    topology, parts = build_topology(graph), Parts.of(graph, part)
    copies = parts.copies_of(build_problem(graph, counting))
    assert max(int(c.max(initial=1)) for c in parts.copies) >= 2
    whole = naive.random_messages(graph, 0)
    before = dual(graph, whole, epsilon, counting)
    for _ in range(10):
        shares, moved = parts.exchange(whole)
        problem = with_moved(copies, moved)
        same = split_dual(problem, [shares] * count, parts, part, epsilon)
        assert same == pytest.approx(before, abs=1e-9)  # an exchange leaves the whole graph's dual
        local = [
            Sweeper(problem, topology, block).advance(shares.copy(), [epsilon] * sweeps)
            for block in parts.blocks
        ]
        swept = split_dual(problem, local, parts, part, epsilon)
        whole = sweep_parts(parts, copies, topology, whole, [epsilon] * sweeps)
        after = dual(graph, whole, epsilon, counting)
        assert before - 1e-9 <= swept <= after + 1e-9
        before = after


@pytest.mark.parametrize("sweeps", [1, 5])
@pytest.mark.parametrize("count", [2, 3, 4])
def test_split_reaches_the_dual_of_the_whole(count, sweeps):
    for seed in (4, 6, 7):
        graph = paper_like(small_map(seed), 3, seed, 0.1)
        part = parts_of(graph, count, seed)
        whole = solve(graph, replace(TO_REST, max_sweeps=1000))
        options = replace(TO_REST, max_sweeps=1000 * sweeps, check_every=sweeps)
        split = solve(graph, options, parts=part)
        assert split.bound == pytest.approx(whole.bound, rel=1e-6)
        assert split.bound <= naive.relaxation(graph) + 1e-7
        assert split.energy == pytest.approx(whole.energy)
        assert (np.diff(split.trace.dual) >= -1e-9).all()


def test_smoothed_split_has_the_same_optimum():
    graph = random_tables(small_map(7), 3, 7)
    options = SolverOptions(0.5, CountingNumbers(1.0, 1.0), max_sweeps=2000, progress_tolerance=0.0)
    whole = solve(graph, options)
    for count in (2, 4):
        part = parts_of(graph, count, 1)
        split = solve(graph, replace(options, check_every=5), parts=part)
        assert split.trace.dual[-1] == pytest.approx(whole.trace.dual[-1], rel=1e-8)
        assert split.bound <= naive.relaxation(graph) + 1e-7


def test_one_part_is_the_whole():
    graph = random_tables(small_map(7), 3, 7)
    part = np.zeros(len(graph.node_costs), int)
    options = SolverOptions(max_sweeps=30, progress_tolerance=-1.0)
    split, whole = solve(graph, options), solve(graph, options, parts=part)
    np.testing.assert_allclose(split.trace.dual, whole.trace.dual, rtol=1e-12)
    assert split.energy == whole.energy


def test_threads_do_not_change_a_bit():
    graph = random_tables(small_map(7), 3, 7)
    part = parts_of(graph, 3, 0)
    found = []
    for threads in (1, 2):
        with thread_limit(threads):
            found.append(solve(graph, SolverOptions(max_sweeps=25, check_every=5), parts=part))
    one, two = found
    assert (one.energy, one.bound) == (two.energy, two.bound)
    np.testing.assert_array_equal(one.beliefs, two.beliefs)


def test_parts_must_fit():
    graph = random_tables(small_map(7), 2, 7)
    with pytest.raises(InputError, match="parts: expected"):
        solve(graph, parts=np.zeros(2, int))


@pytest.mark.parametrize("seed", range(50))
def test_small_graphs_split_in_two_reach_the_dual_of_the_whole(seed):
    graph = paper_like(small_map(seed), 2, seed)
    part = np.arange(len(graph.node_costs), dtype=np.int32) % 2
    whole = solve(graph, replace(TO_REST, max_sweeps=400))
    split = solve(graph, replace(TO_REST, max_sweeps=400, check_every=2), parts=part)
    assert (np.diff(split.trace.dual) >= -1e-9).all()
    program = naive.relaxation(graph)
    assert max(whole.bound, split.bound) <= program + 1e-7
    assert split.bound == pytest.approx(whole.bound, rel=5e-4)
