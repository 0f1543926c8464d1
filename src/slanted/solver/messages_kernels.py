"""Numba kernels of the messages of convex belief propagation.

``smin`` of the comments is the soft minimum −τ log Σ exp(−f/τ), the minimum itself at τ = 0, with
τ = ε c_α. A table of pairs (y_i, y_j) is flat, index y_i N + y_j; a junction's table is flat too,
the first slot highest. Kernels write only to rows of their `members` (and to
messages that these own): calls on disjoint members of one colour may run at once.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from slanted.runtime.arrays import Ints, Starts
from slanted.runtime.kernel import kernel

Floats = NDArray[np.float64]
Lists = tuple[Starts, Ints, Ints]
"""Start of each variable's share; the factor; the variable's slot in its scope."""
Junctions = tuple[Ints, Floats, Floats, Floats]
"""Kind (J,), tables (kinds, k, 4, 4^(k−1)), counting numbers (J,) and messages (J, k, 4).

Tables are stored k times over, each slot's label once before those of the others.
"""


@kernel
def reduce_labels(
    members: Ints, costs: Floats, to_label: Floats, counts: Floats, epsilon: float, reduced: Floats
) -> None:
    """Minimise the tables of edges over their labels: R(y_i, y_j) = smin_o (θ_α − λ_{o→α}).

    While planes are updated the messages of labels stand still, so this pass over the large tables
    serves both ends of an edge, and it runs along contiguous memory.

    Parameters
    ----------
    members
        Edges to do.
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
            # Written out because only plain comparisons become vector minima.
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
    """Add each of (M, S) rows to the row of `out` that its index names; `np.add.at` is slower."""
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
    segment: int, star: Lists, reduced: Floats, to_first: Floats, to_second: Floats,
    counts: Floats, epsilon: float, incoming: Floats, row: int, beliefs: Floats,
) -> None:  # fmt: skip
    """Write μ_{α→i} of each edge of a segment, a row each, and add them to a row of `beliefs`."""
    start, edges, sides = star
    for place in range(start[segment], start[segment + 1]):
        e, k = edges[place], place - start[segment]
        if sides[place] == 0:
            _message_to_first(e, reduced, to_second, epsilon * counts[e], k, incoming)
        else:
            _message_to_second(e, reduced, to_first, epsilon * counts[e], k, incoming)
        for a in range(beliefs.shape[1]):
            beliefs[row, a] += incoming[k, a]


@kernel
def largest_share(members: Iterable[int], start: Starts) -> int:
    """Return how many factors the best connected of some variables has."""
    largest = 0
    for v in members:
        largest = max(largest, start[v + 1] - start[v])
    return largest


# A division that may raise keeps Numba from dropping reference counts; totals are above zero.
@kernel(error_model="numpy")
def update_planes(
    members: Ints, star: Lists, plane_costs: Floats, reduced: Floats, counts: Floats,
    plane_count: float, epsilon: float, to_first: Floats, to_second: Floats,
) -> None:  # fmt: skip
    """Maximise the dual over all messages of each of some planes, one plane after the other.

    λ_{i→α} = μ_{α→i} − (c_α / ĉ_i) B_i, less its minimum, which keeps numbers small and changes
    nothing else.

    Parameters
    ----------
    members
        Segments to do.
    star
        Edges of each segment, and its side (0: first, 1: second) of them.
    plane_costs, reduced, counts
        (n, N) θ_i, (E, N²) from `reduce_labels`, (E,) c_α.
    plane_count, epsilon
        c_i, ε.
    to_first, to_second
        (E, N) λ of the first and second segment of each edge; those of members are replaced.
    """
    start, edges, sides = star
    states = plane_costs.shape[1]
    incoming = np.empty((largest_share(members, start), states))
    belief = np.empty((1, states))
    for i in members:
        for a in range(states):
            belief[0, a] = plane_costs[i, a]
        _star_messages(
            i, star, reduced, to_first, to_second, counts, epsilon, incoming, 0, belief
        )  # fmt: skip
        total = plane_count
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

    B is the only row of `belief`. Rows go by number because views of them take several times as
    long as what is done with them.
    """
    least = np.inf
    for a in range(out.shape[1]):
        value = incoming[row, a] - share * belief[0, a]
        out[target, a] = value
        least = value if value < least else least
    for a in range(out.shape[1]):
        out[target, a] -= least


@kernel
def plane_beliefs(
    star: Lists, plane_costs: Floats, reduced: Floats, counts: Floats, epsilon: float,
    to_first: Floats, to_second: Floats, first: int, last: int,
) -> Floats:  # fmt: skip
    """Return B_i = θ_i + Σ_α μ_{α→i} of the segments `first` … `last` − 1, (last − first, N).

    Other arguments as `update_planes`.
    """
    states, members = plane_costs.shape[1], range(first, last)
    incoming = np.empty((largest_share(members, star[0]), states))
    beliefs = np.empty((last - first, states))
    for i in members:
        for a in range(states):
            beliefs[i - first, a] = plane_costs[i, a]
        _star_messages(
            i, star, reduced, to_first, to_second, counts, epsilon, incoming, i - first, beliefs
        )  # fmt: skip
    return beliefs


@kernel
def edges_to_labels(
    members: Ints, costs: Floats, to_first: Floats, to_second: Floats, counts: Floats,
    epsilon: float, out: Floats,
) -> None:  # fmt: skip
    """Write μ_{α→o} = smin over y_i, y_j of θ_α − λ_{i→α} − λ_{j→α} of edges into rows of (E, 4).

    Arguments as `reduce_labels` and `update_planes`. While labels are updated the messages of
    planes stand still, so the large tables are read once for all of them.
    """
    states = to_first.shape[1]
    both = np.empty(states * states)
    for e in members:
        for a in range(states):
            for b in range(states):
                both[a * states + b] = to_first[e, a] + to_second[e, b]
        message_to_label(costs[e], both, epsilon * counts[e], out[e])


@kernel
def message_to_label(costs: Floats, others: Floats, tau: float, out: Floats) -> None:
    """Write the message of a factor to a label: smin over all other states, for each label.

    Parameters
    ----------
    costs
        (4, M) by the label and the state of all other variables.
    others
        (M,) sum of the others' messages.
    tau
        ε c_α.
    out
        (4,) output.
    """
    row0, row1, row2, row3 = costs[0], costs[1], costs[2], costs[3]
    least0, least1, least2, least3 = np.inf, np.inf, np.inf, np.inf
    # Four minima at once: a single one would wait for itself at every step.
    for k in range(len(others)):
        message = others[k]
        value = row0[k] - message
        least0 = value if value < least0 else least0
        value = row1[k] - message
        least1 = value if value < least1 else least1
        value = row2[k] - message
        least2 = value if value < least2 else least2
        value = row3[k] - message
        least3 = value if value < least3 else least3
    out[0], out[1], out[2], out[3] = least0, least1, least2, least3
    if tau > 0:
        for o in range(4):
            row = costs[o]
            total = 0.0
            for k in range(len(others)):
                total += np.exp((out[o] - (row[k] - others[k])) / tau)
            out[o] -= tau * np.log(total)
