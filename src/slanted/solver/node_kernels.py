"""Numba kernels for the messages of nodes.

``smin`` in comments is the soft minimum −τ log Σ exp(−f/τ), with τ = ε c_α; at τ = 0 it is the
minimum. A table of pairs (y_i, y_j) is flat, with index y_i N + y_j; a junction's table is flat
too, its first slot the most significant. Kernels write only to rows of their `members` and to
messages from them, so calls for members of different blocks may run at once.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from slanted.runtime.arrays import Floats, Ints, Starts
from slanted.runtime.kernel import kernel
from slanted.solver.topology import Incidence


@kernel
def reduce_labels(
    members: Ints, costs: Floats, to_label: Floats, counts: Floats, epsilon: float, reduced: Floats
) -> None:
    """Minimise the tables of edges over their labels: R(y_i, y_j) = smin_o (θ_α − λ_{o→α}).

    While nodes are updated the messages of labels do not change, so this one pass over the large
    tables, along contiguous memory, serves both ends of an edge.

    Parameters
    ----------
    members
        Edges to reduce.
    costs, to_label, counts
        (E, 4, N²) θ_α, (E, 4) λ_{o→α}, (E,) c_α.
    epsilon
        ε.
    reduced
        (E, N²) output.
    """
    pairs = costs.shape[2]
    for e in members:
        row0, row1, row2, row3 = costs[e, 0], costs[e, 1], costs[e, 2], costs[e, 3]
        m0, m1, m2, m3 = to_label[e]
        out = reduced[e]
        for k in range(pairs):
            a, b, c, d = row0[k] - m0, row1[k] - m1, row2[k] - m2, row3[k] - m3
            # Written out because Numba vectorises plain comparisons only.
            a = b if b < a else a
            c = d if d < c else c
            out[k] = c if c < a else a
        tau = epsilon * counts[e]
        if tau > 0:
            for k in range(pairs):
                least = out[k]
                total = np.exp((least - (row0[k] - m0)) / tau)
                total += np.exp((least - (row1[k] - m1)) / tau)
                total += np.exp((least - (row2[k] - m2)) / tau)
                total += np.exp((least - (row3[k] - m3)) / tau)
                out[k] = least - tau * np.log(total)


@kernel
def add_rows(indices: Ints, rows: Floats, out: Floats) -> None:
    """Add each of (M, S) rows to the row of `out` with its index; `np.add.at` is slower."""
    for k in range(len(indices)):
        for a in range(rows.shape[1]):
            out[indices[k], a] += rows[k, a]


@kernel
def _message_to_first(
    e: int, reduced: Floats, to_second: Floats, tau: float, row: int, out: Floats
) -> None:
    """Write smin over y_j of R(y_i, y_j) − λ_{j→α}(y_j) of an edge into a row of `out`."""
    count = out.shape[1]
    for a in range(count):
        least = np.inf
        for b in range(count):
            value = reduced[e, a * count + b] - to_second[e, b]
            least = value if value < least else least
        if tau > 0:
            total = 0.0
            for b in range(count):
                value = reduced[e, a * count + b] - to_second[e, b]
                total += np.exp((least - value) / tau)
            least -= tau * np.log(total)
        out[row, a] = least


@kernel
def _message_to_second(
    e: int, reduced: Floats, to_first: Floats, tau: float, row: int, out: Floats
) -> None:
    """Write smin over y_i of R(y_i, y_j) − λ_{i→α}(y_i), row by row: columns would be strided."""
    count = out.shape[1]
    for b in range(count):
        out[row, b] = np.inf
    for a in range(count):
        message = to_first[e, a]
        for b in range(count):
            value = reduced[e, a * count + b] - message
            out[row, b] = value if value < out[row, b] else out[row, b]
    if tau > 0:
        total = np.zeros(count)
        for a in range(count):
            for b in range(count):
                value = reduced[e, a * count + b] - to_first[e, a]
                total[b] += np.exp((out[row, b] - value) / tau)
        for b in range(count):
            out[row, b] -= tau * np.log(total[b])


@kernel
def _star_messages(
    node: int, star: Incidence, reduced: Floats, to_first: Floats, to_second: Floats,
    counts: Floats, epsilon: float, incoming: Floats, row: int, beliefs: Floats,
) -> None:  # fmt: skip
    """Write μ_{α→i} of each edge of a node, a row each, and add them to a row of `beliefs`."""
    start, edges, sides = star
    for place in range(start[node], start[node + 1]):
        e, k = edges[place], place - start[node]
        if sides[place] == 0:
            _message_to_first(e, reduced, to_second, epsilon * counts[e], k, incoming)
        else:
            _message_to_second(e, reduced, to_first, epsilon * counts[e], k, incoming)
        for a in range(beliefs.shape[1]):
            beliefs[row, a] += incoming[k, a]


@kernel
def largest_share(members: Iterable[int], start: Starts) -> int:
    """Return the largest number of factors that any of the given variables has."""
    largest = 0
    for v in members:
        largest = max(largest, start[v + 1] - start[v])
    return largest


@kernel
def update_nodes(
    members: Ints, star: Incidence, node_costs: Floats, reduced: Floats, counts: Floats,
    node_count: float, epsilon: float, to_first: Floats, to_second: Floats,
) -> None:  # fmt: skip
    """Maximise the dual over all messages of a node, one node after the other.

    λ_{i→α} = μ_{α→i} − (c_α / ĉ_i) B_i, less its minimum, which only keeps numbers small.

    Parameters
    ----------
    members
        Nodes to update.
    star
        Edges of each node, and its side (0: first, 1: second) of them.
    node_costs, reduced, counts
        (n, N) θ_i, (E, N²) from `reduce_labels`, (E,) c_α.
    node_count, epsilon
        c_i, ε.
    to_first, to_second
        (E, N) λ of the first and second node of each edge; those from members are replaced.
    """
    start, edges, sides = star
    size = node_costs.shape[1]
    incoming = np.empty((largest_share(members, start), size))
    belief = np.empty((1, size))
    for i in members:
        for a in range(size):
            belief[0, a] = node_costs[i, a]
        _star_messages(
            np.int64(i), star, reduced, to_first, to_second, counts, epsilon, incoming,
            np.int64(0), belief,
        )  # fmt: skip
        total = node_count
        for place in range(start[i], start[i + 1]):
            total += counts[edges[place]]
        for place in range(start[i], start[i + 1]):
            e, k = edges[place], place - start[i]
            if sides[place] == 0:
                outgoing(k, incoming, belief, counts[e] / total, e, to_first)
            else:
                outgoing(k, incoming, belief, counts[e] / total, e, to_second)


@kernel
def outgoing(
    row: int, incoming: Floats, belief: Floats, share: float, target: int, out: Floats
) -> None:
    """Write λ = μ − share · B, less its minimum; μ is a row of `incoming`, λ one of `out`.

    B is the only row of `belief`. Rows are passed by index because making a view takes several
    times as long as the work on it.
    """
    least = np.inf
    for a in range(out.shape[1]):
        value = incoming[row, a] - share * belief[0, a]
        out[target, a] = value
        least = value if value < least else least
    for a in range(out.shape[1]):
        out[target, a] -= least


@kernel
def node_beliefs(
    star: Incidence, node_costs: Floats, reduced: Floats, counts: Floats, epsilon: float,
    to_first: Floats, to_second: Floats, first: int, last: int,
) -> Floats:  # fmt: skip
    """Return B_i = θ_i + Σ_α μ_{α→i} of the nodes `first` … `last` − 1, (last − first, N).

    Other arguments are those of `update_nodes`.
    """
    size, members = node_costs.shape[1], range(first, last)
    incoming = np.empty((largest_share(members, star[0]), size))
    beliefs = np.empty((last - first, size))
    for i in members:
        for a in range(size):
            beliefs[i - first, a] = node_costs[i, a]
        _star_messages(
            i, star, reduced, to_first, to_second, counts, epsilon, incoming, i - first, beliefs
        )  # fmt: skip
    return beliefs
