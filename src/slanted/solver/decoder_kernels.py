"""Numba kernels that turn messages into a labelling and improve it one variable at a time.

As in `node_kernels`, tables are flat and a junction's first slot is the most significant. Junctions
of three edges have an empty slot in front, so that all junctions are treated alike.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slanted.runtime.arrays import Floats, Ints
from slanted.runtime.kernel import kernel
from slanted.solver.factor_graph import LABELS
from slanted.solver.topology import Incidence

JunctionCosts = tuple[Ints, Ints, Floats]
"""Edges (J, 4), `NONE` in an empty slot; where each junction's table begins, (J,); tables."""

SLOTS = 4
"""Slots of a junction, one of which may be empty."""
THREE_WAY, FOUR_WAY = LABELS ** (SLOTS - 1), LABELS**SLOTS
"""Entries of a junction's table."""
NONE = -1
UNDECIDED = -1
SMALLEST_GAIN = 1e-12
"""Relative gain that a move must exceed, so that ties and rounding cause no endless moves."""


@kernel
def is_gain(cost: float, current: float) -> bool:
    """Return whether a cost is below the current one by more than rounding."""
    return cost < current - SMALLEST_GAIN * abs(current)


@kernel
def decide_nodes(
    star: Incidence, node_costs: Floats, reduced: Floats, to_first: Floats, to_second: Floats
) -> Ints:
    """Choose states in turn: each is the best given those chosen, with messages for the rest.

    It minimises θ_i + Σ_α min over undecided variables of (θ_α − Σ_undecided λ); `reduced` is that
    minimum over labels, from `reduce_labels` at ε = 0. Ties go to the lowest index.
    """
    start, edges, sides = star
    count, size = node_costs.shape
    # The other end of each entry of the star lists.
    ends = np.empty((len(to_first), 2), np.int32)
    for i in range(count):
        for place in range(start[i], start[i + 1]):
            ends[edges[place], sides[place]] = i
    states = np.full(count, UNDECIDED, np.int32)
    for i in range(count):
        cost = node_costs[i].copy()
        for place in range(start[i], start[i + 1]):
            e, side = edges[place], sides[place]
            table = reduced[e].reshape(size, size)
            other = to_second[e] if side == 0 else to_first[e]
            decided = states[ends[e, 1 - side]]
            for a in range(size):
                if decided != UNDECIDED:
                    cost[a] += table[a, decided] if side == 0 else table[decided, a]
                else:
                    least = np.inf
                    for b in range(size):
                        value = (table[a, b] if side == 0 else table[b, a]) - other[b]
                        least = min(value, least)
                    cost[a] += least
        states[i] = np.argmin(cost)
    return states


@kernel
def decide_labels(
    touching: Incidence, label_costs: Floats, junctions: JunctionCosts, messages: Floats
) -> Ints:
    """Choose labels in turn, as `decide_nodes` chooses states.

    `label_costs` (E, 4) include the costs of edges given the states; `messages` (J, 4, 4) are λ to
    the slots of junctions.
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
    own, fixed, decided = 0, 0, 0  # the edge's bits, a mask of the fixed bits, and their values
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
    """Return the position of a slot's two bits in the index into a junction's table."""
    return 2 * (SLOTS - 1 - slot)


@kernel
def table_size(junction: int, scopes: Ints) -> int:
    """Return the number of entries of a junction's table."""
    size: int = THREE_WAY if scopes[junction, 0] == NONE else FOUR_WAY
    return size


@kernel
def junction_state(junction: int, scopes: Ints, labels: Ints) -> int:
    """Return the index into a junction's table that the labels of its edges make."""
    state = 0
    for slot in range(SLOTS):
        e = scopes[junction, slot]
        if e >= 0:
            state |= labels[e] << slot_shift(slot)
    return state


@kernel
def edge_shift(junction: int, edge: int, scopes: Ints) -> int:
    """Return the position of an edge's two bits in the index into a junction's table."""
    shift = 0
    for slot in range(SLOTS):
        if scopes[junction, slot] == edge:
            shift = slot_shift(slot)
    return shift


@kernel
def node_move(
    node: int, star: Incidence, ends: Ints, node_costs: Floats, edge_costs: Floats,
    states: Ints, labels: Ints,
) -> bool:  # fmt: skip
    """Give a node its best state with all else fixed; return whether it changed.

    `ends` (E, 2) are the nodes of each edge, `edge_costs` are (E, 4, N²).
    """
    start, edges, sides = star
    size = node_costs.shape[1]
    cost = node_costs[node].copy()
    for place in range(start[node], start[node + 1]):
        e, side = edges[place], sides[place]
        other = states[ends[e, 1 - side]]
        # Entries (a, other) or (other, a) of a flat table, for all states a.
        first, step = (other, size) if side == 0 else (other * size, 1)
        row = edge_costs[e, labels[e]]
        for a in range(size):
            cost[a] += row[first + a * step]
    moved: bool = take_best(cost, node, states)
    return moved


@kernel
def label_move(
    edge: int, touching: Incidence, ends: Ints, label_costs: Floats, edge_costs: Floats,
    junctions: JunctionCosts, size: int, states: Ints, labels: Ints,
) -> bool:  # fmt: skip
    """Give an edge its best label with all else fixed; return whether it changed."""
    start, around, _ = touching
    scopes, begin, tables = junctions
    pair = states[ends[edge, 0]] * size + states[ends[edge, 1]]
    cost = label_costs[edge].copy()
    for x in range(LABELS):
        cost[x] += edge_costs[edge, x, pair]
    for place in range(start[edge], start[edge + 1]):
        j = around[place]
        shift = edge_shift(j, edge, scopes)
        state = junction_state(j, scopes, labels) & ~(3 << shift)
        for x in range(LABELS):
            cost[x] += tables[begin[j] + (state | (x << shift))]
    moved: bool = take_best(cost, edge, labels)
    return moved


@kernel
def take_best(cost: Floats, variable: int, chosen: Ints) -> bool:
    """Choose the least cost for a variable if that is a gain; return whether it is."""
    best = np.argmin(cost)
    if is_gain(cost[best], cost[chosen[variable]]):
        chosen[variable] = best
        return True
    return False


@kernel
def descend_coordinates(
    star: Incidence, touching: Incidence, ends: Ints, node_costs: Floats, label_costs: Floats,
    edge_costs: Floats, junctions: JunctionCosts, rounds: int, states: Ints, labels: Ints,
) -> int:  # fmt: skip
    """Improve states and labels in place, one at a time, until none changes; return the rounds.

    This is ICM (iterated conditional modes). A variable is tried again only after a variable that
    its choice depends on has changed.
    """
    start, edges, sides = star
    node_due, label_due = np.ones(len(states), np.bool_), np.ones(len(labels), np.bool_)
    for done in range(rounds):
        changed = False
        for i in range(len(states)):
            if not node_due[i]:
                continue
            node_due[i] = False
            if node_move(i, star, ends, node_costs, edge_costs, states, labels):
                changed = True
                for place in range(start[i], start[i + 1]):
                    e = edges[place]
                    label_due[e] = True
                    node_due[ends[e, 1 - sides[place]]] = True
        for e in range(len(labels)):
            if not label_due[e]:
                continue
            label_due[e] = False
            if label_move(
                e, touching, ends, label_costs, edge_costs, junctions, node_costs.shape[1],
                states, labels,
            ):  # fmt: skip
                changed = True
                node_due[ends[e, 0]] = node_due[ends[e, 1]] = True
                _mark_labels(e, touching, junctions[0], label_due)
        if not changed:
            return done + 1
    return rounds


@kernel
def _mark_labels(edge: int, touching: Incidence, scopes: Ints, due: NDArray[np.bool_]) -> None:
    """Mark the labels that share a junction with one that changed."""
    start, around, _ = touching
    for place in range(start[edge], start[edge + 1]):
        for slot in range(SLOTS):
            other = scopes[around[place], slot]
            if other >= 0 and other != edge:
                due[other] = True
