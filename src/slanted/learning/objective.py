"""One image's share of the surrogate partition loss, and its gradient (paper §3.3).

The loss of weights w and messages λ is, with the dual D_ε of `slanted.solver.dual` at
counting numbers c_α = c_i = 1, features φ and task losses ℓ,

    f(w, λ) = −D_ε(λ; w·φ − ℓ) + w·φ(gt),

convex in w and λ together [1]_. At ε = 1 it bounds the negative log-likelihood of a conditional
random field from above, at ε = 0 the structured hinge loss. Sweeps of messages never raise it. At
*any* messages its gradient in w is φ(gt) − Σ_α E_{b_α} φ with b the beliefs of these messages, so
sweeps and weight steps may alternate in any way. Instead of the ground truth, gt may be another
target; see `slanted.learning.targets`.

References
----------
.. [1] T. Hazan, R. Urtasun, "A primal-dual message-passing algorithm for approximated large scale
   structured prediction", NIPS 2010.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from slanted.learning.examples import NAMES, Example
from slanted.learning.expectation_kernels import edge_expectations, edge_minima
from slanted.learning.soft_kernels import (
    Features,
    boltzmann_tables,
    edge_costs,
    soft_edges_to_labels,
    soft_reduce,
    soft_update_nodes,
)
from slanted.runtime.arrays import Floats
from slanted.solver.dual import dual_terms, messages_from_edges, reparametrised, sum_exactly
from slanted.solver.factor_graph import LABELS
from slanted.solver.messages import Messages
from slanted.solver.options import CountingNumbers
from slanted.solver.problem import JunctionTables, Problem, build_problem
from slanted.solver.sweeps import Sweeper, sweep_labels
from slanted.solver.topology import build_topology

COUNTING = CountingNumbers(node=1.0, label=1.0)


@dataclass(frozen=True, eq=False)
class Share:
    """What an image contributes at given weights, after its messages have been improved."""

    value: float
    """f(w, λ)."""
    gradient: Floats
    """(8,) ∂f/∂w."""
    expectation: Floats
    """(8,) features expected under the beliefs; φ(gt) less the gradient."""
    sweeps: int
    """Sweeps done for this evaluation."""


class Workspace:
    """Large arrays that all images of a process use in turn."""

    def __init__(self) -> None:
        self._arrays: dict[str, Floats] = {}

    def take(self, name: str, shape: tuple[int, ...]) -> Floats:
        """Return an array of this shape with arbitrary content."""
        size = int(np.prod(shape))
        if name not in self._arrays or self._arrays[name].size < size:
            self._arrays[name] = np.empty(size)
        return self._arrays[name][:size].reshape(shape)


class ImageObjective:
    """The loss f of one example; its messages are kept from one evaluation to the next.

    Parameters
    ----------
    example, workspace
        The image, and memory that the images of a process share.
    """

    def __init__(self, example: Example, workspace: Workspace | None = None) -> None:
        self.example = example
        self._workspace = workspace or Workspace()
        self._no_tables = np.empty((len(example.edges), LABELS, 0, 0))
        skeleton = example.graph(np.zeros(len(NAMES)), self._no_tables)
        self._topology = build_topology(skeleton)
        self._truth = example.target_features()
        self.messages = Messages.zeros(skeleton)

    def evaluate(
        self, weights: Floats, epsilon: float, *, sweeps: int, tolerance: float = 0.0
    ) -> Share:
        """Improve the messages and return f and its gradient.

        Parameters
        ----------
        weights
            (8,) ≥ 0, in the order of `slanted.learning.examples.NAMES`.
        epsilon
            ε ≥ 0.
        sweeps
            Largest number of sweeps; 0 leaves the messages as they are.
        tolerance
            Stop when the dual rises in a sweep by at most this fraction of itself.
        """
        weights = np.asarray(weights, np.float64)
        solver = (_Soft if epsilon > 0 else _Hard)(self, weights, float(epsilon))
        before, done = -np.inf, 0
        while done < sweeps:
            solver.sweep()
            done += 1
            now = solver.dual()
            if now - before <= tolerance * abs(now):
                break
            before = now
        expectation = solver.expectation()
        value = -solver.dual() + float(weights @ self._truth)
        return Share(value, self._truth - expectation, expectation, done)


class _Solver:
    """Sweeps, dual and expectations at fixed weights, on the messages of an objective.

    Subclasses set `problem`.
    """

    problem: Problem

    def __init__(self, objective: ImageObjective, weights: Floats, epsilon: float) -> None:
        self.example, self.messages = objective.example, objective.messages
        self.topology, self.epsilon = objective._topology, epsilon
        bdy1, bdy2 = self.example.bdy1, self.example.bdy2
        self.features: Features = (bdy1, bdy2, float(weights[1]), float(weights[2]))
        self.table = objective._workspace.take("table", bdy2.shape)

    def _expectations(self, of_edges: Floats) -> Floats:
        """Return the expectations of all features, given those of bdy1 and bdy2 of each edge."""
        example, messages, problem = self.example, self.messages, self.problem
        nodes, labels = reparametrised(problem, messages)
        three = _junction_beliefs(problem.three, messages.to_junctions3, self.epsilon)
        four = _junction_beliefs(problem.four, messages.to_junctions4, self.epsilon)
        crs = example.crs.reshape(len(example.crs), -1)[example.junction4_kinds]
        node_beliefs = _beliefs(nodes, self.epsilon)
        return np.array(
            [
                (node_beliefs * example.seg).sum(),
                *of_edges.sum(axis=0),
                (three * example.jct.reshape(-1)).sum(),
                (four * crs).sum(),
                (_beliefs(labels, self.epsilon) * example.col).sum(),
                (node_beliefs * example.vis).sum(),
                (node_beliefs * example.pho).sum(),
            ]
        )


class _Soft(_Solver):
    """ε > 0, by tables of exponentials."""

    def __init__(self, objective: ImageObjective, weights: Floats, epsilon: float) -> None:
        super().__init__(objective, weights, epsilon)
        edges, labels, pairs = self.example.bdy2.shape
        graph = self.example.graph(weights, objective._no_tables)
        # Weights that are not finite must give such a dual, which the trainer reports.
        self.problem = build_problem(graph, COUNTING, check=False)
        self.reduced = objective._workspace.take("reduced", (edges, pairs))
        self.shift = np.empty(edges)
        self.offset, self.from_edges = np.empty((edges, labels)), np.empty((edges, labels))
        self.nodes = np.arange(len(graph.node_costs), dtype=np.int32)
        self.edges = np.arange(edges, dtype=np.int32)
        boltzmann_tables(self.features, epsilon, self.table, self.offset)
        self._gather()

    def sweep(self) -> None:
        messages, tau = self.messages, self.epsilon
        soft_reduce(self.table, self.offset, messages.to_label, tau, self.reduced, self.shift)
        soft_update_nodes(
            self.nodes, self.topology.star, self.problem.node_costs, self.reduced, self.shift,
            self.features, messages.to_label, tau, messages.to_first, messages.to_second,
        )  # fmt: skip
        self._gather()
        sweep_labels(self.problem, self.topology, self.edges, self.from_edges, messages, tau)

    def dual(self) -> float:
        # `from_edges` does not depend on messages of labels, so it is valid after a whole sweep.
        return sum_exactly(dual_terms(self.problem, self.messages, self.epsilon, self.from_edges))

    def expectation(self) -> Floats:
        messages = self.messages
        of_edges = edge_expectations(
            self.table, self.features, self.from_edges,
            messages.to_label, messages.to_first, messages.to_second, self.epsilon,
        )  # fmt: skip
        return self._expectations(of_edges)

    def _gather(self) -> None:
        soft_edges_to_labels(
            self.table, self.offset, self.features, self.messages.to_first,
            self.messages.to_second, self.epsilon, self.from_edges,
        )  # fmt: skip


class _Hard(_Solver):
    """ε = 0: the sweeps of the solver; expectations are features at minima, a subgradient."""

    def __init__(self, objective: ImageObjective, weights: Floats, epsilon: float) -> None:
        super().__init__(objective, weights, epsilon)
        edge_costs(self.features, self.table)
        states = self.example.seg.shape[1]
        tables = self.table.reshape(len(self.table), LABELS, states, states)
        self.problem = build_problem(self.example.graph(weights, tables), COUNTING)
        self.sweeper = Sweeper(self.problem, self.topology)

    def sweep(self) -> None:
        self.sweeper.sweep(self.messages, 0.0)

    def dual(self) -> float:
        return sum_exactly(dual_terms(self.problem, self.messages, 0.0))

    def expectation(self) -> Floats:
        messages = self.messages
        from_edges = messages_from_edges(self.problem, messages, 0.0)
        of_edges = edge_minima(
            self.features, from_edges, messages.to_label, messages.to_first, messages.to_second
        )
        return self._expectations(of_edges)


def _beliefs(costs: Floats, tau: float) -> Floats:
    """Return probabilities ∝ exp(−costs / τ) of each row; at τ = 0, 1 at the first minimum."""
    if tau == 0:
        return np.asarray(np.arange(costs.shape[1]) == costs.argmin(axis=1)[:, None], np.float64)
    power = np.exp((costs.min(axis=1, keepdims=True) - costs) / tau)
    return np.asarray(power / power.sum(axis=1, keepdims=True))


def _junction_beliefs(junctions: JunctionTables, messages: Floats, tau: float) -> Floats:
    """Return b_α of junctions of one size, (J, 4^k), with the first slot highest."""
    count, slots, _ = messages.shape
    costs = junctions.tables[junctions.kinds, 0].reshape(count, *[LABELS] * slots)
    for slot in range(slots):
        shape = [count] + [1] * slots
        shape[1 + slot] = LABELS
        costs = costs - messages[:, slot].reshape(shape)
    return _beliefs(costs.reshape(count, LABELS**slots), tau)
