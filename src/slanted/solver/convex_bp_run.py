"""The result of convex belief propagation, and what a run keeps on the way to it."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, nan
from typing import Literal

import numpy as np

from slanted.errors import InputError
from slanted.runtime.arrays import Floats, Ints
from slanted.runtime.threads import together
from slanted.solver.decode import Decoder, Labelling
from slanted.solver.factor_graph import FactorGraph
from slanted.solver.messages import (
    Messages,
    Problem,
    dual_terms,
    rounded_down,
    roundings,
    sum_exactly,
)
from slanted.solver.messages_sweep import Sweeper
from slanted.solver.messages_topology import Topology

Rule = Literal["gap", "progress", "sweeps"]

FIRST_DECODING = 20
"""Sweeps before the first labelling is read off; then after 50, 100, 200 and so on."""


@dataclass(frozen=True, eq=False)
class Trace:
    """What the run knew at each of its checks.

    Parameters
    ----------
    sweep
        Sweeps done.
    dual
        D_ε of the messages, at the ε of the last sweep; not a number where it was not looked at.
    bound
        Certified D_0 of the messages; −∞ where it was not looked at.
    energy
        Of the best labelling so far, infinite before the first.
    """

    sweep: Ints
    dual: Floats
    bound: Floats
    energy: Floats


@dataclass(frozen=True, eq=False)
class Solution:
    """The best labelling found, and how good it provably is.

    Parameters
    ----------
    planes, labels
        (n,) particle of each segment, (E,) label of each edge.
    energy
        Their cost.
    bound
        No labelling of this graph costs less: the best certified D_0 of all checks. It says nothing
        of planes that are not among the particles.
    beliefs
        (n, N) B_i of the last messages. With ε = 0 no labelling that gives segment i particle k
        costs less than D_0 of these messages plus B_i(k) − min B_i; with ε > 0 the belief of k is
        proportional to exp(−B_i(k) / (ε ĉ_i)).
    messages
        The last ones, for a warm start.
    sweeps
        Sweeps done.
    rule
        What ended them: ``gap``, ``progress`` or ``sweeps``.
    trace
        The course of the run.
    """

    planes: Ints
    labels: Ints
    energy: float
    bound: float
    beliefs: Floats
    messages: Messages
    sweeps: int
    rule: Rule
    trace: Trace

    @property
    def gap(self) -> float:
        """How far the energy can at most be above the optimum."""
        return self.energy - self.bound


class Run:
    """Messages, the best labelling and the best bound of a run, and their course."""

    def __init__(
        self,
        graph: FactorGraph,
        problem: Problem,
        topology: Topology,
        messages: Messages,
        gap_tolerance: float,
    ) -> None:
        self.sweeper = Sweeper(problem, topology)
        self.graph = graph
        self.problem = problem
        self.messages = messages
        self.decoder = Decoder(graph, problem, topology, self.sweeper)
        self.best = Labelling(np.empty(0, np.int32), np.empty(0, np.int32), inf)
        self.bound = -inf
        self.decode_at = FIRST_DECODING
        self.rows: list[tuple[int, float, float, float]] = []
        self._gap_tolerance = gap_tolerance
        self._decoded = (-1, 0.0)

    def propose(self, candidate: Labelling) -> None:
        """Keep the better labelling, the older of equal ones."""
        if candidate.energy < self.best.energy:
            self.best = candidate

    def decode(self, sweep: int, epsilon: float) -> None:
        """Read a labelling off the messages; the next time, after about twice the sweeps."""
        self.propose(self.decoder.decode(self.messages, epsilon))
        while self.decode_at <= sweep:
            self.decode_at = _next_decoding(self.decode_at)
        self._decoded = (sweep, epsilon)

    def check(self, sweep: int, epsilon: float) -> bool:
        """Evaluate dual and bound, write them down, and return whether the gap is closed."""
        terms, made_by = together(
            lambda: dual_terms(self.graph, self.problem, self.messages, 0.0),
            lambda: roundings(self.graph, self.messages),
        )
        bound = rounded_down(terms, made_by)
        if epsilon > 0:
            terms = dual_terms(self.graph, self.problem, self.messages, epsilon)
        self.bound = max(self.bound, bound)
        self.rows.append((sweep, sum_exactly(terms), bound, self.best.energy))
        return self.best.energy - self.bound <= self._gap_tolerance

    def begin(self) -> bool:
        """Write down where the run starts, without dual and bound; the gap is open."""
        self.rows.append((0, nan, -inf, self.best.energy))
        return False

    def progress(self) -> float:
        """Return by how much the dual rose since the last check, relative to itself."""
        before, now = self.rows[-2][1], self.rows[-1][1]
        return (now - before) / max(abs(now), np.finfo(np.float64).tiny)

    def finish(self, decode: bool, epsilon: float) -> None:
        """Make sure that there is a labelling, and that it has seen the last messages."""
        if decode and self._decoded[0] < self.rows[-1][0]:
            self.decode(self.rows[-1][0], epsilon)
        elif self.best.energy == inf:
            self.propose(self.decoder.independent(self.messages, epsilon))
        self.rows[-1] = (*self.rows[-1][:3], self.best.energy)

    def solution(self, epsilon: float, rule: Rule) -> Solution:
        """Return what the run came to."""
        sweep, values, bound, energy = zip(*self.rows, strict=True)
        if self._decoded == (sweep[-1], epsilon):
            beliefs = self.decoder.plane_beliefs
        else:
            beliefs = self.sweeper.plane_beliefs(self.messages, epsilon)
        return Solution(
            planes=self.best.planes,
            labels=self.best.labels,
            energy=self.best.energy,
            bound=self.bound,
            beliefs=beliefs,
            messages=self.messages,
            sweeps=sweep[-1],
            rule=rule,
            trace=Trace(
                np.array(sweep, np.int32), np.array(values), np.array(bound), np.array(energy)
            ),
        )


def _next_decoding(sweep: int) -> int:
    """Return the number after this one in the series 20, 50, 100, 200, 400 and so on."""
    return 50 if sweep == FIRST_DECODING else 2 * sweep


def starting_messages(graph: FactorGraph, messages: Messages | None) -> Messages:
    """Return messages that may be written to: zeros, or a copy of those given."""
    zeros = Messages.zeros(graph)
    if messages is None:
        return zeros
    start = messages.copy()
    for name, value in vars(zeros).items():
        given = getattr(start, name)
        if given.shape != value.shape or not np.isfinite(given).all():
            raise InputError(
                f"messages: expected finite {name} of shape {value.shape}, got shape "
                f"{given.shape}; start from messages of a graph of the same structure"
            )
    return start
