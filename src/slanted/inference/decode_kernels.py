"""Numba kernels that turn messages into a labelling and improve it one variable at a time.

Conventions as in `messages_kernels`: tables are flat, a junction's first slot is highest.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slanted.inference.messages_kernels import Floats, Lists
from slanted.kernel import kernel
from slanted.model.factor_graph import LABELS
from slanted.regions.structure import Ints

JunctionCosts = tuple[Ints, Ints, Floats]
"""Scopes (J, k) in edges, kinds (J,) and tables (kinds, 4^k)."""

UNDECIDED = -1
SMALLEST_GAIN = 1e-12
"""Relative; a move must gain more. Ties keep the state, and rounding cannot make moves cycle."""


@kernel
def is_gain(cost: float, current: float) -> bool:
    """Return whether a cost is truly below the current one."""
    return cost < current - SMALLEST_GAIN * abs(current)


@kernel
def decide_planes(
    star: Lists, plane_costs: Floats, reduced: Floats, to_first: Floats, to_second: Floats
) -> Ints:
    """Choose planes in turn: each the best given those chosen, with messages for the rest.

    Minimises θ_i + Σ_α min over undecided of (θ_α − Σ_undecided λ); `reduced` is that minimum over
    labels, from `reduce_labels` at ε = 0. Ties go to the lowest index.
    """
    start, edges, sides = star
    count, states = plane_costs.shape
    # The other end of each entry of the star lists.
    ends = np.empty((len(to_first), 2), np.int32)
    for i in range(count):
        for place in range(start[i], start[i + 1]):
            ends[edges[place], sides[place]] = i
    planes = np.full(count, UNDECIDED, np.int32)
    for i in range(count):
        cost = plane_costs[i].copy()
        for place in range(start[i], start[i + 1]):
            e, side = edges[place], sides[place]
            table = reduced[e].reshape(states, states)
            other = to_second[e] if side == 0 else to_first[e]
            decided = planes[ends[e, 1 - side]]
            for a in range(states):
                if decided != UNDECIDED:
                    cost[a] += table[a, decided] if side == 0 else table[decided, a]
                else:
                    least = np.inf
                    for b in range(states):
                        value = (table[a, b] if side == 0 else table[b, a]) - other[b]
                        least = min(value, least)
                    cost[a] += least
        planes[i] = np.argmin(cost)
    return planes


@kernel
def decide_labels(
    touching: Lists, label_costs: Floats, three: JunctionCosts, four: JunctionCosts,
    messages3: Floats, messages4: Floats,
) -> Ints:  # fmt: skip
    """Choose labels in turn, as `decide_planes` does.

    `label_costs` (E, 4) include the costs of edges with the planes decided.
    """
    start, junctions, slots = touching
    labels = np.full(len(label_costs), UNDECIDED, np.int32)
    for e in range(len(labels)):
        cost = label_costs[e].copy()
        for place in range(start[e], start[e + 1]):
            j, slot = junctions[place], slots[place]
            if j < len(three[0]):
                _add_conditional(
                    three[0][j], three[2][three[1][j]], messages3[j], slot, labels, cost
                )
            else:
                j -= len(three[0])
                _add_conditional(four[0][j], four[2][four[1][j]], messages4[j], slot, labels, cost)
        labels[e] = np.argmin(cost)
    return labels


@kernel
def _add_conditional(
    scope: Ints, table: Floats, messages: Floats, slot: int, labels: Ints, cost: Floats
) -> None:
    """Add, for each label in a slot, the least reduced cost with the decided labels fixed."""
    slots = len(scope)
    least = np.full(LABELS, np.inf)
    fixed, decided = 0, 0  # which bits of a state are, and what they are
    for other in range(slots):
        if other != slot and labels[scope[other]] != UNDECIDED:
            shift = 2 * (slots - 1 - other)
            fixed |= 3 << shift
            decided |= labels[scope[other]] << shift
    for state in range(len(table)):
        if state & fixed != decided:
            continue
        value = table[state]
        for other in range(slots):
            if other != slot and labels[scope[other]] == UNDECIDED:
                value -= messages[other, (state >> (2 * (slots - 1 - other))) & 3]
        own = (state >> (2 * (slots - 1 - slot))) & 3
        least[own] = min(least[own], value)
    for x in range(LABELS):
        cost[x] += least[x]


@kernel
def junction_state(scope: Ints, labels: Ints) -> int:
    """Return where in a junction's table the labels of its edges are."""
    state = 0
    for e in scope:
        state = 4 * state + labels[e]
    return state


@kernel
def plane_move(
    segment: int, star: Lists, ends: Ints, plane_costs: Floats, edge_costs: Floats,
    planes: Ints, labels: Ints,
) -> bool:  # fmt: skip
    """Give a segment its best plane with all else fixed; return whether it changed.

    `ends` are the segments of each edge, `edge_costs` (E, 4, N²).
    """
    start, edges, sides = star
    states = plane_costs.shape[1]
    cost = plane_costs[segment].copy()
    for place in range(start[segment], start[segment + 1]):
        e, side = edges[place], sides[place]
        other = planes[ends[e, 1 - side]]
        # Entries (a, other) or (other, a) of a flat table, for all particles a.
        first, step = (other, states) if side == 0 else (other * states, 1)
        row = edge_costs[e, labels[e]]
        for a in range(states):
            cost[a] += row[first + a * step]
    best = np.argmin(cost)
    if is_gain(cost[best], cost[planes[segment]]):
        planes[segment] = best
        return True
    return False


@kernel
def label_move(
    edge: int, touching: Lists, ends: Ints, label_costs: Floats, edge_costs: Floats,
    three: JunctionCosts, four: JunctionCosts, states: int, planes: Ints, labels: Ints,
) -> bool:  # fmt: skip
    """Give an edge its best label with all else fixed; return whether it changed."""
    start, junctions, slots = touching
    pair = planes[ends[edge, 0]] * states + planes[ends[edge, 1]]
    cost = label_costs[edge].copy()
    for x in range(LABELS):
        cost[x] += edge_costs[edge, x, pair]
    for place in range(start[edge], start[edge + 1]):
        j, slot = junctions[place], slots[place]
        scopes, kinds, tables = three
        if j >= len(kinds):
            j -= len(kinds)
            scopes, kinds, tables = four
        shift = 2 * (scopes.shape[1] - 1 - slot)
        state = junction_state(scopes[j], labels) & ~(3 << shift)
        for x in range(LABELS):
            cost[x] += tables[kinds[j], state | (x << shift)]
    best = np.argmin(cost)
    if is_gain(cost[best], cost[labels[edge]]):
        labels[edge] = best
        return True
    return False


@kernel
def descend_coordinates(
    star: Lists, touching: Lists, ends: Ints, plane_costs: Floats, label_costs: Floats,
    edge_costs: Floats, three: JunctionCosts, four: JunctionCosts, rounds: int,
    planes: Ints, labels: Ints,
) -> int:  # fmt: skip
    """Improve planes and labels in place, one at a time, until none changes; count the rounds.

    This is ICM: iterated conditional modes. A variable is tried again only after something that its
    choice depends on has changed.
    """
    start, edges, sides = star
    plane_due, label_due = np.ones(len(planes), np.bool_), np.ones(len(labels), np.bool_)
    for done in range(rounds):
        changed = False
        for i in range(len(planes)):
            if not plane_due[i]:
                continue
            plane_due[i] = False
            if plane_move(i, star, ends, plane_costs, edge_costs, planes, labels):
                changed = True
                for place in range(start[i], start[i + 1]):
                    e = edges[place]
                    label_due[e] = True
                    plane_due[ends[e, 1 - sides[place]]] = True
        for e in range(len(labels)):
            if not label_due[e]:
                continue
            label_due[e] = False
            if label_move(
                e, touching, ends, label_costs, edge_costs, three, four, plane_costs.shape[1],
                planes, labels,
            ):  # fmt: skip
                changed = True
                plane_due[ends[e, 0]] = plane_due[ends[e, 1]] = True
                _mark_labels(e, touching, three, four, label_due)
        if not changed:
            return done + 1
    return rounds


@kernel
def _mark_labels(
    edge: int, touching: Lists, three: JunctionCosts, four: JunctionCosts,
    due: NDArray[np.bool_],
) -> None:  # fmt: skip
    """Mark the labels that share a junction with one that changed."""
    start, junctions, _ = touching
    for place in range(start[edge], start[edge + 1]):
        j, scopes = junctions[place], three[0]
        if j >= len(scopes):
            j, scopes = j - len(scopes), four[0]
        for other in scopes[j]:
            if other != edge:
                due[other] = True
