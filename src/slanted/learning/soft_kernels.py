"""Numba kernels for soft messages (ε > 0) over edge tables that change with the weights.

They do what `slanted.solver.node_kernels` and `slanted.solver.label_kernels` do, with all counting
numbers 1 and τ = ε, in a tenth of the time: exp(−θ/τ) is tabulated once for many sweeps, so that a
sweep consists of products. A sum of products below `FAINT` may have lost terms to underflow and is
computed again from the costs themselves, in logarithms. Entries of a table are at most 1, so a
larger sum has lost less than 1e-100 of itself, and both ways agree up to rounding.

The cost of label o and particles a, b of an edge is w_bdy1 φ_bdy1 + w_bdy2 φ_bdy2. As elsewhere, a
pair (a, b) has the flat index a N + b.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slanted.boundary_label import BoundaryLabel
from slanted.runtime.arrays import Floats, Ints
from slanted.runtime.kernel import kernel
from slanted.solver.factor_graph import LABELS
from slanted.solver.node_kernels import largest_share, outgoing
from slanted.solver.topology import Incidence

Singles = NDArray[np.float32]
Features = tuple[Floats, Singles, float, float]
"""(E, 2, N) φ^TP sums of both planes, (E, 4, N²) φ_bdy2, w_bdy1, w_bdy2."""

FAINT = 1e-200
"""Sums below this, of terms of at most 1, are computed again in logarithms."""
HOPELESS = 40.0
"""exp(−40) is below the rounding of a sum of probabilities."""
LEFT_OCCLUSION = int(BoundaryLabel.LEFT_OCCLUSION)
RIGHT_OCCLUSION = int(BoundaryLabel.RIGHT_OCCLUSION)


@kernel
def phi_bdy1(label: int, first: float, second: float) -> float:
    """Return φ_bdy1: the sum of the front plane, or half of both sums if neither is in front."""
    if label == LEFT_OCCLUSION:
        return first
    if label == RIGHT_OCCLUSION:
        return second
    return 0.5 * (first + second)


@kernel
def edge_costs(features: Features, out: Floats) -> None:
    """Write θ_α of every edge into (E, 4, N²)."""
    bdy1, bdy2, weight1, weight2 = features
    edges, _, states = bdy1.shape
    for e in range(edges):
        for o in range(LABELS):
            for a in range(states):
                row = slice(a * states, (a + 1) * states)
                target, second = out[e, o, row], bdy2[e, o, row]
                first, other = bdy1[e, 0, a], bdy1[e, 1]
                for b in range(states):
                    target[b] = weight1 * phi_bdy1(o, first, other[b]) + weight2 * second[b]


@kernel
def boltzmann_tables(features: Features, tau: float, table: Floats, offset: Floats) -> None:
    """Write exp(−(θ_α − m)/τ) into (E, 4, N²) and m, the least θ_α of each label, into (E, 4)."""
    edge_costs(features, table)
    for e in range(len(table)):
        for o in range(LABELS):
            row = table[e, o]
            least = np.inf
            for k in range(len(row)):
                least = row[k] if row[k] < least else least
            offset[e, o] = least
            for k in range(len(row)):
                row[k] = np.exp((least - row[k]) / tau)


@kernel
def soft_reduce(
    table: Floats, offset: Floats, to_label: Floats, tau: float, reduced: Floats, shift: Floats
) -> None:
    """Sum tables over labels: Σ_o exp((λ_o − θ_α − s)/τ) into (E, N²), and s into (E,)."""
    share = np.empty(LABELS)
    for e in range(len(table)):
        highest = -np.inf
        for o in range(LABELS):
            share[o] = to_label[e, o] - offset[e, o]
            highest = max(highest, share[o])
        shift[e] = highest
        for o in range(LABELS):
            share[o] = np.exp((share[o] - highest) / tau)
        w0, w1, w2, w3 = share[0], share[1], share[2], share[3]
        row0, row1, row2, row3 = table[e, 0], table[e, 1], table[e, 2], table[e, 3]
        out = reduced[e]
        for k in range(len(out)):
            out[k] = (w0 * row0[k] + w1 * row1[k]) + (w2 * row2[k] + w3 * row3[k])


@kernel
def powers(messages: Floats, tau: float, out: Floats) -> float:
    """Write exp((λ − m)/τ) and return m, the largest λ."""
    largest = -np.inf
    for a in range(len(messages)):
        largest = messages[a] if messages[a] > largest else largest
    for a in range(len(messages)):
        out[a] = np.exp((messages[a] - largest) / tau)
    return largest


# Reassociation lets sums be vectorised; all terms are finite and not negative.
@kernel(fastmath={"reassoc"})
def _dot(first: Floats, second: Floats) -> float:
    total = 0.0
    for k in range(len(first)):
        total += first[k] * second[k]
    return total


@kernel
def _weighted_rows(table: Floats, weights: Floats, out: Floats) -> None:
    """Write Σ_a weights(a) table(a, b)."""
    states = len(weights)
    out[:] = 0.0
    for a in range(states):
        row, factor = table[a * states : (a + 1) * states], weights[a]
        for b in range(states):
            out[b] += factor * row[b]


@kernel
def soft_update_nodes(
    members: Ints, star: Incidence, node_costs: Floats, reduced: Floats, shift: Floats,
    features: Features, to_label: Floats, tau: float, to_first: Floats, to_second: Floats,
) -> None:  # fmt: skip
    """Do what `slanted.solver.node_kernels.update_nodes` does, from the output of `soft_reduce`.

    Sums that underflow are computed from `features` and the messages of labels, (E, 4) `to_label`.
    """
    start, edges, sides = star
    states = node_costs.shape[1]
    incoming = np.empty((largest_share(members, start), states))
    belief, power, values = np.empty((1, states)), np.empty(states), np.empty(LABELS * states)
    for i in members:
        belief[0] = node_costs[i]
        for place in range(start[i], start[i + 1]):
            e, side, mu = edges[place], sides[place], incoming[place - start[i]]
            other = to_second[e] if side == 0 else to_first[e]
            base = -shift[e] - powers(other, tau, power)
            if side == 0:
                for a in range(states):
                    mu[a] = _dot(reduced[e, a * states : (a + 1) * states], power)
            else:
                _weighted_rows(reduced[e], power, mu)
            for a in range(states):
                if mu[a] > FAINT:
                    mu[a] = base - tau * np.log(mu[a])
                else:
                    mu[a] = _exact_message(features, e, side, a, to_label, other, tau, values)
                belief[0, a] += mu[a]
        share = 1.0 / (1 + start[i + 1] - start[i])
        for place in range(start[i], start[i + 1]):
            out = to_first if sides[place] == 0 else to_second
            outgoing(place - start[i], incoming, belief, share, edges[place], out)


@kernel
def soft_edges_to_labels(
    table: Floats, offset: Floats, features: Features, to_first: Floats, to_second: Floats,
    tau: float, out: Floats,
) -> None:  # fmt: skip
    """Write μ_{α→o} = smin over y_i, y_j of θ_α − λ_{i→α} − λ_{j→α} of all edges, (E, 4)."""
    states = to_first.shape[1]
    first, second, across = np.empty(states), np.empty(states), np.empty(states)
    for e in range(len(table)):
        base = -powers(to_first[e], tau, first) - powers(to_second[e], tau, second)
        for o in range(LABELS):
            _weighted_rows(table[e, o], first, across)
            total = _dot(across, second)
            if total > FAINT:
                out[e, o] = offset[e, o] + base - tau * np.log(total)
            else:
                out[e, o] = _exact_label_message(features, e, o, to_first, to_second, tau)


@kernel
def _exact_message(
    features: Features, e: int, side: int, state: int, to_label: Floats, other: Floats,
    tau: float, values: Floats,
) -> float:  # fmt: skip
    """Return μ_{α→i} of one particle, computed in logarithms.

    Parameters
    ----------
    features, e
        Costs, and which edge.
    side, state
        Whether the particle is that of the first or the second segment, and its number.
    to_label, other
        (E, 4) messages of labels, (N,) of the other segment.
    tau
        ε.
    values
        (4 N,) working memory.
    """
    bdy1, bdy2, weight1, weight2 = features
    states = len(other)
    own, theirs = bdy1[e, side, state], bdy1[e, 1 - side]
    start, stride = (state * states, 1) if side == 0 else (state, states)
    least = np.inf
    for o in range(LABELS):
        pairs, target, sent = bdy2[e, o], values[o * states : (o + 1) * states], to_label[e, o]
        for k in range(states):
            first, second = (own, theirs[k]) if side == 0 else (theirs[k], own)
            cost = weight1 * phi_bdy1(o, first, second) + weight2 * pairs[start + k * stride]
            target[k] = cost - sent - other[k]
            least = target[k] if target[k] < least else least
    message: float = _finish(values, least, tau)
    return message


@kernel
def _exact_label_message(
    features: Features, e: int, o: int, to_first: Floats, to_second: Floats, tau: float
) -> float:
    states = to_first.shape[1]
    bdy1, bdy2, weight1, weight2 = features
    values = np.empty(states * states)
    least = np.inf
    for a in range(states):
        row = slice(a * states, (a + 1) * states)
        target, second, sent = values[row], bdy2[e, o, row], to_second[e]
        first, other, own = bdy1[e, 0, a], bdy1[e, 1], to_first[e, a]
        for b in range(states):
            shared = phi_bdy1(o, first, other[b])
            target[b] = weight1 * shared + weight2 * second[b] - own - sent[b]
            least = target[b] if target[b] < least else least
    message: float = _finish(values, least, tau)
    return message


@kernel
def _finish(values: Floats, least: float, tau: float) -> float:
    """Return smin_τ of values, leaving out those too large to change the sum."""
    total = 0.0
    for value in values:
        if value - least < HOPELESS * tau:
            total += np.exp((least - value) / tau)
    result: float = least - tau * np.log(total)
    return result
