"""The dual of the minimisation problem, and the lower bound that follows from any messages.

With costs θ, messages λ_{i→α}(x_i) from each variable to each factor it is in and counting numbers
c ≥ 0, write θ̂_α = θ_α − Σ_{i∈α} λ_{i→α} and θ̂_i = θ_i + Σ_{α∋i} λ_{i→α}. The dual is [1]_

    D_ε(λ) = Σ_α smin_{ε c_α} θ̂_α + Σ_i smin_{ε c_i} θ̂_i,   smin_τ f = −τ log Σ exp(−f / τ).

It is concave. D_0 of *any* messages is a lower bound on the energy of every labelling: messages
cancel in the sum, and a sum of minima is at most the minimum of the sum.

We use only non-negative c_α and c_i, for which a message is a function of one variable. The general
norm-product family of [1]_ also has negative c_i, with messages as large as the factors' tables.

References
----------
.. [1] T. Hazan, A. Shashua, "Norm-product belief propagation: primal-dual message-passing for
   approximate inference", IEEE Trans. Information Theory 56 (12), 2010.
"""

from __future__ import annotations

from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slanted.runtime.arrays import Floats
from slanted.runtime.threads import share
from slanted.solver.factor_graph import FactorGraph
from slanted.solver.label_kernels import edges_to_labels, junctions_to_first
from slanted.solver.messages import Messages
from slanted.solver.node_kernels import add_rows
from slanted.solver.problem import Problem, build_problem

UNIT_ROUNDOFF = float(np.finfo(np.float64).eps)
"""Twice the largest relative error of one operation; the excess covers products of errors."""


def certified_bound(graph: FactorGraph, messages: Messages) -> float:
    """Return a lower bound on the energy of every labelling: D_0(λ) less what rounding may add."""
    terms = dual_terms(build_problem(graph), messages, 0.0)
    return rounded_down(terms, roundings(graph, messages))


def trivial_bound(graph: FactorGraph) -> float:
    """Return the bound that needs no messages: the sum of the least cost of every factor alone."""
    return certified_bound(graph, Messages.start(graph, None))


def dual_terms(
    problem: Problem, messages: Messages, epsilon: float, from_edges: Floats | None = None
) -> list[Floats]:
    """Return the terms of D_ε: of edges (E,), 3-way, 4-way junctions, nodes (n,), labels (E,).

    They are computed from costs and messages alone, not from what an update left behind, because
    the bound rests on them. Only learning, which needs no bound, passes its own `from_edges`.
    """
    if from_edges is None:
        from_edges = messages_from_edges(problem, messages, epsilon)
    nodes, labels = reparametrised(problem, messages)
    three, four = messages.to_junctions3, messages.to_junctions4
    from_three = junctions_to_first(problem.three.with_messages(three), epsilon)
    from_four = junctions_to_first(problem.four.with_messages(four), epsilon)
    # A factor's minimum is that of its message to a variable, less that variable's own message.
    return [
        soft_minimum(from_edges - messages.to_label, epsilon * problem.edge_counts[:, None]),
        soft_minimum(from_three - three[:, 0], epsilon * problem.three.counts[:, None]),
        soft_minimum(from_four - four[:, 0], epsilon * problem.four.counts[:, None]),
        soft_minimum(nodes, epsilon * problem.node_count),
        soft_minimum(labels, epsilon * problem.label_count),
    ]


def messages_from_edges(problem: Problem, messages: Messages, epsilon: float) -> Floats:
    """Return μ_{α→o} of all edge factors to their labels, (E, 4)."""
    found = np.empty_like(messages.to_label)
    edges = np.arange(len(found), dtype=np.int32)

    def some(first: int, last: int) -> None:
        edges_to_labels(
            edges[first:last], problem.edge_costs, messages.to_first, messages.to_second,
            problem.edge_counts, epsilon, found,
        )  # fmt: skip

    share(len(edges), some)
    return found


def reparametrised(problem: Problem, messages: Messages) -> tuple[Floats, Floats]:
    """Return θ̂_i = θ_i + Σ λ of nodes, (n, N), and of labels, (E, 4)."""
    graph = problem.graph
    nodes, labels = problem.node_costs.copy(), problem.label_costs + messages.to_label
    for variables, sent, total in (
        (graph.edges[:, 0], messages.to_first, nodes),
        (graph.edges[:, 1], messages.to_second, nodes),
        (graph.junctions3, messages.to_junctions3, labels),
        (graph.junctions4, messages.to_junctions4, labels),
    ):
        add_rows(variables.flatten(), sent.reshape(-1, sent.shape[-1]), total)
    return nodes, labels


Roundings = list[tuple[NDArray[Any] | int, NDArray[Any]]]
"""k and Λ of the terms of each kind; see `rounded_down`."""


def roundings(graph: FactorGraph, messages: Messages) -> Roundings:
    """Return the number of operations behind each term of D_0, and how large its messages are."""
    first, second, label = (
        np.abs(m).max(axis=1, initial=0.0)
        for m in (messages.to_first, messages.to_second, messages.to_label)
    )
    three, four = (
        np.abs(m).max(axis=2, initial=0.0) for m in (messages.to_junctions3, messages.to_junctions4)
    )
    ends = graph.edges.T.reshape(-1)
    slots = np.concatenate([graph.junctions3.reshape(-1), graph.junctions4.reshape(-1)])
    nodes, labels = len(graph.node_costs), len(graph.edges)
    node_sizes = np.bincount(ends, np.concatenate([first, second]), nodes)
    label_sizes = label + np.bincount(
        slots, np.concatenate([three.reshape(-1), four.reshape(-1)]), labels
    )
    node_additions = np.bincount(ends, minlength=nodes)
    label_additions = 1 + np.bincount(slots, minlength=labels)
    return [
        (3, first + second + label),
        (3, three.sum(axis=1)),
        (4, four.sum(axis=1)),
        (node_additions, node_sizes),
        (label_additions, label_sizes),
    ]


def rounded_down(terms: list[Floats], made_by: Roundings) -> float:
    """Sum the terms of D_0 exactly, and subtract the largest error that rounding can have made.

    A term is the least of sums s of a cost and k messages. Each of the k operations errs by at most
    half a unit of its result, which is at most |s| + Λ, with Λ the sum of the messages' largest
    magnitudes. So the true sum is at least s − k u (|s| + Λ), which grows with s: the least
    computed sum bounds them all, and large costs elsewhere in a table do not matter.
    """
    slack = [k * (np.abs(term) + size) for term, (k, size) in zip(terms, made_by, strict=True)]
    value = sum_exactly(terms)
    # A sum of positive numbers, in any order, errs by far less than this share of itself.
    errors = (1 + 1e-6) * float(np.concatenate(slack).sum())
    return value - UNIT_ROUNDOFF * (errors + abs(value))


def sum_exactly(terms: list[Floats]) -> float:
    """Return the sum of the terms of a dual, exact but for one rounding."""
    return fsum(np.concatenate(terms).tolist())


def soft_minimum(values: Floats, tau: float | Floats) -> Floats:
    """Return smin_τ of each row; τ may differ between rows, but must not be zero for some only."""
    least: Floats = values.min(axis=1, keepdims=True)
    if np.any(tau):
        least = least - tau * np.log(np.exp((least - values) / tau).sum(axis=1, keepdims=True))
    return least[:, 0]
