"""One image's share of the surrogate partition loss, and its gradient (paper §3.3).

The loss of weights w and messages λ is, with the dual D_ε of `slanted.solver.messages` at
counting numbers c_α = c_i = 1, features φ and task losses ℓ,

    f(w, λ) = −D_ε(λ; w·φ − ℓ) + w·φ(gt),

convex in w and λ together [1]_. At ε = 1 it bounds the negative log-likelihood of a conditional
random field from above, at ε = 0 the structured hinge loss. Sweeps of messages never raise it, and
at *any* messages its gradient in w is φ(gt) − Σ_α E_{b_α} φ, b the beliefs of these messages: so
sweeps and weight steps may take turns in any way.

References
----------
.. [1] T. Hazan, R. Urtasun, "A primal-dual message-passing algorithm for approximated large scale
   structured prediction", NIPS 2010.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from slanted.learning.belief_kernels import edge_expectations, edge_minima
from slanted.learning.examples import NAMES, Example
from slanted.learning.soft_kernels import (
    Features,
    boltzmann_tables,
    edge_costs,
    soft_edges_to_labels,
    soft_reduce,
    soft_update_planes,
)
from slanted.learning.weighted import problem_without_edges, weigh
from slanted.runtime.arrays import Floats
from slanted.solver.factor_graph import LABELS
from slanted.solver.messages import (
    Junctions3or4,
    Messages,
    Problem,
    build_problem,
    dual_terms,
    reparametrised,
    soft_minimum,
    sum_exactly,
)
from slanted.solver.messages_kernels import edges_to_labels
from slanted.solver.messages_label_kernels import junctions_to_first, update_labels
from slanted.solver.messages_sweep import Sweeper
from slanted.solver.messages_topology import build_topology


@dataclass(frozen=True, eq=False)
class Share:
    """What an image contributes at some weights and the messages they led to.

    Parameters
    ----------
    value
        f(w, λ).
    gradient
        (8,) ∂f/∂w.
    expectation
        (8,) features expected under the beliefs; φ(gt) less the gradient.
    sweeps
        Done for this evaluation.
    """

    value: float
    gradient: Floats
    expectation: Floats
    sweeps: int


class Workspace:
    """Large arrays that the images of a process use in turn."""

    def __init__(self) -> None:
        self._arrays: dict[str, Floats] = {}

    def take(self, name: str, shape: tuple[int, ...]) -> Floats:
        """Return an array of this shape with any content."""
        size = int(np.prod(shape))
        if name not in self._arrays or self._arrays[name].size < size:
            self._arrays[name] = np.empty(size)
        return self._arrays[name][:size].reshape(shape)


class ImageObjective:
    """f of one example; it keeps the messages from one evaluation to the next.

    Parameters
    ----------
    example
        The image.
    workspace
        To be shared by the images of a process.
    """

    def __init__(self, example: Example, workspace: Workspace | None = None) -> None:
        self.example = example
        self._workspace = workspace or Workspace()
        self._skeleton = weigh(
            example, np.zeros(len(NAMES)), np.empty((len(example.edges), LABELS, 0, 0))
        )
        self._topology = build_topology(self._skeleton)
        self._truth = example.truth_features()
        self.messages = Messages.zeros(self._skeleton)

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
            At most so many; 0 leaves the messages as they are.
        tolerance
            Stop when the dual rises in a sweep by at most this share of itself.
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
    """Sweeps, dual and expectations at fixed weights; the messages are the objective's."""

    def __init__(self, owner: ImageObjective, weights: Floats, epsilon: float) -> None:
        self.example, self.messages, self.epsilon = owner.example, owner.messages, epsilon
        self.topology, self.graph = owner._topology, owner._skeleton
        self.weights = weights
        bdy1, bdy2 = self.example.bdy1, self.example.bdy2
        self.features: Features = (bdy1, bdy2, float(weights[1]), float(weights[2]))
        self.take = owner._workspace.take

    def _expectations(self, problem: Problem, of_edges: Floats) -> Floats:
        """Return the expectations of all features, given those of bdy1 and bdy2 of each edge."""
        example, messages = self.example, self.messages
        planes, labels = reparametrised(self.graph, problem, messages)
        three = _junction_beliefs(problem.three, messages.to_junctions3, self.epsilon)
        four = _junction_beliefs(problem.four, messages.to_junctions4, self.epsilon)
        crs = example.crs.reshape(len(example.crs), -1)[example.junction4_kinds]
        plane_beliefs = _beliefs(planes, self.epsilon)
        return np.array(
            [
                (plane_beliefs * example.seg).sum(),
                *of_edges.sum(axis=0),
                (three * example.jct.reshape(-1)).sum(),
                (four * crs).sum(),
                (_beliefs(labels, self.epsilon) * example.col).sum(),
                (plane_beliefs * example.vis).sum(),
                (plane_beliefs * example.pho).sum(),
            ]
        )


class _Soft(_Solver):
    """ε > 0, by tables of exponentials."""

    def __init__(self, owner: ImageObjective, weights: Floats, epsilon: float) -> None:
        super().__init__(owner, weights, epsilon)
        shape = self.example.bdy2.shape
        self.table, self.offset = self.take("table", shape), np.empty(shape[:2])
        self.reduced, self.shift = self.take("reduced", shape[::2]), np.empty(shape[0])
        boltzmann_tables(self.features, epsilon, self.table, self.offset)
        graph = weigh(self.example, weights, self.graph.edge_costs)
        self.problem = problem_without_edges(graph)
        self.everyone = np.arange(len(graph.plane_costs), dtype=np.int32)
        self.edges = np.arange(len(graph.edges), dtype=np.int32)
        self.from_edges = np.empty(shape[:2])
        self._gather()

    def sweep(self) -> None:
        problem, messages, tau = self.problem, self.messages, self.epsilon
        soft_reduce(self.table, self.offset, messages.to_label, tau, self.reduced, self.shift)
        soft_update_planes(
            self.everyone, self.topology.star, problem.plane_costs, self.reduced, self.shift,
            self.features, messages.to_label, tau, messages.to_first, messages.to_second,
        )  # fmt: skip
        self._gather()
        update_labels(
            self.edges, self.topology.touching, problem.label_costs, self.from_edges,
            problem.edge_counts, problem.three.with_messages(messages.to_junctions3),
            problem.four.with_messages(messages.to_junctions4), 1.0, tau, messages.to_label,
        )  # fmt: skip

    def dual(self) -> float:
        # Labels' messages are no part of `from_edges`, so it still holds after a whole sweep.
        problem, messages, tau = self.problem, self.messages, self.epsilon
        planes, labels = reparametrised(self.graph, problem, messages)
        three, four = messages.to_junctions3, messages.to_junctions4
        from_three = junctions_to_first(problem.three.with_messages(three), tau)
        from_four = junctions_to_first(problem.four.with_messages(four), tau)
        terms = [
            self.from_edges - messages.to_label,
            from_three - three[:, 0],
            from_four - four[:, 0],
            planes,
            labels,
        ]
        return sum_exactly([soft_minimum(term, tau) for term in terms if len(term)])

    def expectation(self) -> Floats:
        messages = self.messages
        of_edges = edge_expectations(
            self.table, self.features, self.from_edges,
            messages.to_label, messages.to_first, messages.to_second, self.epsilon,
        )  # fmt: skip
        return self._expectations(self.problem, of_edges)

    def _gather(self) -> None:
        soft_edges_to_labels(
            self.table, self.offset, self.features, self.messages.to_first,
            self.messages.to_second, self.epsilon, self.from_edges,
        )  # fmt: skip


class _Hard(_Solver):
    """ε = 0: the sweeps of inference; expectations are those of minima, a subgradient."""

    def __init__(self, owner: ImageObjective, weights: Floats, epsilon: float) -> None:
        super().__init__(owner, weights, epsilon)
        shape = self.example.bdy2.shape
        states = self.example.seg.shape[1]
        costs = self.take("table", shape)
        edge_costs(self.features, costs)
        tables = costs.reshape(shape[0], LABELS, states, states)
        self.graph = weigh(self.example, weights, tables)
        self.problem = build_problem(self.graph, plane_count=1.0, label_count=1.0)
        self.sweeper = Sweeper(self.problem, self.topology)

    def sweep(self) -> None:
        self.sweeper.sweep(self.messages, 0.0)

    def dual(self) -> float:
        return sum_exactly(dual_terms(self.graph, self.problem, self.messages, 0.0))

    def expectation(self) -> Floats:
        messages = self.messages
        from_edges = np.empty_like(messages.to_label)
        edges_to_labels(
            np.arange(len(from_edges), dtype=np.int32), self.problem.edge_costs, messages.to_first,
            messages.to_second, self.problem.edge_counts, 0.0, from_edges,
        )  # fmt: skip
        of_edges = edge_minima(
            self.features, from_edges, messages.to_label, messages.to_first, messages.to_second
        )
        return self._expectations(self.problem, of_edges)


def _beliefs(costs: Floats, tau: float) -> Floats:
    """Return probabilities ∝ exp(−costs / τ) of each row; at τ = 0 all on the first minimum."""
    if tau == 0:
        return np.asarray(np.arange(costs.shape[1]) == costs.argmin(axis=1)[:, None], np.float64)
    power = np.exp((costs.min(axis=1, keepdims=True) - costs) / tau)
    return np.asarray(power / power.sum(axis=1, keepdims=True))


def _junction_beliefs(junctions: Junctions3or4, messages: Floats, tau: float) -> Floats:
    """Return b_α of junctions of one size, (J, 4^k), the first slot's label highest."""
    count, slots, _ = messages.shape
    costs = junctions.tables[junctions.kinds, 0].reshape(count, *[LABELS] * slots)
    for slot in range(slots):
        shape = [count] + [1] * slots
        shape[1 + slot] = LABELS
        costs = costs - messages[:, slot].reshape(shape)
    return _beliefs(costs.reshape(count, LABELS**slots), tau)
