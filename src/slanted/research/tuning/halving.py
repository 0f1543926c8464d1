"""Successive halving: many candidates on few pairs, few candidates on many.

References
----------
.. [1] K. Jamieson, A. Talwalkar, "Non-stochastic best arm identification and hyperparameter
   optimization", AISTATS 2016.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slanted.research.tuning.objective import score
from slanted.research.tuning.runner import Task

if TYPE_CHECKING:
    from slanted.research.tuning.candidates import Candidate
    from slanted.research.tuning.log import TuningLog
    from slanted.research.tuning.objective import Pair, Target
    from slanted.research.tuning.runner import Runner


@dataclass(frozen=True)
class Standing:
    """The standing of a candidate on a rung."""

    candidate: Candidate
    score: float  # weighted mean over the datasets
    means: dict[str, float]  # mean metric of each dataset
    seconds: float  # mean time of a pair on one thread


@dataclass(frozen=True)
class Rung:
    """A round: its pairs' names, the standings, best first, and the number of new measurements."""

    pairs: tuple[str, ...]
    standings: tuple[Standing, ...]
    measured: int


def successive_halving(
    candidates: Sequence[Candidate],
    plan: Sequence[Sequence[Pair]],
    targets: Sequence[Target],
    *,
    eta: float,
    log: TuningLog,
    runner: Runner,
    progress: Callable[[str], None] | None = None,
) -> list[Rung]:
    """Measure all candidates on the pairs of the first rung, the best 1/η on those of the next, ….

    Unlike in the reference, candidate 0, the current settings, always stays, so that the winner
    is compared with it on the same pairs. Ties go to the earlier candidate.

    `plan` has the pairs of each rung, from `slanted.research.tuning.objective.rung_pairs`. What
    the `log` holds is not measured again. `progress` is called with a line after every measurement.
    """
    staying = list(candidates)
    rungs: list[Rung] = []
    for pairs in plan:
        # Go pair by pair, so that what candidates share on a pair is computed once.
        tasks = [
            Task(candidate, pair)
            for pair in pairs
            for candidate in staying
            if (candidate.number, pair.name) not in log.found
        ]
        place = f"rung {len(rungs) + 1}/{len(plan)}"
        for done, (task, measurement) in enumerate(runner.measured(tasks), 1):
            log.append(task.candidate, task.pair.name, measurement)
            if progress is not None:
                progress(
                    f"{place}, {done}/{len(tasks)}: candidate {task.candidate.number} on "
                    f"{task.pair.name}"
                )
        standings = sorted(
            (_standing(candidate, pairs, targets, log) for candidate in staying),
            key=lambda standing: (standing.score, standing.candidate.number),
        )
        rungs.append(Rung(tuple(pair.name for pair in pairs), tuple(standings), len(tasks)))
        best = {s.candidate.number for s in standings[: max(1, math.ceil(len(standings) / eta))]}
        staying = [c for c in staying if c.number in best or c.number == 0]
    return rungs


def _standing(
    candidate: Candidate, pairs: Sequence[Pair], targets: Sequence[Target], log: TuningLog
) -> Standing:
    found = {pair.name: log.found[candidate.number, pair.name] for pair in pairs}
    total, means = score(targets, pairs, lambda pair: found[pair.name].scores)
    seconds = math.fsum(measured.seconds for measured in found.values()) / len(found)
    return Standing(candidate, total, means, seconds)
