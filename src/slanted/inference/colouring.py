"""Colours of variables: those of one colour share no factor, so they may be updated at once.

Inside a colour the order of updates cannot matter, between colours it is fixed. That makes a run
depend neither on the number of threads nor on their timing, and keeps every update a block of
coordinate ascent, which updating all variables at once would not be.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slanted.kernel import kernel

Ints = NDArray[np.int32]
Starts = NDArray[np.int64]


def colour_classes(scopes: list[Ints], count: int) -> list[Ints]:
    """Partition variables greedily, those with the most neighbours first, ties by index.

    Parameters
    ----------
    scopes
        Arrays (M, k) of variables, the scopes of M factors each; k may differ between arrays.
    count
        Number of variables.

    Returns
    -------
    classes
        The variables of each colour, ascending; no two in one factor. Variables of no factor have
        the first colour.
    """
    start, neighbours = _neighbours(scopes, count)
    order = np.argsort(start[:-1] - start[1:], kind="stable").astype(np.int32)
    colours = _greedy_colours(start, neighbours, order)
    return [
        np.flatnonzero(colours == colour).astype(np.int32)
        for colour in range(int(colours.max(initial=-1)) + 1)
    ]


def _neighbours(scopes: list[Ints], count: int) -> tuple[Starts, Ints]:
    """Return the share of each variable in the list of variables that it shares a factor with."""
    pairs = [np.empty((0, 2), np.int64)]
    for scope in scopes:
        slots = range(scope.shape[1])
        pairs += [scope[:, [a, b]].astype(np.int64) for a in slots for b in slots if a != b]
    keys = np.unique(np.concatenate([p[:, 0] * count + p[:, 1] for p in pairs]))
    start = np.searchsorted(keys, np.arange(count + 1) * count).astype(np.int64)
    return start, (keys % max(count, 1)).astype(np.int32)


@kernel
def _greedy_colours(start: Starts, neighbours: Ints, order: Ints) -> Ints:
    """Give each variable, in the order given, the first colour that none of its neighbours has."""
    colours = np.full(len(order), -1, np.int32)
    last_seen = np.full(len(order) + 1, -1, np.int32)  # the last variable that met each colour
    for v in order:
        for k in range(start[v], start[v + 1]):
            colour = colours[neighbours[k]]
            if colour >= 0:
                last_seen[colour] = v
        colour = 0
        while last_seen[colour] == v:
            colour += 1
        colours[v] = colour
    return colours
