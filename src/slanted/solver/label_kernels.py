"""Numba kernels for the messages of edge labels; conventions are those of `node_kernels`."""

from __future__ import annotations

import numpy as np

from slanted.runtime.arrays import Floats, Ints
from slanted.runtime.kernel import kernel
from slanted.solver.factor_graph import LABELS
from slanted.solver.node_kernels import largest_share
from slanted.solver.topology import Incidence

Junctions = tuple[Ints, Floats, Floats, Floats]
"""Kinds (J,), tables (kinds, k, 4, 4^(k−1)), counting numbers (J,) and messages (J, k, 4).

Tables are stored k times, each time with another slot's label first.
"""


@kernel
def edges_to_labels(
    members: Ints, costs: Floats, to_first: Floats, to_second: Floats, counts: Floats,
    epsilon: float, out: Floats,
) -> None:  # fmt: skip
    """Write μ_{α→o} = smin over y_i, y_j of θ_α − λ_{i→α} − λ_{j→α} of edges into rows of (E, 4).

    Arguments are those of `reduce_labels` and `update_nodes`. While labels are updated the messages
    of nodes do not change, so the large tables are read once for all of them.
    """
    size = to_first.shape[1]
    both = np.empty(size * size)
    for e in members:
        for a in range(size):
            for b in range(size):
                both[a * size + b] = to_first[e, a] + to_second[e, b]
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
    # Four independent minima run in parallel; a single one would wait for itself at each step.
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


@kernel
def junction_message(
    kinds: Ints, tables: Floats, counts: Floats, messages: Floats, junction: int, slot: int,
    epsilon: float, work: Floats, row: int, out: Floats,
) -> None:  # fmt: skip
    """Write μ_{α→o} of a junction to the label in one slot: smin over its other labels.

    Parameters
    ----------
    kinds, tables, counts, messages
        See `Junctions`.
    junction, slot
        The junction, and the slot whose message to write.
    epsilon
        ε.
    work
        Working memory of at least 4^(k−1) numbers.
    row, out
        The row to write to, and the (…, 4) output.
    """
    kind, tau = kinds[junction], epsilon * counts[junction]
    if tau == 0 and messages.shape[1] == 3:
        _least_of_three(kind, tables, junction, slot, messages, row, out)
        return
    size = 1
    work[0] = 0.0
    for other in range(messages.shape[1]):
        if other == slot:
            continue
        for k in range(size - 1, -1, -1):  # from the back: entries move up
            so_far = work[k]
            for x in range(LABELS):
                work[LABELS * k + x] = so_far + messages[junction, other, x]
        size *= LABELS
    message_to_label(tables[kind, slot], work[:size], tau, out[row])


@kernel
def _least_of_three(
    kind: int, tables: Floats, junction: int, slot: int, messages: Floats, row: int, out: Floats
) -> None:
    """Do the same in half the time for three labels and τ = 0, as at nearly all junctions.

    Labels of the last slot are contiguous, so four minima over the middle slot run at once.
    """
    middle, last = (1 if slot == 0 else 0), (1 if slot == 2 else 2)
    for x in range(LABELS):
        least0, least1, least2, least3 = np.inf, np.inf, np.inf, np.inf
        for y in range(LABELS):
            message = messages[junction, middle, y]
            value = tables[kind, slot, x, LABELS * y] - message
            least0 = value if value < least0 else least0
            value = tables[kind, slot, x, LABELS * y + 1] - message
            least1 = value if value < least1 else least1
            value = tables[kind, slot, x, LABELS * y + 2] - message
            least2 = value if value < least2 else least2
            value = tables[kind, slot, x, LABELS * y + 3] - message
            least3 = value if value < least3 else least3
        least0, least1 = least0 - messages[junction, last, 0], least1 - messages[junction, last, 1]
        least2, least3 = least2 - messages[junction, last, 2], least3 - messages[junction, last, 3]
        least0 = least1 if least1 < least0 else least0
        least2 = least3 if least3 < least2 else least2
        out[row, x] = least2 if least2 < least0 else least0


@kernel
def update_labels(
    members: Ints, touching: Incidence, label_costs: Floats, from_edges: Floats, counts: Floats,
    three: Junctions, four: Junctions, label_count: float, epsilon: float, to_label: Floats,
) -> None:  # fmt: skip
    """Maximise the dual over all messages of a label, one label after the other.

    λ_{o→α} = μ_{α→o} − (c_α / ĉ_o) B_o, less its minimum. Arrays are passed whole, with row
    indices: making a view takes longer than the work on it.

    Parameters
    ----------
    members
        Edges whose labels to update.
    touching
        Junctions of each edge, and its slot in them; see `Topology`.
    label_costs, from_edges, counts
        (E, 4) θ_o, (E, 4) from `edges_to_labels`, (E,) c_α of the edge factors.
    three, four
        Junctions; their messages from members are replaced.
    label_count, epsilon
        c_o, ε.
    to_label
        (E, 4) λ to the edge factors; those of members are replaced.
    """
    start, junctions, slots = touching
    kinds3, tables3, counts3, messages3 = three
    kinds4, tables4, counts4, messages4 = four
    # The message of the edge first, then those of its junctions.
    messages = np.empty((1 + largest_share(members, start), LABELS))
    belief, work = np.empty(LABELS), np.empty(LABELS**3)
    for e in members:
        for x in range(LABELS):
            messages[0, x] = from_edges[e, x]
            belief[x] = label_costs[e, x] + from_edges[e, x]
        total = label_count + counts[e]
        for place in range(start[e], start[e + 1]):
            j, slot = np.int64(junctions[place]), np.int64(slots[place])
            k = place - start[e] + 1
            if j < len(kinds3):
                total += counts3[j]
                junction_message(
                    kinds3, tables3, counts3, messages3, j, slot, epsilon, work, k, messages
                )
            else:
                j -= len(kinds3)
                total += counts4[j]
                junction_message(
                    kinds4, tables4, counts4, messages4, j, slot, epsilon, work, k, messages
                )
            for x in range(LABELS):
                belief[x] += messages[k, x]
        _answer(np.int64(0), belief, counts[e] / total, messages)
        for x in range(LABELS):
            to_label[e, x] = messages[0, x]
        for place in range(start[e], start[e + 1]):
            j, slot, k = junctions[place], slots[place], place - start[e] + 1
            if j < len(kinds3):
                _answer(k, belief, counts3[j] / total, messages)
                for x in range(LABELS):
                    messages3[j, slot, x] = messages[k, x]
            else:
                j -= len(kinds3)
                _answer(k, belief, counts4[j] / total, messages)
                for x in range(LABELS):
                    messages4[j, slot, x] = messages[k, x]


@kernel
def _answer(row: int, belief: Floats, share: float, messages: Floats) -> None:
    """Replace a message μ to a label by the label's own, λ = μ − share · B, less its minimum.

    It is `outgoing` for four labels: the compiler unrolls loops of a known length.
    """
    least = np.inf
    for x in range(LABELS):
        value = messages[row, x] - share * belief[x]
        messages[row, x] = value
        least = value if value < least else least
    for x in range(LABELS):
        messages[row, x] -= least


@kernel
def label_beliefs(
    touching: Incidence, label_costs: Floats, from_edges: Floats,
    three: Junctions, four: Junctions, epsilon: float, first: int, last: int,
) -> Floats:  # fmt: skip
    """Return B_o = θ_o + Σ_α μ_{α→o} of the edges `first` … `last` − 1, (last − first, 4).

    Other arguments are those of `update_labels`.
    """
    start, junctions, slots = touching
    beliefs = np.empty((last - first, LABELS))
    message, work = np.empty((1, LABELS)), np.empty(LABELS**3)
    for e in range(first, last):
        for x in range(LABELS):
            beliefs[e - first, x] = label_costs[e, x] + from_edges[e, x]
        for place in range(start[e], start[e + 1]):
            j, slot = np.int64(junctions[place]), np.int64(slots[place])
            if j < len(three[0]):
                junction_message(*three, j, slot, epsilon, work, 0, message)
            else:
                junction_message(*four, j - len(three[0]), slot, epsilon, work, 0, message)
            for x in range(LABELS):
                beliefs[e - first, x] += message[0, x]
    return beliefs


@kernel
def junctions_to_first(junctions: Junctions, epsilon: float) -> Floats:
    """Return μ_{α→o} of every junction of one size to the label in its first slot, (J, 4)."""
    out = np.empty((len(junctions[0]), LABELS))
    work = np.empty(LABELS**3)
    for j in range(len(out)):
        junction_message(*junctions, j, np.int64(0), epsilon, work, j, out)
    return out
