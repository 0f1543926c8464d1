"""Blocks of variables that may be updated at once, and the border between them.

A sweep goes through the variables of a block one after the other, through all blocks at once, and
then through the border. Variables of different blocks share no factor: a run depends neither on the
number of threads nor on their timing, and every update stays a step of coordinate ascent, which
updating all variables at once would not be.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slanted.inference.messages_kernels import Lists
from slanted.kernel import kernel
from slanted.model.factor_graph import FactorGraph
from slanted.regions.structure import Ints

BLOCKS = 4
"""More serve more threads, and make the border longer."""
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
        Those of these segments that no other block has.
    labels
        Edges whose labels to update, after the planes.
    """

    planes: Ints
    edges: Ints
    labels: Ints


def make_blocks(graph: FactorGraph, star: Lists) -> tuple[list[Block], Block]:
    """Cut a graph into blocks and the border between them; small ones are one block.

    Breadth-first search gives each segment a level; neighbours are at most a level apart. A few
    whole levels, evenly spaced, are the border.

    Parameters
    ----------
    graph
        Who meets whom.
    star
        Edges of each segment, and its side of them.
    """
    of_segment = _cut_levels(_levels(star, graph.edges))
    first, second = of_segment[graph.edges.T]
    # An edge's label is in the block of its segments if they agree, and all its junctions do too.
    of_label = np.where(first == second, first, 0)
    for scopes in (graph.junctions3, graph.junctions4):
        around = of_label[scopes]
        torn = (around > 0).any(axis=1) & (around.max(axis=1, initial=0) != _least_block(around))
        of_label[scopes[torn].ravel()] = 0
    of_edge = np.maximum(first, second)  # a border segment leaves it to the other, if there is one
    blocks = [
        Block(_where(of_segment == k), _where(of_edge == k), _where(of_label == k))
        for k in range(int(of_segment.max(initial=0)) + 1)
    ]
    return blocks[1:], blocks[0]


def _cut_levels(levels: Ints) -> Ints:
    """Return the block of each segment, from 1 on, or 0 on the border."""
    count = np.bincount(levels, minlength=1)
    blocks = min(BLOCKS, len(levels) // SMALLEST_BLOCK)
    ends = np.searchsorted(np.cumsum(count), len(levels) * np.arange(1, blocks) / max(blocks, 1))
    if blocks < 2 or (np.diff([-1, *ends, len(count)]) < 2).any():  # too few levels in between
        return np.ones(len(levels), np.int32)
    block_of_level = 1 + np.searchsorted(ends, np.arange(len(count)))
    block_of_level[ends] = 0
    blocks_of_segments: Ints = block_of_level[levels].astype(np.int32)
    return blocks_of_segments


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


def _least_block(around: Ints) -> Ints:
    """Return the least block, other than the border, in each row."""
    least: Ints = np.where(around > 0, around, BLOCKS + 1).min(axis=1, initial=BLOCKS + 1)
    return least


def _where(mask: NDArray[np.bool_]) -> Ints:
    return np.flatnonzero(mask).astype(np.int32)
