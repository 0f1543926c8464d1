"""The objective of one image: gradient, convexity, duality, and descent by sweeps."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_solver as naive
from learning.problems import small_example, weights
from naive_learning import weighted_graph
from slanted.learning.examples import NAMES
from slanted.learning.objective import ImageObjective
from slanted.solver import CountingNumbers
from slanted.solver.messages import Messages
from solver.graphs import dual

COUNT = len(NAMES)
seeds = st.integers(0, 10_000)
ONES = CountingNumbers(1.0, 1.0, 1.0)


def value(objective, w, messages, epsilon):
    objective.messages = messages.copy()
    return objective.evaluate(w, epsilon, sweeps=0).value


@given(seeds, st.sampled_from([1.0, 0.5, 0.1]), st.sampled_from([0, 2, 200]))
@settings(max_examples=20, deadline=None)
def test_the_gradient_is_that_of_finite_differences(seed, epsilon, sweeps):
    """At random messages, at early ones, and at converged ones."""
    objective, w = ImageObjective(small_example(seed)), 0.1 + weights(seed)
    graph = weighted_graph(objective.example, w)
    objective.messages = naive.random_messages(graph, seed)
    objective.evaluate(w, epsilon, sweeps=sweeps)
    messages = objective.messages.copy()
    gradient = objective.evaluate(w, epsilon, sweeps=0).gradient
    step = 1e-4
    for k in range(COUNT):
        shift = step * np.eye(COUNT)[k]
        ahead, behind = (value(objective, w + s * shift, messages, epsilon) for s in (1, -1))
        twice = [value(objective, w + s * shift, messages, epsilon) for s in (2, -2)]
        # Fourth order: the second has errors of 1e-6 where ε is small.
        difference = (8 * (ahead - behind) - (twice[0] - twice[1])) / (12 * step)
        assert difference == pytest.approx(gradient[k], rel=1e-6, abs=1e-6)


@given(seeds, st.sampled_from([1.0, 0.3, 0.0]))
@settings(max_examples=20, deadline=None)
def test_it_is_convex_in_weights_and_messages_together(seed, epsilon):
    objective = ImageObjective(small_example(seed))
    graph = weighted_graph(objective.example, np.ones(COUNT))
    points = [(weights(k), naive.random_messages(graph, k)) for k in (2 * seed, 2 * seed + 1)]
    middle = Messages(
        *((a + b) / 2 for a, b in zip(*(vars(m).values() for _, m in points), strict=True))
    )
    ends = [value(objective, w, m, epsilon) for w, m in points]
    between = value(objective, (points[0][0] + points[1][0]) / 2, middle, epsilon)
    assert between <= np.mean(ends) + 1e-9


@pytest.mark.parametrize("epsilon", [1.0, 0.5])
@pytest.mark.parametrize("seed", range(4))
def test_primal_and_dual_meet(seed, epsilon):
    example, w = small_example(seed), weights(seed)
    objective = ImageObjective(example)
    share = objective.evaluate(w, epsilon, sweeps=2000, tolerance=1e-15)
    graph = weighted_graph(example, w, loss=True)
    lower = dual(graph, objective.messages, epsilon, ONES)
    assert w @ example.truth_features() - share.value == pytest.approx(lower, rel=1e-10)
    upper, inconsistency = naive.smoothed_primal(graph, objective.messages, epsilon, ONES)
    assert inconsistency < 1e-5
    assert upper == pytest.approx(lower, rel=1e-5)


@pytest.mark.parametrize("epsilon", [1.0, 0.2, 0.0])
def test_sweeps_never_raise_it(epsilon):
    for seed in range(5):
        objective, w = ImageObjective(small_example(seed)), weights(seed)
        values = [objective.evaluate(w, epsilon, sweeps=1).value for _ in range(15)]
        assert (np.diff(values) <= 1e-9 * np.abs(values[1:])).all()


def test_it_bounds_the_likelihood_and_the_hinge_loss():
    """With no loss, f ≥ −log p(gt) of the exact distribution; at ε = 0, f ≥ E(gt) − min E."""
    for seed in range(3):
        example, w = small_example(seed, particles=2, losses=0.0), weights(seed)
        if len(example.edges) > 6:
            continue
        graph = weighted_graph(example, w)
        truth = w @ example.truth_features()
        count, edges = len(example.seg), len(example.edges)
        states = np.array(list(np.ndindex(*[2] * count, *[4] * edges)))
        energies = np.array([graph.energy(row[:count], row[count:]) for row in states])
        assert energies.min() <= truth + 1e-5
        partition = -energies.min() + np.log(np.exp(energies.min() - energies).sum())
        objective = ImageObjective(example)
        assert objective.evaluate(w, 1.0, sweeps=100).value >= truth + partition - 1e-6
        hinge = ImageObjective(example).evaluate(w, 0.0, sweeps=100).value
        assert hinge >= truth - energies.min() - 1e-6


def test_at_epsilon_zero_it_lies_above_every_tangent():
    for seed in range(5):
        objective = ImageObjective(small_example(seed))
        graph = weighted_graph(objective.example, np.ones(COUNT))
        messages = naive.random_messages(graph, seed)
        objective.messages = messages.copy()
        share = objective.evaluate(weights(seed), 0.0, sweeps=0)
        for k in range(5):
            there = value(objective, weights(100 + k), messages, 0.0)
            tangent = share.value + share.gradient @ (weights(100 + k) - weights(seed))
            assert there >= tangent - 1e-9
