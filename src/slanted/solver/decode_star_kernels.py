"""Numba kernels of segment-star moves: one plane and all its boundary labels at once, exactly.

Each junction at a segment holds two of its boundary labels (the other edges of the junction lie
between other segments and stand still). So, given the plane, the labels round a segment form a
cycle, or paths where the segment meets the image border. Dynamic programming solves these for all
particles at once: along a path, conditioned on its first label, which a cycle comes back to.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slanted.runtime.arrays import Floats, Ints
from slanted.runtime.kernel import kernel
from slanted.solver.decode_chain_kernels import order_labels, read_chain, solve_chain
from slanted.solver.decode_kernels import (
    NONE,
    SLOTS,
    JunctionCosts,
    edge_shift,
    is_gain,
    junction_state,
)
from slanted.solver.factor_graph import LABELS
from slanted.solver.messages_kernels import Lists


@kernel
def _link_labels(
    segment: int, star: Lists, touching: Lists, junctions: JunctionCosts,
    labels: Ints, position: Ints, costs: Floats, links: Ints, link_costs: Floats,
) -> bool:  # fmt: skip
    """Write the costs that junctions put on the labels of a star, with all other labels fixed.

    Parameters
    ----------
    position
        (E,) place of each edge in the star, NONE outside.
    costs
        (degree, 4, N) to which costs of single labels are added.
    links, link_costs
        (degree, 2) up to two neighbours of each label and (degree, 2, 4, 4) the costs of (its own,
        the neighbour's) label.

    Returns
    -------
    simple
        False if a junction holds three of the labels or a label has three neighbours: then the
        star is no union of paths and cycles, and nothing here may be used.
    """
    scopes, begin, tables = junctions
    first = star[0][segment]
    degree = star[0][segment + 1] - first
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
def _add_plane_costs(
    segment: int, star: Lists, ends: Ints, label_costs: Floats, edge_costs: Floats,
    planes: Ints, costs: Floats,
) -> None:  # fmt: skip
    """Write, for each label of a star and each particle, the costs of the edge itself."""
    start, edges, sides = star
    states = costs.shape[2]
    for k in range(start[segment + 1] - start[segment]):
        e, side = edges[start[segment] + k], sides[start[segment] + k]
        other = planes[ends[e, 1 - side]]
        # Entries (a, other) or (other, a) of a flat table, for all particles a.
        first, step = (other, states) if side == 0 else (other * states, 1)
        for x in range(LABELS):
            row, unary = edge_costs[e, x], label_costs[e, x]
            for a in range(states):
                costs[k, x, a] = unary + row[first + a * step]


@kernel
def _current_cost(
    degree: int, particle: int, plane_cost: float, current: Ints, costs: Floats,
    links: Ints, link_costs: Floats,
) -> float:  # fmt: skip
    """Return what a star costs as it is."""
    total = plane_cost
    for k in range(degree):
        total += costs[k, current[k], particle]
        for s in range(2):
            if links[k, s] > k:  # each link once
                total += link_costs[k, s, current[k], current[links[k, s]]]
    return total


@kernel
def labels_round(segment: int, star: Lists, labels: Ints) -> Ints:
    """Return the labels of a star's edges.

    Indexing by a list of edges would do; Numba compiles that, and its errors, for seconds.
    """
    start, edges, _ = star
    first = start[segment]
    found = np.empty(start[segment + 1] - first, np.int32)
    for k in range(len(found)):
        found[k] = labels[edges[first + k]]
    return found


# The package calls it in one place. Inside that it is compiled once; as a function of its own, a
# second time as well.
@kernel(inline="always")
def star_move(
    segment: int, star: Lists, touching: Lists, ends: Ints, plane_costs: Floats,
    label_costs: Floats, edge_costs: Floats, junctions: JunctionCosts,
    position: Ints, planes: Ints, labels: Ints,
) -> bool:  # fmt: skip
    """Give a segment its best plane and its edges their best labels, jointly.

    A star that is no union of paths and cycles, as a few in a hundred are not, stays as single
    moves have left it.

    Parameters
    ----------
    position
        (E,) working memory, NONE everywhere before and after.

    Returns
    -------
    changed
        Whether anything did: only if that lowers the energy.
    """
    start, edges, _ = star
    first = start[segment]
    degree = start[segment + 1] - first
    states = plane_costs.shape[1]
    costs = np.empty((degree, LABELS, states))
    links, link_costs = np.empty((degree, 2), np.int32), np.empty((degree, 2, LABELS, LABELS))
    _add_plane_costs(segment, star, ends, label_costs, edge_costs, planes, costs)
    for k in range(degree):
        position[edges[first + k]] = k
    simple = _link_labels(
        segment, star, touching, junctions, labels, position, costs, links, link_costs
    )
    for k in range(degree):
        position[edges[first + k]] = NONE
    if not simple:
        return False
    chain, side = np.empty(degree, np.int32), np.empty(degree, np.int32)
    chain_start = np.empty(degree + 1, np.int32)
    count = order_labels(degree, links, chain, side, chain_start)
    forward = np.empty((degree, LABELS, LABELS, states))
    total = plane_costs[segment].copy()
    for c in range(count):
        low, high = chain_start[c], chain_start[c + 1]
        solve_chain(chain[low:high], side[low:high], costs, link_costs, forward[low:high], total)
    particle = np.argmin(total)
    current = labels_round(segment, star, labels)
    before = _current_cost(
        degree, planes[segment], plane_costs[segment, planes[segment]], current, costs, links,
        link_costs,
    )  # fmt: skip
    if not is_gain(total[particle], before):
        return False
    planes[segment] = particle
    for c in range(count):
        low, high = chain_start[c], chain_start[c + 1]
        read_chain(
            chain[low:high], side[low:high], link_costs, forward[low:high], particle, current
        )
    for k in range(degree):
        labels[edges[first + k]] = current[k]
    return True


@kernel
def _mark_affected(
    edge: int, touching: Lists, ends: Ints, scopes: Ints, due: NDArray[np.bool_]
) -> None:
    """Mark the segments whose best star may differ after a change of one label."""
    start, around, _ = touching
    due[ends[edge, 0]] = due[ends[edge, 1]] = True
    for place in range(start[edge], start[edge + 1]):
        for slot in range(SLOTS):
            other = scopes[around[place], slot]
            if other >= 0:
                due[ends[other, 0]] = due[ends[other, 1]] = True


@kernel
def star_moves(
    star: Lists, touching: Lists, ends: Ints, plane_costs: Floats, label_costs: Floats,
    edge_costs: Floats, junctions: JunctionCosts, planes: Ints, labels: Ints,
    keep: bool, first: int, last: int, due: NDArray[np.bool_],
) -> bool:  # fmt: skip
    """Try star moves of the segments `first` … `last` − 1 that are due; tell whether one gained.

    Parameters
    ----------
    planes, labels
        Changed in place if moves are kept.
    keep
        Whether to keep moves. If not, each is tried on the states as they are: threads may do so
        side by side.
    due
        (n,) which segments to try. Afterwards, if moves are kept, those that depend on what has
        changed since they were tried; if not, those whose move would gain.
    """
    start, edges, sides = star
    position = np.full(len(labels), NONE, np.int32)
    if not keep:
        planes, labels = planes.copy(), labels.copy()
    gained = False
    for i in range(first, last):
        if not due[i]:
            continue
        old_plane, old_labels = planes[i], labels_round(i, star, labels)
        due[i] = star_move(
            i, star, touching, ends, plane_costs, label_costs, edge_costs, junctions,
            position, planes, labels,
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
            if planes[i] != old_plane:
                due[ends[e, 1 - sides[start[i] + k]]] = True
        if not keep:
            planes[i] = old_plane
        due[i] = not keep
    return gained
