"""The solver against linear and integer programs, and the promises of its result."""

import doctest
from dataclasses import replace

import numpy as np
import pytest

import naive_solver as naive
import slanted.solver
from partition.label_maps import checks, voronoi
from slanted.errors import InputError
from slanted.runtime.threads import thread_limit
from slanted.solver import CountingNumbers, SolverOptions, build_topology, solve
from slanted.solver.decoder import Decoder
from slanted.solver.dual import certified_bound, trivial_bound
from slanted.solver.problem import build_problem
from slanted.solver.sweeps import SMALLEST_SHARED, Sweeper
from solver.graphs import dual, paper_like, random_tables, small_map

TO_REST = SolverOptions(max_sweeps=1000, progress_tolerance=0.0, gap_tolerance=0.0)
ANNEALED = replace(TO_REST, annealing_sweeps=300)
DATA = (1.0, 0.1, 0.02)


@pytest.mark.parametrize("seed", range(50))
def test_small_graphs_between_linear_program_and_optimum(seed):
    graph = paper_like(small_map(seed), 2 + seed % 3, seed, DATA[seed % 3])
    program, optimum = naive.relaxation(graph), naive.relaxation(graph, integral=True)
    plain, annealed = solve(graph, TO_REST), solve(graph, ANNEALED)
    for solution in (plain, annealed):
        assert solution.bound <= program + 1e-7 <= optimum + 2e-7
        assert optimum <= solution.energy + 1e-9 * optimum
        assert solution.energy == graph.energy(solution.states, solution.labels)
    assert program - plain.bound <= 5e-4 * program
    assert program - annealed.bound <= 1e-8 * program
    assert plain.energy <= optimum * (1 + 1e-9)  # on graphs this small the optimum is found, too


def tiny(seed):
    """A graph that can be enumerated: 3 to 5 nodes, a block of four that meet in a point first."""
    labels = checks(2, 2).repeat(3, axis=0).repeat(3, axis=1) if seed % 5 == 4 else None
    if labels is None:
        labels = voronoi(12, 14, 3 + seed % 3, seed)
    return paper_like(labels, 2 + seed % 2, seed, DATA[seed % 3])


@pytest.mark.parametrize("seed", range(50))
def test_tiny_graphs_by_brute_force(seed):
    graph = tiny(seed)
    assert len(graph.edges) <= 9
    optimum = naive.brute_force(graph)
    assert naive.relaxation(graph, integral=True) == pytest.approx(optimum, rel=1e-9)
    solution = solve(graph, TO_REST)
    assert solution.bound <= naive.relaxation(graph) + 1e-7
    assert optimum - 1e-9 * abs(optimum) <= solution.energy
    assert solution.bound <= optimum + 1e-9 * abs(optimum)


@pytest.mark.parametrize("seed", range(6))
def test_medium_graphs_reach_the_linear_program(seed):
    graph = paper_like(voronoi(36, 48, 24, seed), 4, seed)
    program = naive.relaxation(graph)
    plain, annealed = solve(graph, TO_REST), solve(graph, ANNEALED)
    assert plain.bound <= program + 1e-7
    assert program - plain.bound <= 5e-4 * program
    assert program - annealed.bound <= 1e-8 * program


def test_slow_annealing_frees_a_run_that_rests_below_the_linear_program():
    # Data that weigh little against junctions: plain ascent rests 2e-3 below.
    graph = paper_like(voronoi(36, 48, 24, 16), 4, 16, 0.2)
    program = naive.relaxation(graph)
    plain = solve(graph, TO_REST)
    annealed = solve(graph, replace(TO_REST, annealing_sweeps=1000))
    assert plain.bound < program - 1e-4 * program
    assert program - 1e-6 * program <= annealed.bound <= program + 1e-7


@pytest.mark.parametrize("seed", range(20))
def test_random_tables(seed):
    graph = random_tables(small_map(seed), 2 + seed % 3, seed)
    program = naive.relaxation(graph)
    plain, annealed = solve(graph, TO_REST), solve(graph, ANNEALED)
    assert max(plain.bound, annealed.bound) <= program + 1e-7
    assert program - plain.bound <= 0.05 * program
    assert program - annealed.bound <= 2e-3 * program
    assert annealed.bound >= plain.bound - 1e-6 * program
    if seed < 5:
        optimum = naive.relaxation(graph, integral=True)
        assert optimum <= min(plain.energy, annealed.energy) + 1e-9


@pytest.mark.parametrize("counts", [(1.0, 1.0, 1.0), (0.0, 0.0, 1.0), (0.5, 0.0, 2.0)])
@pytest.mark.parametrize("seed", [2, 4, 6])
def test_strong_duality_of_the_smoothed_problem(seed, counts):
    graph = paper_like(small_map(seed), 2, seed, 0.1)
    counting = CountingNumbers(*counts)
    options = SolverOptions(1.0, counting, max_sweeps=3000, progress_tolerance=0.0, decode=False)
    solution = solve(graph, options)
    value = dual(graph, solution.messages, 1.0, counting)
    primal, inconsistency = naive.smoothed_primal(graph, solution.messages, 1.0, counting)
    assert inconsistency < 1e-6
    assert primal == pytest.approx(value, rel=1e-6)
    assert solution.bound <= naive.relaxation(graph) + 1e-7
    assert (np.diff(solution.trace.dual) >= -1e-9).all()


def test_trace_is_monotone_and_ends_as_the_solution_says():
    graph = random_tables(small_map(7), 3, 7)
    solution = solve(graph, SolverOptions(max_sweeps=105, progress_tolerance=-1.0))
    trace = solution.trace
    assert trace.sweep.tolist() == [*range(0, 101, 10), 105]
    assert solution.sweeps == 105
    assert solution.rule == "sweeps"
    assert (np.diff(trace.dual) >= -1e-9).all()
    assert (np.diff(trace.energy[np.isfinite(trace.energy)]) <= 0).all()
    assert (solution.energy, solution.bound) == (trace.energy[-1], trace.bound.max())
    assert solution.bound == pytest.approx(certified_bound(graph, solution.messages), abs=1e-9)
    assert 0 <= solution.gap == solution.energy - solution.bound


def test_rules():
    easy, hard = paper_like(small_map(3), 3, 3), random_tables(small_map(7), 3, 7)
    assert solve(easy).rule == "gap"
    assert solve(hard, SolverOptions(progress_tolerance=1e-3)).rule == "progress"
    assert solve(hard, SolverOptions(max_sweeps=20)).rule == "sweeps"
    assert (
        solve(hard, SolverOptions(gap_tolerance=1e6)).sweeps == 20
    )  # the first labelling, good enough
    assert solve(easy, SolverOptions(max_sweeps=0)).sweeps == 0


@pytest.mark.parametrize("epsilon", [0.0, 0.5])
@pytest.mark.parametrize("annealing", [0, 6])
def test_a_run_stops_at_the_first_check_at_which_the_dual_rose_too_little(epsilon, annealing):
    graph = random_tables(small_map(7), 3, 7)
    options = SolverOptions(
        epsilon, check_every=1, progress_tolerance=1e-4, annealing_sweeps=annealing
    )
    solution = solve(graph, options)
    assert solution.rule == "progress"
    sweep, dual = solution.trace.sweep, solution.trace.dual
    rise = np.diff(dual) / np.abs(dual[1:])
    counted = rise[sweep[1:] > annealing + options.check_every]  # the first that compare one ε
    assert (counted[:-1] > 1e-4).all()
    assert counted[-1] <= 1e-4
    assert len(counted) > 1


def test_the_last_messages_are_decoded_if_labellings_are_asked_for():
    differ = 0
    for seed in range(10):
        graph = random_tables(small_map(seed), 3, seed)
        looking = solve(graph, SolverOptions(max_sweeps=5))  # ends before the first decoding
        simple = solve(graph, SolverOptions(max_sweeps=5, decode=False))
        decoder = Decoder(Sweeper(build_problem(graph), build_topology(graph)))
        assert looking.energy == decoder.decode(looking.messages, 0.0).energy
        assert simple.energy == decoder.independent(simple.messages, 0.0).energy
        differ += looking.energy < simple.energy
    assert differ > 0


def test_a_nodes_belief_bounds_the_cost_of_its_other_states():
    # Reduced-cost fixing and the confidence of a plane rest on this.
    graph = paper_like(small_map(3), 3, 3, 0.1)
    solution = solve(graph, TO_REST)
    for i, belief in enumerate(solution.beliefs):
        for k in range(3):
            costs = graph.node_costs.copy()
            costs[i] += 1e4 * (np.arange(3) != k)
            optimum = naive.relaxation(replace(graph, node_costs=costs), integral=True)
            assert solution.bound + belief[k] - belief.min() <= optimum + 1e-7


def test_the_incumbent_is_never_lost():
    for seed in range(10):
        graph = random_tables(small_map(seed), 3, seed)
        best = solve(graph, ANNEALED)
        incumbent = best.states, best.labels
        for keywords in ({"max_sweeps": 0}, {"max_sweeps": 20}, {"max_sweeps": 5, "decode": False}):
            solution = solve(graph, SolverOptions(**keywords), incumbent=incumbent)
            assert solution.energy <= best.energy
    with pytest.raises(InputError, match="states"):
        solve(graph, incumbent=(best.states + 3, best.labels))
    with pytest.raises(InputError, match="labels"):
        solve(graph, incumbent=(best.states, best.labels[1:]))


def test_a_warm_start_keeps_the_bound():
    for seed in range(10):
        graph = random_tables(small_map(seed), 3, seed)
        first = solve(graph, SolverOptions(max_sweeps=15))
        again = solve(graph, SolverOptions(max_sweeps=15), messages=first.messages)
        assert again.bound >= first.bound - 1e-9
        assert again.trace.bound[0] == pytest.approx(first.bound, abs=1e-9)
        # Of other costs: still a start, still a bound.
        other = random_tables(small_map(seed), 3, seed + 100)
        assert solve(other, messages=first.messages).bound <= naive.relaxation(other) + 1e-7
    with pytest.raises(InputError, match="messages"):
        solve(random_tables(small_map(3), 2, 0), messages=first.messages)


def test_threads_do_not_change_a_bit():
    graph = paper_like(checks(25, 30).repeat(2, axis=0).repeat(2, axis=1), 2, 0, 0.1)
    blocks = build_topology(graph).phases[0]
    assert len(blocks) > 1 and sum(len(block.nodes) for block in blocks) >= SMALLEST_SHARED
    for epsilon in (0.0, 0.5):
        found = []
        for threads in (1, 2, 3):
            with thread_limit(threads):
                found.append(solve(graph, SolverOptions(epsilon, max_sweeps=20)))
        one = found[0]
        for other in found[1:]:
            for name, value in vars(one.messages).items():
                np.testing.assert_array_equal(value, getattr(other.messages, name))
            assert (one.energy, one.bound) == (other.energy, other.bound)
            np.testing.assert_array_equal(one.beliefs, other.beliefs)


@pytest.mark.parametrize("labels", [np.zeros((3, 4), int), np.arange(2).repeat(3)[None]])
@pytest.mark.parametrize("particles", [1, 3])
@pytest.mark.parametrize("epsilon", [0.0, 0.5])
def test_graphs_with_next_to_nothing_in_them(labels, particles, epsilon):
    graph = paper_like(labels, particles, 5)
    solution = solve(graph, SolverOptions(epsilon, annealing_sweeps=0 if epsilon else 300))
    assert solution.energy == pytest.approx(naive.brute_force(graph))
    assert solution.bound <= solution.energy
    assert solution.beliefs.shape == graph.node_costs.shape


def test_nodes_without_edges():
    graph = paper_like(np.arange(2).repeat(3)[None], 3, 5)
    apart = replace(
        graph,
        edges=graph.edges[:0],
        label_costs=graph.label_costs[:0],
        edge_costs=graph.edge_costs[:0],
    )
    solution = solve(apart)
    assert solution.energy == pytest.approx(apart.node_costs.min(axis=1).sum())
    assert solution.gap <= 1e-9
    np.testing.assert_array_equal(solution.beliefs, apart.node_costs)


def test_arrays_that_cannot_be_written_to():
    graph = paper_like(small_map(4), 2, 4)
    for value in vars(graph).values():
        value.setflags(write=False)
    assert solve(graph).gap <= 1e-6


@pytest.mark.parametrize(
    "keywords",
    [{"epsilon": -1.0}, {"max_sweeps": -1}, {"annealing_sweeps": -1}, {"check_every": 0}],
)
def test_bad_arguments_are_named(keywords):
    with pytest.raises(InputError, match="solver options"):
        SolverOptions(**keywords)


def test_the_example_of_the_package_is_right():
    failed, tried = doctest.testmod(slanted.solver)
    assert failed == 0 < tried


@pytest.mark.parametrize("seed", range(20))
def test_the_trivial_bound_is_the_sum_of_least_costs(seed):
    graph = paper_like(small_map(seed), 2 + seed % 3, seed, DATA[seed % 3])
    least = sum(table.min() for _, table in naive.factors(graph))
    least += sum(unary.min() for unary in naive.variables(graph))
    floor = trivial_bound(graph)
    assert floor == pytest.approx(least, rel=1e-12, abs=1e-9)
    assert floor <= least
    assert floor <= solve(graph).bound + 1e-9


def test_a_relative_gap_ends_a_run_as_soon_as_it_is_reached():
    graph = paper_like(voronoi(40, 60, 60, seed=3), 4, 3, 0.02)
    options = replace(TO_REST, check_every=1)
    whole = solve(graph, options)
    target = 2 * (whole.energy - whole.bound) / whole.bound + 1e-4
    found = solve(graph, replace(options, relative_gap=target))
    assert found.rule == "gap"
    assert found.sweeps < whole.sweeps
    assert found.energy - found.bound <= target * found.bound
    gaps = found.trace.energy - found.trace.bound
    assert (gaps[1:-1] > target * found.trace.bound[1:-1]).all()
