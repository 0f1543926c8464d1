"""Sweeps: every variable's messages once, planes first, then labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from slanted.inference.colouring import Ints
from slanted.inference.messages import Messages, Problem
from slanted.inference.messages_kernels import (
    Floats,
    edges_to_labels,
    plane_beliefs,
    reduce_labels,
    update_planes,
)
from slanted.inference.messages_label_kernels import label_beliefs, update_labels
from slanted.inference.messages_topology import Topology
from slanted.threads import current_threads, share

SMALLEST_SLICE = 128
"""Variables a thread must have to do: handing over fewer takes longer than updating them."""


@dataclass(frozen=True, eq=False)
class Schedule:
    """Which variables to update, and in which order.

    Parameters
    ----------
    plane_classes, label_classes
        Segments and edges, colour after colour; inside a colour any order gives the same result.
    plane_edges
        Edges of these segments.
    label_edges
        The edges of `label_classes`.
    """

    plane_classes: list[Ints]
    label_classes: list[Ints]
    plane_edges: Ints
    label_edges: Ints

    @classmethod
    def everything(cls, topology: Topology) -> Schedule:
        """Update all variables."""
        edges = np.arange(len(topology.touching[0]) - 1, dtype=np.int32)
        return cls(topology.plane_classes, topology.label_classes, edges, edges)


class Sweeper:
    """The state that sweeps need beside the messages: working memory.

    Parameters
    ----------
    problem, topology
        What to solve.
    schedule
        None updates all variables.
    """

    def __init__(
        self,
        problem: Problem,
        topology: Topology,
        schedule: Schedule | None = None,
    ) -> None:
        self._problem = problem
        self._topology = topology
        self._schedule = schedule or Schedule.everything(topology)
        edges, labels, pairs = problem.edge_costs.shape
        self._reduced = np.empty((edges, pairs))
        self._from_edges = np.empty((edges, labels))

    def sweep(self, messages: Messages, epsilon: float) -> None:
        """Replace every message once: exact ascent of D_ε in one variable's messages at a time."""
        self.update_planes(messages, epsilon)
        self.update_labels(messages, epsilon)

    def update_planes(self, messages: Messages, epsilon: float) -> None:
        """Replace the messages of planes."""
        problem, schedule = self._problem, self._schedule
        self._reduce(messages, epsilon, schedule.plane_edges)
        self._run_classes(
            update_planes, schedule.plane_classes, self._topology.star, problem.plane_costs,
            self._reduced, problem.edge_counts, problem.plane_count, epsilon,
            messages.to_first, messages.to_second,
        )  # fmt: skip

    def update_labels(self, messages: Messages, epsilon: float) -> None:
        """Replace the messages of labels."""
        problem, schedule = self._problem, self._schedule
        self._gather(messages, epsilon, schedule.label_edges)
        self._run_classes(
            update_labels, schedule.label_classes, self._topology.touching, problem.label_costs,
            self._from_edges, problem.edge_counts,
            problem.three.with_messages(messages.to_junctions3),
            problem.four.with_messages(messages.to_junctions4),
            problem.label_count, epsilon, messages.to_label,
        )  # fmt: skip

    def plane_beliefs(self, messages: Messages, epsilon: float) -> Floats:
        """Return B_i of all planes, (n, N): least costs given a plane, up to a constant, if ε = 0.

        More exactly D_0 ≤ C + min B_i, and no labelling with y_i = k costs less than C + B_i(k).
        """
        self._reduce(messages, epsilon, Schedule.everything(self._topology).plane_edges)
        beliefs: Floats = plane_beliefs(
            self._topology.star, self._problem.plane_costs, self._reduced,
            self._problem.edge_counts, epsilon, messages.to_first, messages.to_second,
        )  # fmt: skip
        return beliefs

    def label_beliefs(self, messages: Messages, epsilon: float) -> Floats:
        """Return B_o of all labels, (E, 4)."""
        self._gather(messages, epsilon, Schedule.everything(self._topology).label_edges)
        beliefs: Floats = label_beliefs(
            self._topology.touching, self._problem.label_costs, self._from_edges,
            self._problem.three.with_messages(messages.to_junctions3),
            self._problem.four.with_messages(messages.to_junctions4), epsilon,
        )  # fmt: skip
        return beliefs

    def _reduce(self, messages: Messages, epsilon: float, edges: Ints) -> None:
        self._run(
            reduce_labels, edges, self._problem.edge_costs, messages.to_label,
            self._problem.edge_counts, epsilon, self._reduced,
        )  # fmt: skip

    def _gather(self, messages: Messages, epsilon: float, edges: Ints) -> None:
        self._run(
            edges_to_labels, edges, self._problem.edge_costs, messages.to_first,
            messages.to_second, self._problem.edge_counts, epsilon, self._from_edges,
        )  # fmt: skip

    def _run_classes(self, kernel: Callable[..., None], classes: list[Ints], *rest: Any) -> None:
        if current_threads() == 1 and classes:
            classes = [np.concatenate(classes)]  # the same order, with one call
        for members in classes:
            self._run(kernel, members, *rest)

    def _run(self, kernel: Callable[..., None], members: Ints, *rest: Any) -> None:
        """Run a kernel on members that do not depend on each other, or on all in one thread."""

        def some(first: int, last: int) -> None:
            kernel(members[first:last], *rest)

        share(len(members), some, SMALLEST_SLICE)
