"""Numba kernels for dynamic programming over paths and cycles of labels.

The labels of a star are numbered 0 … degree − 1. Each has up to two neighbours, ``links`` (degree,
2), with NONE where there is no neighbour. ``link_costs`` (degree, 2, 4, 4) are the costs of a label
and its neighbour's label, ``costs`` (degree, 4, N) those of a label given the state of the node.
"""

from __future__ import annotations

import numpy as np

from slanted.runtime.arrays import Floats, Ints
from slanted.runtime.kernel import kernel
from slanted.solver.decoder_kernels import NONE
from slanted.solver.factor_graph import LABELS


@kernel
def order_labels(degree: int, links: Ints, chain: Ints, side: Ints, chain_start: Ints) -> int:
    """Follow the links: write paths and cycles, one after the other, and return their number.

    Parameters
    ----------
    degree, links
        Number of labels and their neighbours.
    chain
        (degree,) labels in order.
    side
        (degree,) which link of each label leads to the next one in the chain, or from the last to
        the first; NONE at the end of a path.
    chain_start
        (degree + 1,) where each path or cycle starts in `chain`.
    """
    seen = np.zeros(degree, np.bool_)
    used, count = 0, 0
    for cycles in range(2):  # paths first, from their ends; then only cycles are left
        for origin in range(degree):
            if seen[origin] or (cycles == 0 and links[origin, 1] != NONE):
                continue
            chain_start[count] = used
            previous, here = NONE, origin
            while here != NONE:
                seen[here] = True
                chain[used], side[used] = here, NONE
                following = NONE
                for s in range(2):
                    nearby = links[here, s]
                    if following == NONE and nearby not in (NONE, previous):
                        following, side[used] = nearby, s
                used += 1
                if following != NONE and seen[following]:  # back at the origin of a cycle
                    following = NONE
                previous, here = here, following
            count += 1
    chain_start[count] = used
    return count


@kernel
def solve_chain(
    chain: Ints, side: Ints, costs: Floats, link_costs: Floats, forward: Floats, total: Floats
) -> None:
    """Add, for each state, the least cost of a path or cycle of labels to `total`.

    ``forward[t, x, x0, a]`` is the least cost of the first t + 1 labels, which begin with x0 and
    end with x, given state a; x0 and a are last so that inner loops run along memory.
    """
    size = len(total)
    forward[0] = np.inf
    for x in range(LABELS):
        for a in range(size):
            forward[0, x, x, a] = costs[chain[0], x, a]
    for t in range(1, len(chain)):
        between = link_costs[chain[t - 1], side[t - 1]]
        for x in range(LABELS):
            out = forward[t, x].reshape(-1)
            out[:] = np.inf
            for before in range(LABELS):
                row, link = forward[t - 1, before].reshape(-1), between[before, x]
                for k in range(len(out)):
                    value = row[k] + link
                    out[k] = value if value < out[k] else out[k]
            own = costs[chain[t], x]
            for x0 in range(LABELS):
                for a in range(size):
                    forward[t, x, x0, a] += own[a]
    least = np.full(size, np.inf)
    last = len(chain) - 1
    for x in range(LABELS):
        for x0 in range(LABELS):
            back = _link_back(chain, side, link_costs, x, x0)
            row = forward[last, x, x0]
            for a in range(size):
                value = row[a] + back
                least[a] = value if value < least[a] else least[a]
    for a in range(size):
        total[a] += least[a]


@kernel
def _link_back(chain: Ints, side: Ints, link_costs: Floats, x: int, x0: int) -> float:
    """Return the cost between the last label x of a cycle and its first one x0; 0 in a path."""
    last = len(chain) - 1
    cost: float = 0.0 if side[last] == NONE else link_costs[chain[last], side[last], x, x0]
    return cost


@kernel
def read_chain(
    chain: Ints, side: Ints, link_costs: Floats, forward: Floats, a: int, best: Ints
) -> None:
    """Write the labels of least cost, ``best[k]`` of label k of the star, given state a."""
    last = len(chain) - 1
    least, first, here = np.inf, 0, 0
    for x0 in range(LABELS):
        for x in range(LABELS):
            value = forward[last, x, x0, a] + _link_back(chain, side, link_costs, x, x0)
            if value < least:
                least, first, here = value, x0, x
    for t in range(last, 0, -1):
        best[chain[t]] = here
        between = link_costs[chain[t - 1], side[t - 1]]
        least, previous = np.inf, 0
        for before in range(LABELS):
            value = forward[t - 1, before, first, a] + between[before, here]
            if value < least:
                least, previous = value, before
        here = previous
    best[chain[0]] = here
