"""The distributed solver: parts climb the same dual as the whole."""

from math import fsum

import numpy as np
import pytest

import naive_solver as naive
from slanted.errors import InputError
from slanted.runtime.threads import thread_limit
from slanted.solver.convex_bp import dual, solve
from slanted.solver.messages import Messages, build_problem, dual_terms
from slanted.solver.messages_topology import build_topology
from slanted.solver.split import cut, divide, exchange, part_sweepers, solve_split, sweep_parts
from solver.graphs import paper_like, random_tables, small_map


def parts_of(graph, count, seed):
    return np.random.default_rng(seed).integers(0, count, len(graph.plane_costs)).astype(np.int32)


def split_dual(graph, sweepers, local, parts, part_of_segment, epsilon):
    """The dual of the split problem: every copy in its own part, every variable in its own."""
    first, second, label, three, four = parts.owners
    total = []
    for k, (sweeper, messages) in enumerate(zip(sweepers, local, strict=True)):
        terms = dual_terms(graph, sweeper._problem, messages, epsilon)
        here = (
            (first == k) | (second == k), (three == k).any(axis=1), (four == k).any(axis=1),
            part_of_segment == k, label == k,
        )  # fmt: skip
        total += [term[mask] for term, mask in zip(terms, here, strict=True)]
    return fsum(np.concatenate(total))


@pytest.mark.parametrize("epsilon", [0.0, 0.5])
@pytest.mark.parametrize("sweeps", [1, 5])
@pytest.mark.parametrize("count", [2, 3, 4])
def test_sweeps_and_exchanges_climb_one_dual(count, sweeps, epsilon):
    graph = random_tables(small_map(9 if count == 2 else 7), 3, count)
    part = parts_of(graph, count, count)
    counts = {"plane_count": 0.5, "label_count": 0.2, "factor_count": 1.5}
    topology, problem = build_topology(graph), build_problem(graph, **counts)
    parts = cut(graph, part)
    copy = divide(problem, parts)
    assert max(int(c.max(initial=1)) for c in parts.copies) >= 2
    start = naive.random_messages(graph, 0)
    whole, divided, moved = exchange([start] * count, Messages.zeros(graph), parts)
    before = dual(graph, start, epsilon, **counts)
    for _ in range(10):
        sweepers = part_sweepers(graph, topology, copy, moved, parts)
        same = split_dual(graph, sweepers, [divided] * count, parts, part, epsilon)
        assert same == pytest.approx(before, abs=1e-9)  # an exchange leaves the whole graph's dual
        local = sweep_parts(sweepers, divided, sweeps, epsilon)
        swept = split_dual(graph, sweepers, local, parts, part, epsilon)
        whole, divided, moved = exchange(local, moved, parts)
        after = dual(graph, whole, epsilon, **counts)
        assert before - 1e-9 <= swept <= after + 1e-9
        before = after


@pytest.mark.parametrize("sweeps", [1, 5])
@pytest.mark.parametrize("count", [2, 3, 4])
def test_split_reaches_the_dual_of_the_whole(count, sweeps):
    for seed in (4, 6, 7):
        graph = paper_like(small_map(seed), 3, seed, 0.1)
        part = parts_of(graph, count, seed)
        to_rest = {"progress_tolerance": 0.0, "gap_tolerance": 0.0}
        whole = solve(graph, max_sweeps=1000, **to_rest)
        split = solve_split(graph, part, sweeps_per_exchange=sweeps, rounds=1000, **to_rest)
        assert split.bound == pytest.approx(whole.bound, rel=1e-6)
        assert split.bound <= naive.relaxation(graph) + 1e-7
        assert split.energy == pytest.approx(whole.energy)
        assert (np.diff(split.trace.dual) >= -1e-9).all()


def test_smoothed_split_has_the_same_optimum():
    graph = random_tables(small_map(7), 3, 7)
    keywords = {"epsilon": 0.5, "progress_tolerance": 0.0, "plane_count": 1.0, "label_count": 1.0}
    whole = solve(graph, max_sweeps=2000, **keywords)
    for count in (2, 4):
        part = parts_of(graph, count, 1)
        split = solve_split(graph, part, sweeps_per_exchange=5, rounds=400, **keywords)
        assert split.trace.dual[-1] == pytest.approx(whole.trace.dual[-1], rel=1e-8)
        assert split.bound <= naive.relaxation(graph) + 1e-7


def test_one_part_is_the_whole():
    graph = random_tables(small_map(7), 3, 7)
    part = np.zeros(len(graph.plane_costs), int)
    keywords = {"progress_tolerance": -1.0}
    split = solve_split(graph, part, sweeps_per_exchange=10, rounds=3, **keywords)
    whole = solve(graph, max_sweeps=30, **keywords)
    np.testing.assert_allclose(split.trace.dual, whole.trace.dual, rtol=1e-12)
    assert split.energy == whole.energy


def test_threads_do_not_change_a_bit():
    graph = random_tables(small_map(7), 3, 7)
    part = parts_of(graph, 3, 0)
    found = []
    for threads in (1, 2):
        with thread_limit(threads):
            found.append(solve_split(graph, part, rounds=5))
    one, two = found
    assert (one.energy, one.bound) == (two.energy, two.bound)
    np.testing.assert_array_equal(one.beliefs, two.beliefs)


def test_parts_must_fit():
    graph = random_tables(small_map(7), 2, 7)
    with pytest.raises(InputError, match="part_of_segment"):
        solve_split(graph, np.zeros(2, int))


@pytest.mark.parametrize("wrong", [{"epsilon": -1.0}, {"rounds": -1}, {"sweeps_per_exchange": 0}])
def test_arguments_out_of_range_are_refused(wrong):
    graph = paper_like(small_map(1), 2, 1)
    with pytest.raises(InputError, match="solve_split: expected"):
        solve_split(graph, np.zeros(len(graph.plane_costs), np.int32), **wrong)


@pytest.mark.parametrize("seed", range(50))
def test_small_graphs_split_in_two_reach_the_dual_of_the_whole(seed):
    graph = paper_like(small_map(seed), 2, seed)
    part = np.arange(len(graph.plane_costs), dtype=np.int32) % 2
    rest = {"progress_tolerance": 0.0, "gap_tolerance": 0.0}
    whole = solve(graph, max_sweeps=400, **rest)
    split = solve_split(graph, part, sweeps_per_exchange=2, rounds=200, **rest)
    assert (np.diff(split.trace.dual) >= -1e-9).all()
    program = naive.relaxation(graph)
    assert max(whole.bound, split.bound) <= program + 1e-7
    assert split.bound == pytest.approx(whole.bound, rel=5e-4)
