"""The paper's distributed solver: the graph is cut into parts that exchange messages at intervals.

Every variable belongs to one part. A factor whose variables belong to M parts has a copy in each,
with θ_α / M and c_α / M, and multipliers ν_κα with Σ_κ ν_κα = 0 make the copies agree [1]_. Each
part sweeps over its own variables, alone, for some sweeps; then an exchange sets ν to its best
value given all messages. Both are exact block ascent on one concave dual, which after every
exchange is that of the whole graph. So any parts and any number of sweeps between exchanges lead to
the same optimum (if ε = 0, up to the points at which the ascent can stall).

The best ν_κα = Σ_{i∈κ} λ_{i→α} − (1/M) Σ_i λ_{i→α} is a sum of functions of one variable each. So
no table is ever copied or sent, and ν need not even be stored: its terms in other parts' variables
act as constant messages λ / M, and its terms in a part's own variables move (1 − 1/M) λ into their
costs, which leaves λ / M as their message.

This is the paper's Section 3.2. In one process it is faster to sweep the graph as a whole.

References
----------
.. [1] A. Schwing, T. Hazan, M. Pollefeys, R. Urtasun, "Distributed message passing for large scale
   graphical models", CVPR 2011.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from slanted.errors import InputError
from slanted.runtime.arrays import Floats, Ints
from slanted.runtime.threads import together
from slanted.solver.dual import reparametrised
from slanted.solver.factor_graph import FactorGraph
from slanted.solver.messages import Messages
from slanted.solver.problem import JunctionTables, Problem
from slanted.solver.run import Advance
from slanted.solver.sweeps import Sweeper
from slanted.solver.topology import Block, Topology, where

MOST_COPIES = 4  # because no factor has more variables


def advance_parts(sweeper: Sweeper, part_of_node: NDArray[np.integer]) -> Advance:
    """Return the function that sweeps the parts of a graph alone, for `slanted.solver.run.Run`.

    Raises
    ------
    InputError
        If the parts do not fit the graph.
    """
    problem, part = sweeper.problem, np.asarray(part_of_node)
    count = len(problem.node_costs)
    if part.shape != (count,) or part.dtype.kind not in "iu" or part.min() < 0:
        raise InputError(
            f"parts: expected {count} integers from 0 on, got shape {part.shape} of type "
            f"{part.dtype}; give each node its part"
        )
    parts = Parts.of(problem.graph, part.astype(np.int32))
    return partial(sweep_parts, parts, parts.copies_of(problem), sweeper.topology)


@dataclass(frozen=True, eq=False)
class Parts:
    """The part that owns each message, and the number of copies of each factor."""

    owners: tuple[Ints, ...]
    """The part of the variable that each message is from: of `to_first`, `to_second` and `to_label`
    (E,), of `to_junctions3` (J3, 3) and of `to_junctions4` (J4, 4)."""
    copies: tuple[Ints, ...]
    """M_α for each array of messages, in the same order: (E,) three times, (J3,), (J4,)."""
    blocks: list[Block]
    """The variables of each part."""

    @classmethod
    def of(cls, graph: FactorGraph, part_of_node: Ints) -> Parts:
        """Give each label to the part of its edge's first node."""
        first, second = part_of_node[graph.edges[:, 0]], part_of_node[graph.edges[:, 1]]
        three, four = first[graph.junctions3], first[graph.junctions4]
        edge_copies = _distinct(np.stack([first, second], axis=1))
        blocks = [
            Block(
                nodes=where(part_of_node == part),
                edges=where((first == part) | (second == part)),
                labels=where(first == part),
            )
            for part in range(int(part_of_node.max(initial=-1)) + 1)
        ]
        return cls(
            owners=(first, second, first, three, four),
            copies=(edge_copies, edge_copies, edge_copies, _distinct(three), _distinct(four)),
            blocks=blocks,
        )

    def copies_of(self, problem: Problem) -> Problem:
        """Return the costs and counting numbers of one copy: each factor's, divided by M_α."""
        edges, _, _, three, four = self.copies
        return replace(
            problem,
            edge_costs=problem.edge_costs / edges[:, None, None],
            edge_counts=problem.edge_counts / edges,
            three=_divided(problem.three, three),
            four=_divided(problem.four, four),
        )

    def exchange(self, messages: Messages) -> tuple[Messages, Messages]:
        """Make the copies of each factor agree: the best ν given the messages of all parts.

        Returns
        -------
        shares
            λ / M_α, with which all parts start.
        moved
            λ − λ / M_α, to be added to the variables' own costs.
        """
        shares, moved = [], []
        for field, copies in zip(fields(Messages), self.copies, strict=True):
            whole = getattr(messages, field.name)
            shares.append(whole / copies.reshape(-1, *(1,) * (whole.ndim - 1)))
            moved.append(whole - shares[-1])
        return Messages(*shares), Messages(*moved)

    def collect(self, part: int, local: Messages, moved: Messages, whole: Messages) -> None:
        """Write the messages of a part's own variables, plus what was moved, into `whole`."""
        for owner, field in zip(self.owners, fields(Messages), strict=True):
            own, name = owner == part, field.name
            getattr(whole, name)[own] = getattr(local, name)[own] + getattr(moved, name)[own]


def sweep_parts(
    parts: Parts, copies: Problem, topology: Topology, messages: Messages, epsilons: list[float]
) -> Messages:
    """Exchange messages, then sweep each part alone; return the messages of all.

    Each part's own messages are kept only until they are collected, so memory grows with the
    threads, not with the parts.
    """
    shares, moved = parts.exchange(messages)
    problem = with_moved(copies, moved)
    whole = Messages.zeros(problem.graph)

    def one(part: int) -> None:
        sweeper = Sweeper(problem, topology, parts.blocks[part])
        parts.collect(part, sweeper.advance(shares.copy(), epsilons), moved, whole)

    together(*(partial(one, part) for part in range(len(parts.blocks))))
    return whole


def with_moved(copies: Problem, moved: Messages) -> Problem:
    """Add what an exchange moved to the variables' own costs."""
    nodes, labels = reparametrised(copies, moved)
    return replace(copies, node_costs=nodes, label_costs=labels)


def _distinct(parts: Ints) -> Ints:
    """Return how many different numbers each row holds."""
    ordered = np.sort(parts, axis=1)
    distinct: Ints = (1 + (ordered[:, 1:] != ordered[:, :-1]).sum(axis=1)).astype(np.int32)
    return distinct


def _divided(junctions: JunctionTables, copies: Ints) -> JunctionTables:
    """Divide tables by the number of copies: each table is stored once per possible number."""
    tables: Floats = np.concatenate([junctions.tables / m for m in range(1, MOST_COPIES + 1)])
    return JunctionTables(
        kinds=(junctions.kinds + (copies - 1) * len(junctions.tables)).astype(np.int32),
        tables=tables,
        counts=junctions.counts / copies,
    )
