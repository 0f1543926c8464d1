"""A whole search, from the space to the winner."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slanted.errors import InputError
from slanted.research.tuning.candidates import draw_candidates
from slanted.research.tuning.halving import Rung, Standing, successive_halving
from slanted.research.tuning.log import TuningLog, search_name
from slanted.research.tuning.objective import Target, rung_pairs
from slanted.research.tuning.runner import runner

if TYPE_CHECKING:
    from slanted.research.tuning.search_space import Dimension
    from slanted.settings import Settings


@dataclass(frozen=True)
class Tuning:
    """What a search found.

    Parameters
    ----------
    paths
        The settings that varied.
    rungs
        What each rung came to; the last one's best is the winner.
    resumed
        Measurements that the log held at the start.
    """

    paths: tuple[str, ...]
    rungs: tuple[Rung, ...]
    resumed: int

    @property
    def winner(self) -> Standing:
        """The best on all pairs."""
        return self.rungs[-1].standings[0]

    @property
    def start(self) -> Standing:
        """The settings the search began with, on the same pairs."""
        return next(s for s in self.rungs[-1].standings if s.candidate.number == 0)

    def summary(self) -> dict[str, Any]:
        """Return scores, values and costs, for JSON."""

        def described(standing: Standing) -> dict[str, Any]:
            return {
                "candidate": standing.candidate.number,
                "score": standing.score,
                "means": standing.means,
                "seconds": standing.seconds,
                "values": dict(zip(self.paths, standing.candidate.values, strict=True)),
            }

        return {
            "winner": described(self.winner),
            "start": described(self.start),
            "rungs": [
                {
                    "candidates": len(rung.standings),
                    "pairs": len(rung.pairs),
                    "measured": rung.measured,
                    "best": rung.standings[0].score,
                }
                for rung in self.rungs
            ],
            "resumed": self.resumed,
        }


def tune(
    targets: Sequence[Target],
    space: Sequence[Dimension],
    start: Settings,
    log: Path | str,
    *,
    candidates: int = 32,
    change: int | None = None,
    rungs: int = 3,
    eta: float = 3.0,
    workers: int = 1,
    progress: Callable[[str], None] | None = None,
) -> Tuning:
    """Look for settings with a lower score than the current ones.

    Neither the candidates nor the winner depend on the number of workers, or on how often the
    search was stopped and taken up again.

    Parameters
    ----------
    targets
        Datasets, with a metric and a weight each.
    space
        The settings that vary; see `slanted.research.tuning.search_space`.
    start
        The current settings, whose seed is also that of the search.
    log
        CSV table of all measurements; if it exists, the search goes on from it.
    candidates, change
        How many to draw, and how many settings each changes; see `draw_candidates`.
    rungs
        Times that candidates are dropped, and by which the pairs double, plus one.
    eta
        Of each rung the best 1/eta stay.
    workers
        Processes, of one thread each.
    progress
        Called with a line after every measurement.

    Raises
    ------
    slanted.errors.InputError, slanted.errors.FileError
        If an argument, a file or the log cannot be used.
    """
    if not targets or len({target.dataset for target in targets}) < len(targets):
        raise InputError("targets: expected at least one dataset, each once; leave out repetitions")
    if rungs < 1 or not eta > 1:
        raise InputError(
            f"rungs, eta: expected at least 1 and more than 1, got {rungs} and {eta:g}; raise them"
        )
    drawn = draw_candidates(space, start, candidates, change)
    plan = rung_pairs(targets, rungs, start.seed)
    table = TuningLog(Path(log), search_name(start, space, change), space, drawn)
    resumed = len(table.found)
    with runner(workers) as running:
        climbed = successive_halving(
            drawn, plan, targets, eta=eta, log=table, runner=running, progress=progress
        )
    return Tuning(tuple(dimension.path for dimension in space), tuple(climbed), resumed)
