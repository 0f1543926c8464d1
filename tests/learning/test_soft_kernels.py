"""Soft messages by products agree with those by logarithms, and expectations with plain sums."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_learning
import naive_solver as naive
from learning.problems import small_example, weights
from naive_learning import weighted_graph
from slanted.learning.expectation_kernels import edge_minima
from slanted.learning.objective import ImageObjective
from slanted.learning.soft_kernels import boltzmann_tables, edge_costs
from slanted.solver import CountingNumbers, build_topology
from slanted.solver.problem import build_problem
from slanted.solver.sweeps import Sweeper
from solver.graphs import dual

seeds = st.integers(0, 10_000)
ONES = CountingNumbers(1.0, 1.0, 1.0)


@given(seeds)
@settings(max_examples=10, deadline=None)
def test_costs_of_edges_are_those_of_the_plain_loops(seed):
    example, w = small_example(seed), weights(seed)
    expected = naive_learning.edge_costs(example, w).reshape(example.bdy2.shape)
    costs, table, offset = (
        np.empty(expected.shape),
        np.empty(expected.shape),
        np.empty(expected.shape[:2]),
    )
    edge_costs((example.bdy1, example.bdy2, w[1], w[2]), costs)
    np.testing.assert_allclose(costs, expected, rtol=1e-12)
    boltzmann_tables((example.bdy1, example.bdy2, w[1], w[2]), 0.7, table, offset)
    np.testing.assert_allclose(offset, expected.min(axis=2), rtol=1e-12)
    np.testing.assert_allclose(
        table, np.exp((expected.min(axis=2)[..., None] - expected) / 0.7), rtol=1e-9
    )


@given(seeds, st.sampled_from([1.0, 0.3]), st.sampled_from([1.0, 30.0, 1000.0, 30000.0]))
@settings(max_examples=25, deadline=None)
def test_sweeps_climb_the_dual_as_those_in_logarithms_do(seed, epsilon, size):
    # At the larger sizes most entries of a table underflow.
    example, w = small_example(seed, size=size, losses=size), weights(seed)
    graph = weighted_graph(example, w, loss=True)
    objective = ImageObjective(example)
    other = naive.random_messages(graph, seed, size)
    objective.messages = other.copy()
    sweeper = Sweeper(build_problem(graph, ONES), build_topology(graph))
    truth = w @ example.truth_features()
    for _ in range(3):
        share = objective.evaluate(w, epsilon, sweeps=1)
        sweeper.sweep(other, epsilon)
        value = dual(graph, other, epsilon, ONES)
        assert truth - share.value == pytest.approx(value, rel=1e-9, abs=1e-9 * size)


@given(seeds, st.sampled_from([1.0, 0.3]), st.sampled_from([1.0, 100.0]))
@settings(max_examples=15, deadline=None)
def test_expectations_are_those_of_the_plain_sums(seed, epsilon, size):
    example, w = small_example(seed, size=size), weights(seed)
    graph = weighted_graph(example, w, loss=True)
    objective = ImageObjective(example)
    objective.messages = naive.random_messages(graph, seed, size)
    share = objective.evaluate(w, epsilon, sweeps=0)
    expected = naive_learning.expectation(example, graph, objective.messages, epsilon)
    np.testing.assert_allclose(share.expectation, expected, rtol=1e-7, atol=1e-9 * size)
    np.testing.assert_allclose(share.gradient, example.truth_features() - share.expectation)


@given(seeds)
@settings(max_examples=20, deadline=None)
def test_of_several_minima_the_first_counts(seed):
    rng = np.random.default_rng(seed)
    states, edges = 3, 4
    bdy1, bdy2 = rng.integers(0, 3, (edges, 2, states)), rng.integers(0, 3, (edges, 4, states**2))
    sent = [rng.integers(0, 2, (edges, k)).astype(float) for k in (4, states, states)]
    example = SimpleNamespace(
        seg=np.empty((0, states)), bdy1=bdy1.astype(float), bdy2=bdy2.astype(np.float32)
    )
    costs = naive_learning.edge_costs(example, np.array([0, 1.0, 2.0]))  # ties are frequent
    costs = costs - sent[1][:, None, :, None] - sent[2][:, None, None, :]
    expected = []
    for e in range(edges):
        label = np.argmin(costs[e].min(axis=(1, 2)) - sent[0][e])
        a, b = np.unravel_index(np.argmin(costs[e, label]), (states, states))
        expected.append(naive_learning.edge_features(example, e, label, a, b))
    found = edge_minima((example.bdy1, example.bdy2, 1.0, 2.0), costs.min(axis=(2, 3)), *sent)
    np.testing.assert_array_equal(found, expected)


def test_at_epsilon_zero_the_expectation_is_that_of_a_minimum():
    for seed in range(5):
        example, w = small_example(seed), weights(seed)
        objective = ImageObjective(example)
        objective.evaluate(w, 0.0, sweeps=5)
        share = objective.evaluate(w, 0.0, sweeps=0)
        # Linear in w while the same states are least: Σ b·θ̂ is the dual itself.
        losses = w @ example.truth_features() - share.value - w @ share.expectation
        graph = weighted_graph(example, w, loss=True)
        bare = weighted_graph(example, w)
        cold = naive_learning.expectation(example, graph, objective.messages, 1e-7)
        np.testing.assert_allclose(share.expectation, cold, rtol=1e-6, atol=1e-6)
        assert losses <= 1e-9  # losses are subtracted
        assert (bare.node_costs >= graph.node_costs).all()
