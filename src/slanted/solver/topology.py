"""The structure of a graph: the factors of each variable, and blocks to update in parallel.

A sweep goes through phases one after the other. In a phase, threads work on blocks in parallel,
and in a block they update one variable after the other. Variables of different blocks of a phase
share no factor, so a run depends neither on the number of threads nor on their timing, and every
update is a step of coordinate ascent, which updating all variables at once would not be.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slanted.errors import InputError
from slanted.runtime.arrays import Ints, Starts
from slanted.runtime.kernel import kernel
from slanted.solver.factor_graph import FactorGraph

Incidence = tuple[Starts, Ints, Ints]
"""Where each variable's list of factors starts; the factors; the variable's slot in each."""

BLOCKS = 4  # more would serve more threads, and make borders longer
SMALLEST_BLOCK = 64  # nodes; `sweeps.SMALLEST_SHARED` says when threads share blocks


@dataclass(frozen=True, eq=False)
class Topology:
    """Lists that depend on the scopes of factors alone: graphs with other costs can share them."""

    star: Incidence
    """Edges of each node, ascending, and its side of them (0: first, 1: second)."""
    touching: Incidence
    """Junctions of each edge, ascending, and its slot in them; 4-way junctions are numbered after
    the 3-way ones."""
    phases: list[list[Block]]
    """Phases of a sweep, each a list of blocks; together they hold all variables."""


def build_topology(graph: FactorGraph) -> Topology:
    """List the factors of every variable and cut the graph into blocks.

    Raises
    ------
    InputError
        If a factor names a variable that does not exist, or one twice: updates would then not be
        ascent steps.
    """
    return topology_of(len(graph.node_costs), graph.edges, graph.junctions3, graph.junctions4)


def topology_of(nodes: int, edges: Ints, junctions3: Ints, junctions4: Ints) -> Topology:
    """Return the `build_topology` of a graph of which only the scopes are known yet."""
    _check_scopes("edges", edges, nodes)
    _check_scopes("junctions3", junctions3, len(edges))
    _check_scopes("junctions4", junctions4, len(edges))
    star = _incidence([edges], nodes)
    touching = _incidence([junctions3, junctions4], len(edges))
    return Topology(star, touching, make_phases(star, edges, junctions3, junctions4))


def _incidence(scopes: list[Ints], count: int) -> Incidence:
    """Turn scopes of factors into the factors of each variable and its slots in them."""
    first = np.cumsum([0, *(len(scope) for scope in scopes)])
    variable = np.concatenate([scope.reshape(-1) for scope in scopes])
    factor = np.concatenate(
        [
            np.repeat(np.arange(first[k], first[k + 1]), scope.shape[1])
            for k, scope in enumerate(scopes)
        ]
    )
    slot = np.concatenate([np.tile(np.arange(s.shape[1]), len(s)) for s in scopes])
    order = np.argsort(variable, kind="stable")
    start = np.searchsorted(variable[order], np.arange(count + 1)).astype(np.int64)
    return start, factor[order].astype(np.int32), slot[order].astype(np.int32)


def _check_scopes(name: str, scopes: Ints, count: int) -> None:
    if scopes.size == 0:
        return
    if scopes.min() < 0 or scopes.max() >= count:
        raise InputError(
            f"{name}: expected variables 0 … {count - 1}, got {scopes.min()} … {scopes.max()}; "
            "number nodes and edges from 0"
        )
    ordered = np.sort(scopes, axis=1)
    twice = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))
    if len(twice):
        raise InputError(
            f"{name}: expected different variables in a factor, got {scopes[twice[0]].tolist()} in "
            f"row {twice[0]}; leave such rows out"
        )


@dataclass(frozen=True, eq=False)
class Block:
    """Variables that are updated one after the other."""

    nodes: Ints
    """Nodes to update."""
    edges: Ints
    """Edges of these nodes that belong to no earlier block."""
    labels: Ints
    """Edges whose labels to update, after the nodes."""


def make_phases(
    star: Incidence, edges: Ints, junctions3: Ints, junctions4: Ints
) -> list[list[Block]]:
    """Cut a graph into three phases: blocks, the borders between them, and labels in neither.

    Breadth-first search gives each node a level; neighbours are at most one level apart. Whole
    levels, evenly spaced, are the borders. A graph that is too small is one block.
    """
    of_node, blocks = _cut_levels(_levels(star, edges))
    first, second = of_node[edges.T]
    # A label goes with its nodes, or with the border if one is on it, because borders come later.
    of_label = np.maximum(first, second)
    of_edge = np.minimum(first, second)
    rest = 2 * blocks - 1
    for low, high in ((0, blocks), (blocks, rest)):
        for scopes in (junctions3, junctions4):
            around = of_label[scopes]
            inside = (around >= low) & (around < high)
            most = np.where(inside, around, low).max(axis=1, initial=low)
            least = np.where(inside, around, high - 1).min(axis=1, initial=high - 1)
            torn = (most > least)[:, None] & inside  # a junction of two blocks of one phase
            of_label[scopes[torn]] = rest
    made = [
        Block(where(of_node == k), where(of_edge == k), where(of_label == k))
        for k in range(rest + 1)
    ]
    return [made[:blocks], made[blocks:rest], made[rest:]]


def _cut_levels(levels: Ints) -> tuple[Ints, int]:
    """Return the block or border of each node, blocks numbered first, and the number of blocks."""
    count = np.bincount(levels, minlength=1)
    blocks = min(BLOCKS, len(levels) // SMALLEST_BLOCK)
    ends = np.searchsorted(np.cumsum(count), len(levels) * np.arange(1, blocks) / max(blocks, 1))
    if blocks < 2 or (np.diff([-1, *ends, len(count)]) < 2).any():  # too few levels in between
        return np.zeros(len(levels), np.int32), 1
    place = np.searchsorted(ends, np.arange(len(count)))
    place[ends] = blocks + np.arange(blocks - 1)
    return place[levels].astype(np.int32), blocks


@kernel
def _levels(star: Incidence, ends: Ints) -> Ints:
    """Return the distance of each node from one at the rim of the graph, in edges.

    Nodes that a search does not reach are searched next, with levels that continue from the last.
    """
    start, edges, sides = star
    count = len(start) - 1
    levels, queue = np.empty(count, np.int32), np.empty(count, np.int32)
    origin = 0
    for _ in range(2):  # the last node that a search meets is far away from where it began
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
    """Return the indices at which a mask is true, in the type that kernels take."""
    return np.flatnonzero(mask).astype(np.int32)
