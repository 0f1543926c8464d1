"""Which factors each variable is in, and in which order variables are updated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from slanted.errors import InputError
from slanted.runtime.arrays import Ints
from slanted.solver.blocks import Block, make_phases
from slanted.solver.factor_graph import FactorGraph
from slanted.solver.messages_kernels import Lists


@dataclass(frozen=True, eq=False)
class Topology:
    """Lists that depend on who meets whom alone, not on costs: one serves all particle sets.

    Parameters
    ----------
    star
        Edges of each segment, ascending, and its side of them (0: first, 1: second).
    touching
        Junctions of each edge (3-way ones, then 4-way ones numbered on from them), ascending, and
        its slot in them.
    phases
        Blocks of all variables; those of different blocks of a phase share no factor.
    """

    star: Lists
    touching: Lists
    phases: list[list[Block]]


def build_topology(graph: FactorGraph) -> Topology:
    """List the factors of every variable and cut the graph into blocks.

    Raises
    ------
    InputError
        If a factor names a variable that does not exist, or one twice: updates would then not be
        ascent steps.
    """
    segments, edges = len(graph.plane_costs), len(graph.edges)
    _check_scopes("edges", graph.edges, segments)
    _check_scopes("junctions3", graph.junctions3, edges)
    _check_scopes("junctions4", graph.junctions4, edges)
    star = _lists([graph.edges], segments)
    touching = _lists([graph.junctions3, graph.junctions4], edges)
    return Topology(star, touching, make_phases(graph, star))


def _lists(scopes: list[Ints], count: int) -> Lists:
    """Turn scopes of factors into the factors of each variable and the slots it has there."""
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
            "number segments and edges from 0"
        )
    ordered = np.sort(scopes, axis=1)
    twice = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))
    if len(twice):
        raise InputError(
            f"{name}: expected different variables in a factor, got {scopes[twice[0]].tolist()} in "
            f"row {twice[0]}; leave such rows out"
        )
