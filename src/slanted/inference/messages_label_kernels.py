"""Numba kernels of the messages of boundary labels.

Conventions as in `messages_kernels`.
"""

from __future__ import annotations

import numpy as np

from slanted.inference.messages_kernels import (
    Floats,
    Junctions,
    Lists,
    largest_share,
    message_to_label,
    outgoing,
)
from slanted.kernel import kernel
from slanted.model.factor_graph import LABELS
from slanted.regions.structure import Ints


@kernel
def junction_message(
    tables: Floats, messages: Floats, slot: int, tau: float, work: Floats, out: Floats
) -> None:
    """Write μ_{α→o} of a junction to the label in one slot: smin over its other labels.

    Parameters
    ----------
    tables, messages
        (k, 4, 4^(k−1)) θ_α, each slot's label once before the others', and (k, 4) λ.
    slot
        Whose message to write.
    tau
        ε c_α.
    work
        (4^(k−1),) at least, working memory.
    out
        (4,) output.
    """
    size = 1
    work[0] = 0.0
    for other in range(len(messages)):
        if other == slot:
            continue
        for k in range(size - 1, -1, -1):  # from the back: entries move up
            so_far = work[k]
            for x in range(LABELS):
                work[LABELS * k + x] = so_far + messages[other, x]
        size *= LABELS
    message_to_label(tables[slot], work[:size], tau, out)


@kernel
def _label_messages(
    edge: int, touching: Lists, three: Junctions, four: Junctions, epsilon: float,
    incoming: Floats, belief: Floats, work: Floats,
) -> float:  # fmt: skip
    """Write μ of each junction of an edge, add them to `belief`, and return the sum of c_α."""
    start, junctions, slots = touching
    kinds3, tables3, counts3, messages3 = three
    kinds4, tables4, counts4, messages4 = four
    total = 0.0
    for place in range(start[edge], start[edge + 1]):
        j, slot, mu = junctions[place], slots[place], incoming[place - start[edge]]
        if j < len(kinds3):
            junction_message(tables3[kinds3[j]], messages3[j], slot, epsilon * counts3[j], work, mu)
            total += counts3[j]
        else:
            j -= len(kinds3)
            junction_message(tables4[kinds4[j]], messages4[j], slot, epsilon * counts4[j], work, mu)
            total += counts4[j]
        for x in range(LABELS):
            belief[x] += mu[x]
    return total


@kernel
def update_labels(
    members: Ints, touching: Lists, label_costs: Floats, from_edges: Floats, counts: Floats,
    three: Junctions, four: Junctions, label_count: float, epsilon: float, to_label: Floats,
) -> None:  # fmt: skip
    """Maximise the dual over all messages of each of some labels, one label after the other.

    Parameters
    ----------
    members
        Edges to do.
    touching
        Junctions of each edge (3-way first, 4-way numbered on from them), and its slot in them.
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
    incoming = np.empty((largest_share(members, start), LABELS))
    belief, work = np.empty(LABELS), np.empty(LABELS**3)
    for e in members:
        for x in range(LABELS):
            belief[x] = label_costs[e, x] + from_edges[e, x]
        total = label_count + counts[e]
        total += _label_messages(e, touching, three, four, epsilon, incoming, belief, work)
        outgoing(from_edges[e], belief, counts[e] / total, to_label[e])
        for place in range(start[e], start[e + 1]):
            j, slot, mu = junctions[place], slots[place], incoming[place - start[e]]
            if j < len(three[0]):
                outgoing(mu, belief, three[2][j] / total, three[3][j, slot])
            else:
                j -= len(three[0])
                outgoing(mu, belief, four[2][j] / total, four[3][j, slot])


@kernel
def label_beliefs(
    touching: Lists, label_costs: Floats, from_edges: Floats,
    three: Junctions, four: Junctions, epsilon: float, first: int, last: int,
) -> Floats:  # fmt: skip
    """Return B_o = θ_o + Σ_α μ_{α→o} of the edges `first` … `last` − 1, (last − first, 4).

    Other arguments as `update_labels`.
    """
    beliefs = label_costs[first:last] + from_edges[first:last]
    members = np.arange(first, last).astype(np.int32)
    incoming = np.empty((largest_share(members, touching[0]), LABELS))
    work = np.empty(LABELS**3)
    for e in members:
        _label_messages(e, touching, three, four, epsilon, incoming, beliefs[e - first], work)
    return beliefs


@kernel
def junctions_to_first(junctions: Junctions, epsilon: float) -> Floats:
    """Return μ_{α→o} of every junction of one size to the label in its first slot, (J, 4)."""
    kinds, tables, counts, messages = junctions
    out = np.empty((len(kinds), LABELS))
    work = np.empty(LABELS**3)
    for j in range(len(kinds)):
        junction_message(tables[kinds[j]], messages[j], 0, epsilon * counts[j], work, out[j])
    return out
