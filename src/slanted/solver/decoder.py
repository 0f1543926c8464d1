"""From messages to a labelling: candidates, then moves that never raise the energy.

The paper does not say how a labelling is read off the messages. Here two candidates are made: in
one, each variable chooses alone (the argmin of its belief); in the other, variables choose in turn,
given the choices before. The better one is improved, first one variable at a time (ICM), then by
star moves, which re-optimise a node's state together with the labels of all its edges exactly. A
label rarely changes alone, because its junctions forbid it; all labels around a node often change
together with its state.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slanted.errors import InputError
from slanted.runtime.arrays import Floats, Ints
from slanted.runtime.threads import bind, share, together
from slanted.solver.decoder_kernels import (
    FOUR_WAY,
    NONE,
    SLOTS,
    THREE_WAY,
    JunctionCosts,
    decide_labels,
    decide_nodes,
    descend_coordinates,
)
from slanted.solver.factor_graph import LABELS
from slanted.solver.messages import Messages
from slanted.solver.problem import Problem
from slanted.solver.star_kernels import star_moves
from slanted.solver.sweeps import Sweeper

MOST_ROUNDS = 100  # all but the last lower the energy; this only cuts off a very long tail


@dataclass(frozen=True, eq=False)
class Labelling:
    """A state for each node, a label for each edge."""

    states: Ints
    labels: Ints
    """(n,) and (E,) int32."""
    energy: float
    """Their cost."""


class Decoder:
    """Turns messages into labellings of one graph.

    Parameters
    ----------
    sweeper
        Sweeper of the whole graph; its working memory is reused.

    Attributes
    ----------
    node_beliefs
        (n, N) beliefs of the messages decoded last, at their ε; not set before that.
    """

    node_beliefs: Floats

    def __init__(self, sweeper: Sweeper) -> None:
        self._sweeper = sweeper
        self._problem, self._topology = sweeper.problem, sweeper.topology
        self._graph = sweeper.problem.graph
        self._other = Sweeper(self._problem, self._topology)  # for the second candidate
        junctions = junction_costs(self._problem)
        self.tables = (
            self._topology.star, self._topology.touching, np.array(self._graph.edges, np.int32),
            self._problem.node_costs, self._problem.label_costs, self._problem.edge_costs,
            junctions,
        )  # fmt: skip

    def labelling(self, states: NDArray[np.integer], labels: NDArray[np.integer]) -> Labelling:
        """Copy states and labels that a caller chose and compute their energy.

        Raises
        ------
        InputError
            If their number is wrong or they are out of range.
        """
        graph = self._graph
        for name, chosen, count, stop in (
            ("states", states, *graph.node_costs.shape),
            ("labels", labels, len(graph.edges), LABELS),
        ):
            fits = chosen.shape == (count,) and chosen.dtype.kind in "iu"
            if not fits or (count and not 0 <= chosen.min() <= chosen.max() < stop):
                raise InputError(
                    f"{name}: expected {count} integers 0 … {stop - 1}, got shape {chosen.shape} "
                    f"of type {chosen.dtype}; they are indices into the graph's costs"
                )
        return self._measured(states, labels)

    def independent(self, messages: Messages, epsilon: float = 0.0) -> Labelling:
        """Give each variable the argmin of its belief; ties go to the lowest index."""
        self.node_beliefs = self._sweeper.node_beliefs(messages, epsilon)
        labels = self._sweeper.label_beliefs(messages, epsilon).argmin(axis=1)
        return self._measured(self.node_beliefs.argmin(axis=1), labels)

    def sequential(self, messages: Messages) -> Labelling:
        """Decide states, then labels, each given those before it and messages for the rest."""
        graph, problem, junctions = self._graph, self._problem, self.tables[-1]
        states = decide_nodes(
            self._topology.star, problem.node_costs, self._other.reduced(messages, 0.0),
            messages.to_first, messages.to_second,
        )  # fmt: skip
        pairs = states[graph.edges[:, 0]] * graph.node_costs.shape[1] + states[graph.edges[:, 1]]
        label_costs = problem.label_costs + problem.edge_costs[np.arange(len(pairs)), :, pairs]
        to_slots = np.zeros((len(junctions[0]), SLOTS, LABELS))
        to_slots[: len(graph.junctions3), 1:] = messages.to_junctions3
        to_slots[len(graph.junctions3) :] = messages.to_junctions4
        labels = decide_labels(self._topology.touching, label_costs, junctions, to_slots)
        return self._measured(states, labels)

    def polish(self, start: Labelling) -> Labelling:
        """Improve a labelling by single moves, then by star moves until none gains."""
        chosen = start.states.copy(), start.labels.copy()
        count = len(start.states)
        descend_coordinates(*self.tables, MOST_ROUNDS, *chosen)
        # Few stars can still gain; threads find them in parallel.
        due = np.ones(count, np.bool_)
        share(count, bind(star_moves, (*self.tables, *chosen, False), due))
        for _ in range(MOST_ROUNDS):
            if not star_moves(*self.tables, *chosen, True, 0, count, due):
                break
        end = self._measured(*chosen)
        return end if end.energy < start.energy else start

    def decode(self, messages: Messages, epsilon: float = 0.0) -> Labelling:
        """Return the better of the two candidates, polished.

        Polishing both before choosing takes twice the time and gains next to nothing.
        """
        candidates = together(
            lambda: self.independent(messages, epsilon), lambda: self.sequential(messages)
        )
        return self.polish(min(candidates, key=lambda found: found.energy))

    def _measured(self, states: NDArray[np.integer], labels: NDArray[np.integer]) -> Labelling:
        energy = self._graph.energy(states, labels)
        return Labelling(states.astype(np.int32), labels.astype(np.int32), energy)


def junction_costs(problem: Problem) -> JunctionCosts:
    """Merge the junctions of both sizes into one list, 3-way ones first."""
    graph = problem.graph
    first = len(graph.junctions3)
    scopes = np.full((first + len(graph.junctions4), SLOTS), NONE, np.int32)
    scopes[:first, 1:], scopes[first:] = graph.junctions3, graph.junctions4
    three, four = (each.tables[:, 0].reshape(-1) for each in (problem.three, problem.four))
    begin = np.concatenate([
        problem.three.kinds * THREE_WAY,
        len(three) + problem.four.kinds * FOUR_WAY,
    ])  # fmt: skip
    return scopes, begin.astype(np.int32), np.concatenate([three, four])
