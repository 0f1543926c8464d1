"""The loop that all solvers share: advance the messages, decode, check, stop."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan

import numpy as np
from numpy.typing import NDArray

from slanted.runtime.threads import together
from slanted.solver.decoder import Decoder, Labelling
from slanted.solver.dual import dual_terms, rounded_down, roundings, sum_exactly
from slanted.solver.messages import Messages
from slanted.solver.options import SolverOptions
from slanted.solver.solution import Rule, Solution, Trace
from slanted.solver.sweeps import Sweeper

Advance = Callable[[Messages, list[float]], Messages]
"""Does one sweep for each ε of a list; returns the new messages and may overwrite the old ones."""
Incumbent = tuple[NDArray[np.integer], NDArray[np.integer]]
"""States and labels that a solution must not be worse than."""

FIRST_DECODING = 20
"""Sweeps before the first labelling is decoded; others follow after 50, 100, 200 and so on."""


class Run:
    """Messages, the best labelling and the best bound of a run, and their history.

    Parameters
    ----------
    sweeper
        Sweeper of the whole graph.
    options
        When to stop.
    messages, incumbent
        What to start from, if anything.
    """

    def __init__(
        self,
        sweeper: Sweeper,
        options: SolverOptions,
        messages: Messages | None,
        incumbent: Incumbent | None,
    ) -> None:
        self._sweeper, self._options = sweeper, options
        self._messages = Messages.start(sweeper.problem.graph, messages)
        self._decoder = Decoder(sweeper)
        self._best = Labelling(np.empty(0, np.int32), np.empty(0, np.int32), inf)
        self._bound = -inf
        self._rows: list[tuple[int, float, float, float]] = []
        self._decode_at = FIRST_DECODING
        self._decoded = (-1, 0.0)
        if incumbent is not None:
            self._propose(self._decoder.labelling(*incumbent))

    def minimise(self, advance: Advance) -> Solution:
        """Advance until the gap closes, progress stops or no sweeps are left."""
        options, schedule = self._options, self._options.schedule()
        epsilon, every = float(options.epsilon), options.check_every
        settled = len(schedule) - options.max_sweeps  # from here on ε is constant
        rule: Rule = "sweeps"
        if not schedule or len(schedule) > every:
            if self._check(0, epsilon):
                rule, schedule = "gap", []
        else:  # the only check follows at the end
            self._rows.append((0, nan, -inf, self._best.energy))
        for start in range(0, len(schedule), every):
            epsilons = schedule[start : start + every]
            sweep, current = start + len(epsilons), epsilons[-1]
            self._messages = advance(self._messages, epsilons)
            if options.decode and sweep >= self._decode_at:
                self._decode(sweep, current)
            if self._check(sweep, current):
                rule = "gap"
                break
            if sweep > settled + every and self._progress() <= options.progress_tolerance:
                rule = "progress"
                break
        self._finish(epsilon)
        return self._solution(epsilon, rule)

    def _propose(self, candidate: Labelling) -> None:
        """Keep a candidate if it is better than the best labelling so far."""
        if candidate.energy < self._best.energy:
            self._best = candidate

    def _decode(self, sweep: int, epsilon: float) -> None:
        """Decode a labelling, and choose when to do so next."""
        self._propose(self._decoder.decode(self._messages, epsilon))
        while self._decode_at <= sweep:
            self._decode_at = 50 if self._decode_at == FIRST_DECODING else 2 * self._decode_at
        self._decoded = (sweep, epsilon)

    def _check(self, sweep: int, epsilon: float) -> bool:
        """Evaluate and record dual and bound; return whether the gap is closed."""
        problem, messages = self._sweeper.problem, self._messages
        terms, made_by = together(
            lambda: dual_terms(problem, messages, 0.0), lambda: roundings(problem.graph, messages)
        )
        bound = rounded_down(terms, made_by)
        if epsilon > 0:
            terms = dual_terms(problem, messages, epsilon)
        self._bound = max(self._bound, bound)
        self._rows.append((sweep, sum_exactly(terms), bound, self._best.energy))
        options = self._options
        allowed = max(options.gap_tolerance, options.relative_gap * self._bound)
        return self._best.energy - self._bound <= allowed

    def _progress(self) -> float:
        """Return by how much the dual rose since the last check, relative to itself."""
        before, now = self._rows[-2][1], self._rows[-1][1]
        return (now - before) / max(abs(now), np.finfo(np.float64).tiny)

    def _finish(self, epsilon: float) -> None:
        """Make sure that there is a labelling, and that the last messages were decoded."""
        if self._options.decode and self._decoded[0] < self._rows[-1][0]:
            self._decode(self._rows[-1][0], epsilon)
        elif self._best.energy == inf:
            self._propose(self._decoder.independent(self._messages, epsilon))
        self._rows[-1] = (*self._rows[-1][:3], self._best.energy)

    def _solution(self, epsilon: float, rule: Rule) -> Solution:
        sweep, values, bound, energy = zip(*self._rows, strict=True)
        if self._decoded == (sweep[-1], epsilon):
            beliefs = self._decoder.node_beliefs
        else:
            beliefs = self._sweeper.node_beliefs(self._messages, epsilon)
        return Solution(
            states=self._best.states,
            labels=self._best.labels,
            energy=self._best.energy,
            bound=self._bound,
            beliefs=beliefs,
            messages=self._messages,
            sweeps=sweep[-1],
            rule=rule,
            trace=Trace(
                np.array(sweep, np.int32), np.array(values), np.array(bound), np.array(energy)
            ),
        )
