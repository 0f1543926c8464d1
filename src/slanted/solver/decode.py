"""From messages to a labelling: candidates, then moves that never raise the energy.

The paper does not say how a labelling is read off the messages. Here two are made, each variable's
own choice (argmin of its belief) and sequential choices that respect each other, and the better is
improved: single variables first (ICM), then segment-star moves, which re-optimise a plane together
with all its boundary labels exactly. A boundary label rarely changes alone, because its junctions
forbid it; all labels round a segment often do together with the segment's plane.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slanted.errors import InputError
from slanted.runtime.arrays import Floats, Ints
from slanted.runtime.threads import bind, share, together
from slanted.solver.decode_kernels import (
    FOUR_WAY,
    NONE,
    SLOTS,
    THREE_WAY,
    JunctionCosts,
    decide_labels,
    decide_planes,
    descend_coordinates,
)
from slanted.solver.decode_star_kernels import star_moves
from slanted.solver.factor_graph import LABELS, FactorGraph
from slanted.solver.messages import Messages, Problem, build_problem
from slanted.solver.messages_sweep import Sweeper
from slanted.solver.messages_topology import Topology, build_topology

MOST_ROUNDS = 100
"""Each round gains or is the last, so this ends nothing but a very long tail."""


@dataclass(frozen=True, eq=False)
class Labelling:
    """A particle for each segment, a label for each edge.

    Parameters
    ----------
    planes
        (n,) int32 particle of each segment.
    labels
        (E,) int32 label of each edge.
    energy
        Their cost.
    """

    planes: Ints
    labels: Ints
    energy: float


class Decoder:
    """Turns messages into labellings of one graph.

    Parameters
    ----------
    graph
        What to label.
    problem, topology, sweeper
        Of the graph, if they are at hand.

    Attributes
    ----------
    plane_beliefs
        (n, N) of the messages that were last decoded, and with their ε; not there before.
    """

    plane_beliefs: Floats

    def __init__(
        self,
        graph: FactorGraph,
        problem: Problem | None = None,
        topology: Topology | None = None,
        sweeper: Sweeper | None = None,
    ) -> None:
        self._graph = graph
        self._problem = problem or build_problem(graph)
        self._topology = topology or build_topology(graph)
        self._sweeper = sweeper or Sweeper(self._problem, self._topology)
        self._other = Sweeper(self._problem, self._topology)  # both candidates are made at once
        self._ends = np.array(graph.edges, np.int32)
        self._junctions = _junction_costs(graph, self._problem)

    def labelling(self, planes: NDArray[np.integer], labels: NDArray[np.integer]) -> Labelling:
        """Copy states that a caller chose and compute their energy.

        Raises
        ------
        InputError
            If they are of the wrong number or out of range.
        """
        graph = self._graph
        for name, states, count, stop in (
            ("planes", planes, *graph.plane_costs.shape),
            ("labels", labels, len(graph.edges), LABELS),
        ):
            fits = states.shape == (count,) and states.dtype.kind in "iu"
            if not fits or (count and not 0 <= states.min() <= states.max() < stop):
                raise InputError(
                    f"{name}: expected {count} integers 0 … {stop - 1}, got shape {states.shape} "
                    f"of type {states.dtype}; states are indices into the graph's costs"
                )
        return self._measured(planes.astype(np.int32), labels.astype(np.int32))

    def independent(self, messages: Messages, epsilon: float = 0.0) -> Labelling:
        """Let each variable take the state of its least belief, ties by the lowest index."""
        self.plane_beliefs = self._sweeper.plane_beliefs(messages, epsilon)
        planes = self.plane_beliefs.argmin(axis=1)
        labels = self._sweeper.label_beliefs(messages, epsilon).argmin(axis=1)
        return self._measured(planes.astype(np.int32), labels.astype(np.int32))

    def sequential(self, messages: Messages) -> Labelling:
        """Decide planes, then labels, each given all those before it and messages for the rest."""
        graph, problem = self._graph, self._problem
        planes = decide_planes(
            self._topology.star, problem.plane_costs, self._other.reduced(messages, 0.0),
            messages.to_first, messages.to_second,
        )  # fmt: skip
        pairs = planes[graph.edges[:, 0]] * graph.plane_costs.shape[1] + planes[graph.edges[:, 1]]
        label_costs = problem.label_costs + problem.edge_costs[np.arange(len(pairs)), :, pairs]
        from_slots = np.zeros((len(self._junctions[0]), SLOTS, LABELS))
        from_slots[: len(graph.junctions3), 1:] = messages.to_junctions3
        from_slots[len(graph.junctions3) :] = messages.to_junctions4
        labels = decide_labels(self._topology.touching, label_costs, self._junctions, from_slots)
        return self._measured(planes, labels)

    def polish(self, start: Labelling) -> Labelling:
        """Improve a labelling by single moves, then by star moves until none of these gains."""
        planes, labels = start.planes.copy(), start.labels.copy()
        problem = self._problem
        tables = (
            self._topology.star, self._topology.touching, self._ends, problem.plane_costs,
            problem.label_costs, problem.edge_costs, self._junctions,
        )  # fmt: skip
        descend_coordinates(*tables, MOST_ROUNDS, planes, labels)
        # Most stars are at rest already. Which are not, threads can find out side by side.
        due, states = np.ones(len(planes), np.bool_), (planes, labels)
        share(len(planes), bind(star_moves, (*tables, *states, False), due))
        for _ in range(MOST_ROUNDS):
            if not star_moves(*tables, *states, True, 0, len(planes), due):
                break
        end = self._measured(planes, labels)
        return end if end.energy < start.energy else start

    def decode(self, messages: Messages, epsilon: float = 0.0) -> Labelling:
        """Return the better of the two candidates, polished.

        Polishing both and choosing then costs twice the time and gains next to nothing.
        """
        candidates = together(
            lambda: self.independent(messages, epsilon), lambda: self.sequential(messages)
        )
        return self.polish(min(candidates, key=lambda found: found.energy))

    def _measured(self, planes: Ints, labels: Ints) -> Labelling:
        return Labelling(planes, labels, self._graph.energy(planes, labels))


def _junction_costs(graph: FactorGraph, problem: Problem) -> JunctionCosts:
    """Bring the junctions of both sizes into one list, 3-way ones first."""
    first = len(graph.junctions3)
    scopes = np.full((first + len(graph.junctions4), SLOTS), NONE, np.int32)
    scopes[:first, 1:], scopes[first:] = graph.junctions3, graph.junctions4
    three, four = (each.tables[:, 0].reshape(-1) for each in (problem.three, problem.four))
    begin = np.concatenate([
        problem.three.kinds * THREE_WAY,
        len(three) + problem.four.kinds * FOUR_WAY,
    ])  # fmt: skip
    return scopes, begin.astype(np.int32), np.concatenate([three, four])
