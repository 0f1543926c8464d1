"""The paper's distributed solver: the graph cut into parts that exchange messages now and then.

Every variable belongs to one part. A factor whose variables belong to M parts has a copy in each,
with θ_α / M and c_α / M, and multipliers ν_κα with Σ_κ ν_κα = 0 make the copies agree [1]_. Parts
sweep alone, k sweeps over their own variables; then an exchange sets ν to its best value given all
messages. Both are exact block ascent on one concave dual, which is that of the whole graph after
every exchange, so any k and any parts lead to the same optimum (up to rests, if ε = 0).

The best ν_κα = Σ_{i∈κ} λ_{i→α} − (1/M) Σ_i λ_{i→α} is a sum of functions of one variable each. So
no table is ever copied or sent, as [1]_ need not either; here ν is not even stored. Its terms of
variables elsewhere act as messages λ / M that stand still, and those of own variables move
(1 − 1/M) λ into the variable's own costs, which leaves λ / M as its message.

In one process `slanted.solver.convex_bp.solve` is faster; this is the paper's Section 3.2.

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
from slanted.solver.blocks import Block, where
from slanted.solver.convex_bp_run import Rule, Run, Solution, starting_messages
from slanted.solver.factor_graph import FactorGraph
from slanted.solver.messages import (
    Junctions3or4,
    Messages,
    Problem,
    build_problem,
    reparametrised,
)
from slanted.solver.messages_sweep import Sweeper
from slanted.solver.messages_topology import Topology, build_topology

MOST_COPIES = 4
"""No factor has more than four variables."""


@dataclass(frozen=True, eq=False)
class Parts:
    """Who owns each message, and how many copies each factor has.

    Parameters
    ----------
    owners
        The part of the variable that each message is from: of `to_first`, `to_second` and
        `to_label` (E,), of `to_junctions3` (J3, 3) and of `to_junctions4` (J4, 4).
    copies
        M_α, in the same order and for each message: (E,) three times, (J3,), (J4,).
    blocks
        The variables of each part.
    """

    owners: tuple[Ints, ...]
    copies: tuple[Ints, ...]
    blocks: list[Block]


def cut(graph: FactorGraph, part_of_segment: Ints) -> Parts:
    """Give each plane to the part of its segment and each label to that of its first segment."""
    first, second = part_of_segment[graph.edges[:, 0]], part_of_segment[graph.edges[:, 1]]
    three, four = first[graph.junctions3], first[graph.junctions4]
    edge_copies = _distinct(np.stack([first, second], axis=1))
    blocks = [
        Block(
            planes=where(part_of_segment == part),
            edges=where((first == part) | (second == part)),
            labels=where(first == part),
        )
        for part in range(int(part_of_segment.max(initial=-1)) + 1)
    ]
    return Parts(
        owners=(first, second, first, three, four),
        copies=(edge_copies, edge_copies, edge_copies, _distinct(three), _distinct(four)),
        blocks=blocks,
    )


def divide(problem: Problem, parts: Parts) -> Problem:
    """Return the costs and counting numbers of single copies: each factor's divided by M_α."""
    edges, _, _, three, four = parts.copies
    return replace(
        problem,
        edge_costs=problem.edge_costs / edges[:, None, None],
        edge_counts=problem.edge_counts / edges,
        three=_divided(problem.three, three),
        four=_divided(problem.four, four),
    )


def exchange(
    local: list[Messages], moved: Messages, parts: Parts
) -> tuple[Messages, Messages, Messages]:
    """Make the copies of each factor agree: the best ν given the messages of all parts.

    Parameters
    ----------
    local
        Messages as each part knows them; only those of its own variables count.
    moved
        What the last exchange moved from messages into the costs of their variables.
    parts
        Owners and copies.

    Returns
    -------
    messages
        λ of the whole graph.
    divided
        λ / M_α, with which all parts start.
    moved
        λ − λ / M_α, to be added to the variables' own costs.
    """
    return agree(_own_messages(local, parts), moved, parts)


def agree(own: Messages, moved: Messages, parts: Parts) -> tuple[Messages, Messages, Messages]:
    """Do the same as `exchange` with the messages of all variables, each from its own part."""
    whole, share, rest = [], [], []
    for k, field in enumerate(fields(Messages)):
        chosen, copies = getattr(own, field.name), parts.copies[k]
        whole.append(chosen + getattr(moved, field.name))
        share.append(whole[-1] / copies.reshape(-1, *(1,) * (chosen.ndim - 1)))
        rest.append(whole[-1] - share[-1])
    return Messages(*whole), Messages(*share), Messages(*rest)


def _own_messages(local: list[Messages], parts: Parts) -> Messages:
    """Take each message from the part that owns its variable."""
    chosen = []
    for owner, field in zip(parts.owners, fields(Messages), strict=True):
        known = np.stack([getattr(part, field.name) for part in local])
        chosen.append(np.take_along_axis(known, owner[None, ..., None], axis=0)[0])
    return Messages(*chosen)


def sweep_parts(
    sweepers: list[Sweeper],
    divided: Messages,
    sweeps: int,
    epsilon: float,
) -> list[Messages]:
    """Sweep each part alone, all from the same messages, and return what each makes of them."""

    def one(sweeper: Sweeper) -> Messages:
        messages = divided.copy()
        for _ in range(sweeps):
            sweeper.sweep(messages, epsilon)
        return messages

    return [one(sweeper) for sweeper in sweepers]


def part_sweepers(
    graph: FactorGraph, topology: Topology, copy: Problem, moved: Messages, parts: Parts
) -> list[Sweeper]:
    """Return what sweeps each part: copies of factors, and own costs that include `moved`."""
    planes, labels = reparametrised(graph, copy, moved)
    problem = replace(copy, plane_costs=planes, label_costs=labels)
    return [Sweeper(problem, topology, block) for block in parts.blocks]


def sweep_own(
    graph: FactorGraph,
    topology: Topology,
    copy: Problem,
    divided: Messages,
    moved: Messages,
    parts: Parts,
    sweeps: int,
    epsilon: float,
) -> Messages:
    """Sweep each part alone, as `sweep_parts` does, and keep of each its own variables' messages.

    Memory then grows with the threads, not with the parts.
    """
    planes, labels = reparametrised(graph, copy, moved)
    problem = replace(copy, plane_costs=planes, label_costs=labels)
    found = Messages.zeros(graph)

    def one(part: int) -> None:
        sweeper = Sweeper(problem, topology, parts.blocks[part])
        messages = sweep_parts([sweeper], divided, sweeps, epsilon)[0]
        for owner, field in zip(parts.owners, fields(Messages), strict=True):
            own = owner == part
            getattr(found, field.name)[own] = getattr(messages, field.name)[own]

    together(*(partial(one, part) for part in range(len(parts.blocks))))
    return found


def solve_split(
    graph: FactorGraph,
    part_of_segment: NDArray[np.integer],
    *,
    sweeps_per_exchange: int = 5,
    rounds: int = 40,
    epsilon: float = 0.0,
    plane_count: float = 0.0,
    label_count: float = 0.0,
    factor_count: float = 1.0,
    gap_tolerance: float = 1e-6,
    progress_tolerance: float = 1e-6,
    messages: Messages | None = None,
    incumbent: tuple[NDArray[np.integer], NDArray[np.integer]] | None = None,
    topology: Topology | None = None,
) -> Solution:
    """Minimise the energy of a factor graph, part by part; see `slanted.solver.convex_bp.solve`.

    Parameters
    ----------
    graph
        Costs of planes, labels, edges and junctions.
    part_of_segment
        (n,) part of each segment, from 0 on.
    sweeps_per_exchange, rounds
        Sweeps of each part before an exchange, and the most exchanges.
    epsilon, plane_count, label_count, factor_count, gap_tolerance, progress_tolerance
        As of `solve`.
    messages, incumbent, topology
        As of `solve`.
    """
    part = np.asarray(part_of_segment)
    if part.shape != (len(graph.plane_costs),) or part.dtype.kind not in "iu" or part.min() < 0:
        raise InputError(
            f"part_of_segment: expected {len(graph.plane_costs)} integers from 0 on, got shape "
            f"{part.shape} of type {part.dtype}; give each segment its part"
        )
    if epsilon < 0 or rounds < 0 or sweeps_per_exchange < 1:
        raise InputError(
            "solve_split: expected epsilon >= 0, rounds >= 0 and sweeps_per_exchange >= 1, got "
            f"{epsilon}, {rounds} and {sweeps_per_exchange}"
        )
    epsilon = float(epsilon)  # kernels compile anew for integers
    problem = build_problem(
        graph, plane_count=plane_count, label_count=label_count, factor_count=factor_count
    )
    topology = topology or build_topology(graph)
    parts = cut(graph, part.astype(np.int32))
    copy = divide(problem, parts)
    start = starting_messages(graph, messages)
    run = Run(graph, problem, topology, start, gap_tolerance)
    if incumbent is not None:
        run.propose(run.decoder.labelling(*incumbent))
    run.check(0, epsilon)
    rule: Rule = "sweeps"
    whole, divided, moved = agree(start, Messages.zeros(graph), parts)
    for k in range(1, rounds + 1):
        own = sweep_own(graph, topology, copy, divided, moved, parts, sweeps_per_exchange, epsilon)
        whole, divided, moved = agree(own, moved, parts)
        run.messages = whole
        sweep = k * sweeps_per_exchange
        if sweep >= run.decode_at:
            run.decode(sweep, epsilon)
        if run.check(sweep, epsilon):
            rule = "gap"
            break
        if run.progress() <= progress_tolerance:
            rule = "progress"
            break
    run.finish(True, epsilon)
    return run.solution(epsilon, rule)


def _distinct(parts: Ints) -> Ints:
    """Return how many different numbers each row holds."""
    ordered = np.sort(parts, axis=1)
    distinct: Ints = (1 + (ordered[:, 1:] != ordered[:, :-1]).sum(axis=1)).astype(np.int32)
    return distinct


def _divided(junctions: Junctions3or4, copies: Ints) -> Junctions3or4:
    """Divide tables by the number of copies: each kind of table becomes one for each number."""
    tables: Floats = np.concatenate([junctions.tables / m for m in range(1, MOST_COPIES + 1)])
    return Junctions3or4(
        kinds=(junctions.kinds + (copies - 1) * len(junctions.tables)).astype(np.int32),
        tables=tables,
        counts=junctions.counts / copies,
    )
