"""Numba kernels that turn messages into a labelling and improve it one variable at a time.

Conventions as in `messages_kernels`: tables are flat, a junction's first slot is highest. Those of
three edges have an empty slot before the others, so that all junctions are alike.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slanted.runtime.arrays import Floats, Ints
from slanted.runtime.kernel import kernel
from slanted.solver.factor_graph import LABELS
from slanted.solver.messages_kernels import Lists

JunctionCosts = tuple[Ints, Ints, Floats]
"""Scopes (J, 4) in edges, `NONE` in an empty slot; where each one's table begins, (J,); tables."""

SLOTS = 4
"""Of a junction."""
THREE_WAY, FOUR_WAY = LABELS ** (SLOTS - 1), LABELS**SLOTS
"""States of a junction."""
NONE = -1
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
    touching: Lists, label_costs: Floats, junctions: JunctionCosts, messages: Floats
) -> Ints:
    """Choose labels in turn, as `decide_planes` does.

    `label_costs` (E, 4) include the costs of edges with the planes decided; `messages` (J, 4, 4)
    are λ from the slots of junctions.
    """
    start, around, _ = touching
    scopes, begin, tables = junctions
    labels = np.full(len(label_costs), UNDECIDED, np.int32)
    cost = np.empty(LABELS)
    for e in range(len(labels)):
        for x in range(LABELS):
            cost[x] = label_costs[e, x]
        for place in range(start[e], start[e + 1]):
            j = around[place]
            _add_conditional(e, j, scopes, begin[j], tables, messages, labels, cost)
        labels[e] = np.argmin(cost)
    return labels


@kernel
def _add_conditional(
    edge: int, junction: int, scopes: Ints, begin: int, tables: Floats, messages: Floats,
    labels: Ints, cost: Floats,
) -> None:  # fmt: skip
    """Add, for each label of an edge, the least reduced cost with the decided labels fixed."""
    own, fixed, decided = 0, 0, 0  # which bits of a state are the edge's, are fixed, and are what
    for slot in range(SLOTS):
        other, shift = scopes[junction, slot], slot_shift(slot)
        if other == edge:
            own = shift
        elif other >= 0 and labels[other] != UNDECIDED:
            fixed |= 3 << shift
            decided |= labels[other] << shift
    least = np.full(LABELS, np.inf)
    for state in range(table_size(junction, scopes)):
        if state & fixed != decided:
            continue
        value = tables[begin + state]
        for slot in range(SLOTS):
            other = scopes[junction, slot]
            if other >= 0 and other != edge and labels[other] == UNDECIDED:
                value -= messages[junction, slot, (state >> slot_shift(slot)) & 3]
        x = (state >> own) & 3
        least[x] = min(least[x], value)
    for x in range(LABELS):
        cost[x] += least[x]


@kernel
def slot_shift(slot: int) -> int:
    """Return how many bits of a state stand below those of a slot."""
    return 2 * (SLOTS - 1 - slot)


@kernel
def table_size(junction: int, scopes: Ints) -> int:
    """Return how many states a junction has."""
    size: int = THREE_WAY if scopes[junction, 0] == NONE else FOUR_WAY
    return size


@kernel
def junction_state(junction: int, scopes: Ints, labels: Ints) -> int:
    """Return where in a junction's table the labels of its edges are."""
    state = 0
    for slot in range(SLOTS):
        e = scopes[junction, slot]
        if e >= 0:
            state |= labels[e] << slot_shift(slot)
    return state


@kernel
def edge_shift(junction: int, edge: int, scopes: Ints) -> int:
    """Return how many bits of a junction's state stand below those of one of its edges."""
    shift = 0
    for slot in range(SLOTS):
        if scopes[junction, slot] == edge:
            shift = slot_shift(slot)
    return shift


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
    junctions: JunctionCosts, states: int, planes: Ints, labels: Ints,
) -> bool:  # fmt: skip
    """Give an edge its best label with all else fixed; return whether it changed."""
    start, around, _ = touching
    scopes, begin, tables = junctions
    pair = planes[ends[edge, 0]] * states + planes[ends[edge, 1]]
    cost = label_costs[edge].copy()
    for x in range(LABELS):
        cost[x] += edge_costs[edge, x, pair]
    for place in range(start[edge], start[edge + 1]):
        j = around[place]
        shift = edge_shift(j, edge, scopes)
        state = junction_state(j, scopes, labels) & ~(3 << shift)
        for x in range(LABELS):
            cost[x] += tables[begin[j] + (state | (x << shift))]
    best = np.argmin(cost)
    if is_gain(cost[best], cost[labels[edge]]):
        labels[edge] = best
        return True
    return False


@kernel
def descend_coordinates(
    star: Lists, touching: Lists, ends: Ints, plane_costs: Floats, label_costs: Floats,
    edge_costs: Floats, junctions: JunctionCosts, rounds: int, planes: Ints, labels: Ints,
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
                e, touching, ends, label_costs, edge_costs, junctions, plane_costs.shape[1],
                planes, labels,
            ):  # fmt: skip
                changed = True
                plane_due[ends[e, 0]] = plane_due[ends[e, 1]] = True
                _mark_labels(e, touching, junctions[0], label_due)
        if not changed:
            return done + 1
    return rounds


@kernel
def _mark_labels(edge: int, touching: Lists, scopes: Ints, due: NDArray[np.bool_]) -> None:
    """Mark the labels that share a junction with one that changed."""
    start, around, _ = touching
    for place in range(start[edge], start[edge + 1]):
        for slot in range(SLOTS):
            other = scopes[around[place], slot]
            if other >= 0 and other != edge:
                due[other] = True
