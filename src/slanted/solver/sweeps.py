"""Sweeps: each updates every variable's messages once, block by block, nodes before labels."""

from __future__ import annotations

from functools import partial

import numpy as np

from slanted.runtime.arrays import Floats, Ints
from slanted.runtime.threads import bind, share, share_rows, together
from slanted.solver.block_kernels import update_block
from slanted.solver.label_kernels import edges_to_labels, label_beliefs, update_labels
from slanted.solver.messages import Messages
from slanted.solver.node_kernels import node_beliefs, reduce_labels
from slanted.solver.problem import Problem
from slanted.solver.topology import Block, Topology

SMALLEST_SHARED = 256
"""Nodes of a phase that threads share, such as not those of borders: to wake a thread takes as long
as updating fewer. Blocks stay as they are, since their order decides the result."""


class Sweeper:
    """Updates messages; it holds the working memory that sweeps need.

    Parameters
    ----------
    problem, topology
        The graph to sweep.
    only
        Variables to update; None updates all of them.
    """

    def __init__(self, problem: Problem, topology: Topology, only: Block | None = None) -> None:
        self.problem = problem
        self.topology = topology
        self._phases = topology.phases if only is None else [[only]]
        edges, labels, pairs = problem.edge_costs.shape
        self._reduced = np.empty((edges, pairs))
        self._from_edges = np.empty((edges, labels))

    def sweep(self, messages: Messages, epsilon: float) -> None:
        """Replace every message once: exact ascent of D_ε in one variable's messages at a time."""
        for phase in self._phases:
            tasks = [partial(self._update, block, messages, epsilon) for block in phase]
            if sum(len(block.nodes) for block in phase) >= SMALLEST_SHARED:
                together(*tasks)
                continue
            for task in tasks:
                task()

    def advance(self, messages: Messages, epsilons: list[float]) -> Messages:
        """Do one sweep for each ε of a list, in place, and return the messages."""
        for epsilon in epsilons:
            self.sweep(messages, epsilon)
        return messages

    def _update(self, block: Block, messages: Messages, epsilon: float) -> None:
        """Replace the messages of a block's nodes, then of its labels."""
        problem, topology = self.problem, self.topology
        update_block(
            block.nodes, block.edges, block.labels, topology.star, topology.touching,
            problem.node_costs, problem.label_costs, problem.edge_costs, problem.edge_counts,
            problem.node_count, problem.label_count,
            problem.three.with_messages(messages.to_junctions3),
            problem.four.with_messages(messages.to_junctions4),
            messages.to_first, messages.to_second, messages.to_label,
            self._reduced, self._from_edges, epsilon,
        )  # fmt: skip

    def node_beliefs(self, messages: Messages, epsilon: float) -> Floats:
        """Return B_i of all nodes, (n, N): if ε = 0 the least cost given a state, up to a constant.

        More exactly D_0 ≤ C + min B_i, and no labelling with y_i = k costs less than C + B_i(k).
        """
        inputs = (
            self.topology.star, self.problem.node_costs, self.reduced(messages, epsilon),
            self.problem.edge_counts, epsilon, messages.to_first, messages.to_second,
        )  # fmt: skip
        return share_rows(len(self.problem.node_costs), bind(node_beliefs, inputs))

    def reduced(self, messages: Messages, epsilon: float) -> Floats:
        """Return the edges' tables minimised over labels, (E, N²), valid until the next call."""
        edges = np.arange(len(self._reduced), dtype=np.int32)
        share(len(edges), lambda a, b: self._reduce(messages, epsilon, edges[a:b]))
        return self._reduced

    def label_beliefs(self, messages: Messages, epsilon: float) -> Floats:
        """Return B_o of all labels, (E, 4)."""
        problem = self.problem
        edges = np.arange(len(self._from_edges), dtype=np.int32)
        share(len(edges), lambda a, b: self._gather(messages, epsilon, edges[a:b]))
        inputs = (
            self.topology.touching, problem.label_costs, self._from_edges,
            problem.three.with_messages(messages.to_junctions3),
            problem.four.with_messages(messages.to_junctions4), epsilon,
        )  # fmt: skip
        return share_rows(len(edges), bind(label_beliefs, inputs))

    def _reduce(self, messages: Messages, epsilon: float, edges: Ints) -> None:
        reduce_labels(
            edges, self.problem.edge_costs, messages.to_label,
            self.problem.edge_counts, epsilon, self._reduced,
        )  # fmt: skip

    def _gather(self, messages: Messages, epsilon: float, edges: Ints) -> None:
        edges_to_labels(
            edges, self.problem.edge_costs, messages.to_first,
            messages.to_second, self.problem.edge_counts, epsilon, self._from_edges,
        )  # fmt: skip


def sweep_labels(
    problem: Problem,
    topology: Topology,
    edges: Ints,
    from_edges: Floats,
    messages: Messages,
    epsilon: float,
) -> None:
    """Replace the messages of the labels of some edges, given those from their edge factors."""
    update_labels(
        edges, topology.touching, problem.label_costs, from_edges, problem.edge_counts,
        problem.three.with_messages(messages.to_junctions3),
        problem.four.with_messages(messages.to_junctions4), problem.label_count, epsilon,
        messages.to_label,
    )  # fmt: skip
