"""Messages, the dual they make, and the bound that follows (model: Hazan and Shashua 2010).

With costs θ, messages λ_{i→α}(x_i) from each variable to each factor it is in and counting numbers
c ≥ 0, write θ̂_α = θ_α − Σ_{i∈α} λ_{i→α} and θ̂_i = θ_i + Σ_{α∋i} λ_{i→α}. The dual is

    D_ε(λ) = Σ_α smin_{ε c_α} θ̂_α + Σ_i smin_{ε c_i} θ̂_i,   smin_τ f = −τ log Σ exp(−f / τ).

It is concave. D_0 of *any* messages is a lower bound on the energy of every labelling: messages
cancel in the sum, and a sum of minima is at most the minimum of the sum. It bounds the discrete
problem of the particles at hand, not the continuous one.

We use only non-negative c_α and c_i, for which messages are functions of a variable. The general
norm-product family of [1]_ also has negative c_i, with messages as large as the factors' tables.

References
----------
.. [1] T. Hazan, A. Shashua, "Norm-product belief propagation: primal-dual message-passing for
   approximate inference", IEEE Trans. Information Theory 56 (12), 2010.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import fsum, inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slanted.errors import InputError
from slanted.runtime.arrays import Floats, Ints
from slanted.runtime.threads import share
from slanted.solver.factor_graph import LABELS, FactorGraph
from slanted.solver.messages_kernels import Junctions, add_rows, edges_to_labels
from slanted.solver.messages_label_kernels import junctions_to_first

UNIT_ROUNDOFF = float(np.finfo(np.float64).eps)
"""Twice the largest relative error of one operation: the rest covers products of errors."""


@dataclass(frozen=True, eq=False)
class Messages:
    """λ from variables to factors.

    Parameters
    ----------
    to_first, to_second
        (E, N) from the planes of the first and the second segment of an edge to its factor.
    to_label
        (E, 4) from an edge's label to its factor.
    to_junctions3, to_junctions4
        (J3, 3, 4) and (J4, 4, 4) from labels to junctions.
    """

    to_first: Floats
    to_second: Floats
    to_label: Floats
    to_junctions3: Floats
    to_junctions4: Floats

    @classmethod
    def zeros(cls, graph: FactorGraph) -> Messages:
        """Return messages that leave all costs where they are."""
        edges, states = len(graph.edges), graph.plane_costs.shape[1]
        return cls(
            to_first=np.zeros((edges, states)),
            to_second=np.zeros((edges, states)),
            to_label=np.zeros((edges, LABELS)),
            to_junctions3=np.zeros((len(graph.junctions3), 3, LABELS)),
            to_junctions4=np.zeros((len(graph.junctions4), 4, LABELS)),
        )

    def copy(self) -> Messages:
        """Return messages of the same values in arrays of their own."""
        return Messages(*(np.array(getattr(self, f.name), np.float64) for f in fields(self)))


@dataclass(frozen=True, eq=False)
class Junctions3or4:
    """Junctions of one size, in the shape that kernels read.

    Parameters
    ----------
    kinds
        (J,) which of the tables each has.
    tables
        (kinds, k, 4, 4^(k−1)) flat costs, each slot's label once before those of the others: every
        message then reads its table from front to back.
    counts
        (J,) c_α.
    """

    kinds: Ints
    tables: Floats
    counts: Floats

    @classmethod
    def of(cls, kinds: Ints, tables: Floats, count: float) -> Junctions3or4:
        """Arrange (kinds, 4, …, 4) tables for junctions that all have one counting number."""
        slots = tables.ndim - 1
        turned = [np.moveaxis(tables, 1 + slot, 1) for slot in range(slots)]
        stacked = np.stack([t.reshape(len(tables), LABELS, -1) for t in turned], axis=1)
        return cls(
            np.array(kinds, np.int32),
            stacked.astype(np.float64),
            np.full(len(kinds), count, np.float64),
        )

    def with_messages(self, messages: Floats) -> Junctions:
        """Return what kernels take."""
        return self.kinds, self.tables, self.counts, messages


@dataclass(frozen=True, eq=False)
class Problem:
    """Costs and counting numbers in the shape that kernels read; tables are flat.

    Parameters
    ----------
    plane_costs, label_costs
        (n, N) and (E, 4) θ_i.
    edge_costs, edge_counts
        (E, 4, N²) θ_α and (E,) c_α.
    three, four
        Junctions.
    plane_count, label_count
        c_i of planes and of labels.
    """

    plane_costs: Floats
    label_costs: Floats
    edge_costs: Floats
    edge_counts: Floats
    three: Junctions3or4
    four: Junctions3or4
    plane_count: float
    label_count: float

    def __post_init__(self) -> None:
        # To Numba, arrays that cannot be written to have another type. Some callers' cannot, so
        # none can: kernels compile once, and the large tables need no copy.
        for name in ("plane_costs", "label_costs", "edge_costs"):
            view = getattr(self, name).view()
            view.setflags(write=False)
            object.__setattr__(self, name, view)


def build_problem(
    graph: FactorGraph,
    *,
    plane_count: float = 0.0,
    label_count: float = 0.0,
    factor_count: float = 1.0,
) -> Problem:
    """Bring a graph into the kernels' shape; large tables are not copied.

    Raises
    ------
    InputError
        If a counting number is out of its range or a cost is not finite.
    """
    if not (0 <= plane_count < inf and 0 <= label_count < inf and 0 < factor_count < inf):
        raise InputError(
            "counting numbers: expected plane_count, label_count >= 0 and factor_count > 0, got "
            f"{plane_count}, {label_count} and {factor_count}; the dual is not concave otherwise"
        )
    for name in ("plane_costs", "label_costs", "edge_costs", "junction3_costs", "junction4_costs"):
        if not np.isfinite(getattr(graph, name)).all():
            raise InputError(
                f"{name}: expected finite costs, got NaN or infinity; use a large cost instead"
            )
    edges, states = len(graph.edges), graph.plane_costs.shape[1]
    no_kinds = np.zeros(len(graph.junctions3), np.int32)
    return Problem(
        plane_costs=_flat(graph.plane_costs, graph.plane_costs.shape),
        label_costs=_flat(graph.label_costs, (edges, LABELS)),
        edge_costs=_flat(graph.edge_costs, (edges, LABELS, states**2)),
        edge_counts=np.full(edges, factor_count, np.float64),
        three=Junctions3or4.of(no_kinds, graph.junction3_costs[None], factor_count),
        four=Junctions3or4.of(graph.junction4_kinds, graph.junction4_costs, factor_count),
        plane_count=float(plane_count),
        label_count=float(label_count),
    )


def dual(
    graph: FactorGraph,
    messages: Messages,
    epsilon: float = 0.0,
    *,
    plane_count: float = 0.0,
    label_count: float = 0.0,
    factor_count: float = 1.0,
) -> float:
    """Return D_ε(λ) of the module's docstring; the counting numbers matter only if ε > 0."""
    problem = build_problem(
        graph, plane_count=plane_count, label_count=label_count, factor_count=factor_count
    )
    return sum_exactly(dual_terms(graph, problem, messages, float(epsilon)))


def certified_bound(graph: FactorGraph, messages: Messages) -> float:
    """Return a number that no labelling's energy is below: D_0(λ) less what rounding may add."""
    terms = dual_terms(graph, build_problem(graph), messages, 0.0)
    return rounded_down(terms, roundings(graph, messages))


def dual_terms(
    graph: FactorGraph, problem: Problem, messages: Messages, epsilon: float
) -> list[Floats]:
    """Return the terms of D_ε: of edges (E,), 3-way, 4-way junctions, planes (n,), labels (E,).

    They follow from costs and messages alone, not from anything that an update left behind: the
    bound rests on them.
    """
    planes, labels = reparametrised(graph, problem, messages)
    from_edges = np.empty_like(messages.to_label)
    edges = np.arange(len(from_edges), dtype=np.int32)

    def some(first: int, last: int) -> None:
        edges_to_labels(
            edges[first:last], problem.edge_costs, messages.to_first, messages.to_second,
            problem.edge_counts, epsilon, from_edges,
        )  # fmt: skip

    share(len(edges), some)
    three, four = messages.to_junctions3, messages.to_junctions4
    from_three = junctions_to_first(problem.three.with_messages(three), epsilon)
    from_four = junctions_to_first(problem.four.with_messages(four), epsilon)
    # A factor's minimum is that of its message to one variable, less this variable's own message.
    return [
        soft_minimum(from_edges - messages.to_label, epsilon * problem.edge_counts[:, None]),
        soft_minimum(from_three - three[:, 0], epsilon * problem.three.counts[:, None]),
        soft_minimum(from_four - four[:, 0], epsilon * problem.four.counts[:, None]),
        soft_minimum(planes, epsilon * problem.plane_count),
        soft_minimum(labels, epsilon * problem.label_count),
    ]


def reparametrised(
    graph: FactorGraph, problem: Problem, messages: Messages
) -> tuple[Floats, Floats]:
    """Return θ̂_i = θ_i + Σ λ of planes, (n, N), and of labels, (E, 4)."""
    planes, labels = problem.plane_costs.copy(), problem.label_costs + messages.to_label
    for variables, sent, total in (
        (graph.edges[:, 0], messages.to_first, planes),
        (graph.edges[:, 1], messages.to_second, planes),
        (graph.junctions3, messages.to_junctions3, labels),
        (graph.junctions4, messages.to_junctions4, labels),
    ):
        add_rows(variables.flatten(), sent.reshape(-1, sent.shape[-1]), total)
    return planes, labels


Roundings = list[tuple[NDArray[Any] | int, NDArray[Any]]]
"""k and Λ of the terms of each kind; see `rounded_down`."""


def roundings(graph: FactorGraph, messages: Messages) -> Roundings:
    """Return how many operations make each term of D_0, and how large messages are in them."""
    first, second, label = (
        np.abs(m).max(axis=1, initial=0.0)
        for m in (messages.to_first, messages.to_second, messages.to_label)
    )
    three, four = (
        np.abs(m).max(axis=2, initial=0.0) for m in (messages.to_junctions3, messages.to_junctions4)
    )
    ends = graph.edges.T.reshape(-1)
    slots = np.concatenate([graph.junctions3.reshape(-1), graph.junctions4.reshape(-1)])
    planes, labels = len(graph.plane_costs), len(graph.edges)
    plane_sizes = np.bincount(ends, np.concatenate([first, second]), planes)
    label_sizes = label + np.bincount(
        slots, np.concatenate([three.reshape(-1), four.reshape(-1)]), labels
    )
    plane_additions = np.bincount(ends, minlength=planes)
    label_additions = 1 + np.bincount(slots, minlength=labels)
    return [
        (3, first + second + label),
        (3, three.sum(axis=1)),
        (4, four.sum(axis=1)),
        (plane_additions, plane_sizes),
        (label_additions, label_sizes),
    ]


def rounded_down(terms: list[Floats], made_by: Roundings) -> float:
    """Sum the terms of D_0, exactly, and subtract the largest error that rounding made in them.

    A term is the least of sums s of a cost and k messages. Each of the k operations errs by at most
    half a unit of its result, which is at most |s| + Λ, Λ the sum of the messages' largest
    magnitudes. So a true sum is at least s − k u (|s| + Λ), which grows with s: the least
    computed sum bounds them all, and large costs elsewhere in a table do not matter.
    """
    slack = [k * (np.abs(term) + size) for term, (k, size) in zip(terms, made_by, strict=True)]
    value = sum_exactly(terms)
    # Of positive numbers a sum in any order errs by far less than this share of itself.
    errors = (1 + 1e-6) * float(np.concatenate(slack).sum())
    return value - UNIT_ROUNDOFF * (errors + abs(value))


def sum_exactly(terms: list[Floats]) -> float:
    """Return the sum of terms of a dual, exactly but for one rounding."""
    return fsum(np.concatenate(terms).tolist())


def soft_minimum(values: Floats, tau: float | Floats) -> Floats:
    """Return smin_τ of each row; τ may differ between rows, but not be zero for some of them."""
    least: Floats = values.min(axis=1, keepdims=True)
    if np.any(tau):
        least = least - tau * np.log(np.exp((least - values) / tau).sum(axis=1, keepdims=True))
    return least[:, 0]


def _flat(costs: Floats, shape: tuple[int, ...]) -> Floats:
    return np.ascontiguousarray(costs, np.float64).reshape(shape)
