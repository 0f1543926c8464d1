"""Blocks of variables that may be updated at once.

A sweep goes through phases one after the other, in a phase through all blocks at once, and in a
block through its variables one after the other. Variables of different blocks of a phase share no
factor: a run depends neither on the number of threads nor on their timing, and every update stays a
step of coordinate ascent, which updating all variables at once would not be.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slanted.runtime.arrays import Ints
from slanted.runtime.kernel import kernel
from slanted.solver.factor_graph import FactorGraph
from slanted.solver.messages_kernels import Lists

BLOCKS = 4
"""More serve more threads, and make borders longer."""
SMALLEST_BLOCK = 64
"""Segments; handing over fewer takes longer than updating them."""


@dataclass(frozen=True, eq=False)
class Block:
    """Variables that are updated one after the other.

    Parameters
    ----------
    planes
        Segments whose planes to update.
    edges
        Those of these segments that no block before it has.
    labels
        Edges whose labels to update, after the planes.
    """

    planes: Ints
    edges: Ints
    labels: Ints


def make_phases(graph: FactorGraph, star: Lists) -> list[list[Block]]:
    """Cut a graph into blocks, the borders between them, and labels that are in neither.

    Breadth-first search gives each segment a level; neighbours are at most a level apart. Whole
    levels, evenly spaced, are the borders. A graph that is too small is one block.

    Parameters
    ----------
    graph
        Who meets whom.
    star
        Edges of each segment, and its side of them.
    """
    of_segment, blocks = _cut_levels(_levels(star, graph.edges))
    first, second = of_segment[graph.edges.T]
    # A label goes with its segments; where one is of a border, with that, because it comes later.
    of_label = np.maximum(first, second)
    of_edge = np.minimum(first, second)
    rest = 2 * blocks - 1
    for low, high in ((0, blocks), (blocks, rest)):
        for scopes in (graph.junctions3, graph.junctions4):
            around = of_label[scopes]
            inside = (around >= low) & (around < high)
            most = np.where(inside, around, low).max(axis=1, initial=low)
            least = np.where(inside, around, high - 1).min(axis=1, initial=high - 1)
            torn = (most > least)[:, None] & inside  # a junction of two blocks of one phase
            of_label[scopes[torn]] = rest
    made = [
        Block(where(of_segment == k), where(of_edge == k), where(of_label == k))
        for k in range(rest + 1)
    ]
    return [made[:blocks], made[blocks:rest], made[rest:]]


def _cut_levels(levels: Ints) -> tuple[Ints, int]:
    """Return where each segment is, blocks before borders, and how many blocks there are."""
    count = np.bincount(levels, minlength=1)
    blocks = min(BLOCKS, len(levels) // SMALLEST_BLOCK)
    ends = np.searchsorted(np.cumsum(count), len(levels) * np.arange(1, blocks) / max(blocks, 1))
    if blocks < 2 or (np.diff([-1, *ends, len(count)]) < 2).any():  # too few levels in between
        return np.zeros(len(levels), np.int32), 1
    place = np.searchsorted(ends, np.arange(len(count)))
    place[ends] = blocks + np.arange(blocks - 1)
    return place[levels].astype(np.int32), blocks


@kernel
def _levels(star: Lists, ends: Ints) -> Ints:
    """Return how far each segment is from one at the rim of the graph, in steps over edges.

    What a search does not reach is searched next, with levels that go on from the last.
    """
    start, edges, sides = star
    count = len(start) - 1
    levels, queue = np.empty(count, np.int32), np.empty(count, np.int32)
    origin = 0
    for _ in range(2):  # the last segment that a search meets is far away from where it began
        levels[:] = -1
        used, done, level = 0, 0, 0
        for seed in range(-1, count):
            here = origin if seed < 0 else seed
            if used < count and levels[here] < 0:
                level = 0 if used == 0 else levels[queue[used - 1]] + 1
                levels[here], queue[used] = level, here
                used += 1
            while done < used:
                here = queue[done]
                done += 1
                for place in range(start[here], start[here + 1]):
                    there = ends[edges[place], 1 - sides[place]]
                    if levels[there] < 0:
                        levels[there], queue[used] = levels[here] + 1, there
                        used += 1
        if count > 0:
            origin = queue[count - 1]
    return levels


def where(mask: NDArray[np.bool_]) -> Ints:
    """Return the places at which a mask is true, as kernels take them."""
    return np.flatnonzero(mask).astype(np.int32)
