"""Sweeps: every variable's messages once, block by block, planes before labels."""

from __future__ import annotations

from functools import partial

import numpy as np

from slanted.runtime.arrays import Floats, Ints
from slanted.runtime.threads import bind, share, share_rows, together
from slanted.solver.blocks import Block
from slanted.solver.messages import Messages, Problem
from slanted.solver.messages_kernels import (
    edges_to_labels,
    plane_beliefs,
    reduce_labels,
    update_planes,
)
from slanted.solver.messages_label_kernels import label_beliefs, update_labels
from slanted.solver.messages_topology import Topology


class Sweeper:
    """The state that sweeps need beside the messages: working memory.

    Parameters
    ----------
    problem, topology
        What to solve.
    only
        Variables to update; None updates all, blocks at once if there are threads.
    """

    def __init__(self, problem: Problem, topology: Topology, only: Block | None = None) -> None:
        self._problem = problem
        self._topology = topology
        self._phases = topology.phases if only is None else [[only]]
        edges, labels, pairs = problem.edge_costs.shape
        self._reduced = np.empty((edges, pairs))
        self._from_edges = np.empty((edges, labels))

    def sweep(self, messages: Messages, epsilon: float) -> None:
        """Replace every message once: exact ascent of D_ε in one variable's messages at a time."""
        for phase in self._phases:
            together(*(partial(self._update, block, messages, epsilon) for block in phase))

    def _update(self, block: Block, messages: Messages, epsilon: float) -> None:
        """Replace the messages of a block's planes, then of its labels."""
        problem = self._problem
        self._reduce(messages, epsilon, block.edges)
        update_planes(
            block.planes, self._topology.star, problem.plane_costs, self._reduced,
            problem.edge_counts, problem.plane_count, epsilon,
            messages.to_first, messages.to_second,
        )  # fmt: skip
        self._gather(messages, epsilon, block.labels)
        update_labels(
            block.labels, self._topology.touching, problem.label_costs, self._from_edges,
            problem.edge_counts, problem.three.with_messages(messages.to_junctions3),
            problem.four.with_messages(messages.to_junctions4), problem.label_count, epsilon,
            messages.to_label,
        )  # fmt: skip

    def plane_beliefs(self, messages: Messages, epsilon: float) -> Floats:
        """Return B_i of all planes, (n, N): least costs given a plane, up to a constant, if ε = 0.

        More exactly D_0 ≤ C + min B_i, and no labelling with y_i = k costs less than C + B_i(k).
        """
        inputs = (
            self._topology.star, self._problem.plane_costs, self.reduced(messages, epsilon),
            self._problem.edge_counts, epsilon, messages.to_first, messages.to_second,
        )  # fmt: skip
        return share_rows(len(self._problem.plane_costs), bind(plane_beliefs, inputs))

    def reduced(self, messages: Messages, epsilon: float) -> Floats:
        """Return the tables of all edges minimised over labels, (E, N²), until the next call."""
        edges = np.arange(len(self._reduced), dtype=np.int32)
        share(len(edges), lambda a, b: self._reduce(messages, epsilon, edges[a:b]))
        return self._reduced

    def label_beliefs(self, messages: Messages, epsilon: float) -> Floats:
        """Return B_o of all labels, (E, 4)."""
        edges = np.arange(len(self._from_edges), dtype=np.int32)
        share(len(edges), lambda a, b: self._gather(messages, epsilon, edges[a:b]))
        inputs = (
            self._topology.touching, self._problem.label_costs, self._from_edges,
            self._problem.three.with_messages(messages.to_junctions3),
            self._problem.four.with_messages(messages.to_junctions4), epsilon,
        )  # fmt: skip
        return share_rows(len(edges), bind(label_beliefs, inputs))

    def _reduce(self, messages: Messages, epsilon: float, edges: Ints) -> None:
        reduce_labels(
            edges, self._problem.edge_costs, messages.to_label,
            self._problem.edge_counts, epsilon, self._reduced,
        )  # fmt: skip

    def _gather(self, messages: Messages, epsilon: float, edges: Ints) -> None:
        edges_to_labels(
            edges, self._problem.edge_costs, messages.to_first,
            messages.to_second, self._problem.edge_counts, epsilon, self._from_edges,
        )  # fmt: skip
