"""Numba kernels for star moves, which optimise a node's state and all its edges' labels jointly.

In a planar graph each junction at a node couples two of the labels around it (the junction's other
edges lie between other nodes and are fixed). So, given the node's state, the labels around it form
a cycle, or paths if the node is at the rim. Dynamic programming solves these for all states at
once: along a path, conditioned on its first label so that a cycle can be closed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slanted.runtime.arrays import Floats, Ints
from slanted.runtime.kernel import kernel
from slanted.solver.chain_kernels import order_labels, read_chain, solve_chain
from slanted.solver.decoder_kernels import (
    NONE,
    SLOTS,
    JunctionCosts,
    edge_shift,
    is_gain,
    junction_state,
)
from slanted.solver.factor_graph import LABELS
from slanted.solver.topology import Incidence


@kernel
def _link_labels(
    node: int, star: Incidence, touching: Incidence, junctions: JunctionCosts,
    labels: Ints, position: Ints, costs: Floats, links: Ints, link_costs: Floats,
) -> bool:  # fmt: skip
    """Write the costs of junctions on the labels of a star, with all other labels fixed.

    Parameters
    ----------
    position
        (E,) number of each edge in the star, NONE outside.
    costs
        (degree, 4, N), to which costs of single labels are added.
    links, link_costs
        (degree, 2) up to two neighbours of each label and (degree, 2, 4, 4) the costs of (its own,
        the neighbour's) label.

    Returns
    -------
    simple
        False if a junction couples three of the labels or a label has three neighbours: the star is
        then not a union of paths and cycles, and the output is not valid.
    """
    scopes, begin, tables = junctions
    first = star[0][node]
    degree = star[0][node + 1] - first
    links[:degree] = NONE
    link_costs[:degree] = 0.0
    for k in range(degree):
        e = star[1][first + k]
        for place in range(touching[0][e], touching[0][e + 1]):
            j = touching[1][place]
            partners, other = _partner(j, e, scopes, position)
            if partners > 1:
                return False
            shift = edge_shift(j, e, scopes)
            state = junction_state(j, scopes, labels) & ~(3 << shift)
            if partners == 0:
                for x in range(LABELS):
                    entry = tables[begin[j] + (state | (x << shift))]
                    for a in range(costs.shape[2]):
                        costs[k, x, a] += entry
                continue
            partner, partner_shift = position[other], edge_shift(j, other, scopes)
            side = 0 if links[k, 0] < 0 or links[k, 0] == partner else 1
            if links[k, side] >= 0 and links[k, side] != partner:
                return False
            links[k, side] = partner
            state &= ~(3 << partner_shift)
            for x in range(LABELS):
                for y in range(LABELS):
                    entry = tables[begin[j] + (state | (x << shift) | (y << partner_shift))]
                    link_costs[k, side, x, y] += entry
    return True


@kernel
def _partner(junction: int, edge: int, scopes: Ints, position: Ints) -> tuple[int, int]:
    """Return how many other edges of a junction are in the star, and one of them."""
    count, partner = 0, NONE
    for slot in range(SLOTS):
        other = scopes[junction, slot]
        if other >= 0 and other != edge and position[other] != NONE:
            count, partner = count + 1, other
    return count, partner


@kernel
def _add_edge_costs(
    node: int, star: Incidence, ends: Ints, label_costs: Floats, edge_costs: Floats,
    states: Ints, costs: Floats,
) -> None:  # fmt: skip
    """Write the costs of the edges of a star, for each label and each state of its node."""
    start, edges, sides = star
    size = costs.shape[2]
    for k in range(start[node + 1] - start[node]):
        e, side = edges[start[node] + k], sides[start[node] + k]
        other = states[ends[e, 1 - side]]
        # Entries (a, other) or (other, a) of a flat table, for all states a.
        first, step = (other, size) if side == 0 else (other * size, 1)
        for x in range(LABELS):
            row, unary = edge_costs[e, x], label_costs[e, x]
            for a in range(size):
                costs[k, x, a] = unary + row[first + a * step]


@kernel
def _current_cost(
    degree: int, state: int, node_cost: float, current: Ints, costs: Floats,
    links: Ints, link_costs: Floats,
) -> float:  # fmt: skip
    """Return the current cost of a star."""
    total = node_cost
    for k in range(degree):
        total += costs[k, current[k], state]
        for s in range(2):
            if links[k, s] > k:  # each link once
                total += link_costs[k, s, current[k], current[links[k, s]]]
    return total


@kernel
def labels_round(node: int, star: Incidence, labels: Ints) -> Ints:
    """Return the labels of a star's edges.

    Indexing by a list of edges would do, but Numba takes seconds to compile it.
    """
    start, edges, _ = star
    first = start[node]
    found = np.empty(start[node + 1] - first, np.int32)
    for k in range(len(found)):
        found[k] = labels[edges[first + k]]
    return found


# It is called in one place only. Inlined there it is compiled once, otherwise twice.
@kernel(inline="always")
def star_move(
    node: int, star: Incidence, touching: Incidence, ends: Ints, node_costs: Floats,
    label_costs: Floats, edge_costs: Floats, junctions: JunctionCosts,
    position: Ints, states: Ints, labels: Ints,
) -> bool:  # fmt: skip
    """Give a node its best state and its edges their best labels, jointly.

    A few stars in a hundred are not unions of paths and cycles; they are left unchanged.

    Parameters
    ----------
    position
        (E,) working memory, NONE everywhere before and after the call.

    Returns
    -------
    changed
        Whether anything changed, which lowers the energy.
    """
    start, edges, _ = star
    first = start[node]
    degree = start[node + 1] - first
    size = node_costs.shape[1]
    costs = np.empty((degree, LABELS, size))
    links, link_costs = np.empty((degree, 2), np.int32), np.empty((degree, 2, LABELS, LABELS))
    _add_edge_costs(node, star, ends, label_costs, edge_costs, states, costs)
    for k in range(degree):
        position[edges[first + k]] = k
    simple = _link_labels(
        node, star, touching, junctions, labels, position, costs, links, link_costs
    )
    for k in range(degree):
        position[edges[first + k]] = NONE
    if not simple:
        return False
    chain, side = np.empty(degree, np.int32), np.empty(degree, np.int32)
    chain_start = np.empty(degree + 1, np.int32)
    count = order_labels(degree, links, chain, side, chain_start)
    forward = np.empty((degree, LABELS, LABELS, size))
    total = node_costs[node].copy()
    for c in range(count):
        low, high = chain_start[c], chain_start[c + 1]
        solve_chain(chain[low:high], side[low:high], costs, link_costs, forward[low:high], total)
    best = np.argmin(total)
    current = labels_round(node, star, labels)
    before = _current_cost(
        degree, states[node], node_costs[node, states[node]], current, costs, links,
        link_costs,
    )  # fmt: skip
    if not is_gain(total[best], before):
        return False
    states[node] = best
    for c in range(count):
        low, high = chain_start[c], chain_start[c + 1]
        read_chain(chain[low:high], side[low:high], link_costs, forward[low:high], best, current)
    for k in range(degree):
        labels[edges[first + k]] = current[k]
    return True


@kernel
def _mark_affected(
    edge: int, touching: Incidence, ends: Ints, scopes: Ints, due: NDArray[np.bool_]
) -> None:
    """Mark the nodes whose best star may differ now that a label has changed."""
    start, around, _ = touching
    due[ends[edge, 0]] = due[ends[edge, 1]] = True
    for place in range(start[edge], start[edge + 1]):
        for slot in range(SLOTS):
            other = scopes[around[place], slot]
            if other >= 0:
                due[ends[other, 0]] = due[ends[other, 1]] = True


@kernel
def star_moves(
    star: Incidence, touching: Incidence, ends: Ints, node_costs: Floats, label_costs: Floats,
    edge_costs: Floats, junctions: JunctionCosts, states: Ints, labels: Ints,
    keep: bool, first: int, last: int, due: NDArray[np.bool_],
) -> bool:  # fmt: skip
    """Try star moves of the nodes `first` … `last` − 1 that are due; return whether one gained.

    Parameters
    ----------
    states, labels
        Changed in place if moves are kept.
    keep
        Whether to keep moves. If not, each is tried on the given states and labels, so threads may
        share the nodes.
    due
        (n,) which nodes to try. After the call, if moves are kept, those that depend on something
        that has changed since they were tried; if not, those whose move would gain.
    """
    start, edges, sides = star
    position = np.full(len(labels), NONE, np.int32)
    if not keep:
        states, labels = states.copy(), labels.copy()
    gained = False
    for i in range(first, last):
        if not due[i]:
            continue
        old_state, old_labels = states[i], labels_round(i, star, labels)
        due[i] = star_move(
            i, star, touching, ends, node_costs, label_costs, edge_costs, junctions,
            position, states, labels,
        )  # fmt: skip
        if not due[i]:
            continue
        gained = True
        for k in range(len(old_labels)):
            e = edges[start[i] + k]
            if not keep:
                labels[e] = old_labels[k]
                continue
            if labels[e] != old_labels[k]:
                _mark_affected(e, touching, ends, junctions[0], due)
            if states[i] != old_state:
                due[ends[e, 1 - sides[start[i] + k]]] = True
        if not keep:
            states[i] = old_state
        due[i] = not keep
    return gained
