"""A whole search, from the space to the winner."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slanted import __version__
from slanted.errors import InputError, plural
from slanted.io.files import write_bytes
from slanted.research.tuning.candidates import draw_candidates
from slanted.research.tuning.halving import Rung, Standing, successive_halving
from slanted.research.tuning.log import TuningLog, search_name
from slanted.research.tuning.objective import Target, rung_pairs
from slanted.research.tuning.runner import runner
from slanted.research.tuning.search_space import WITHOUT_EFFECT
from slanted.settings import Settings, leaves
from slanted.settings.fields import toml_value

if TYPE_CHECKING:
    from slanted.research.tuning.search_space import Dimension


@dataclass(frozen=True)
class Tuning:
    """The outcome of a search."""

    paths: tuple[str, ...]  # the settings that varied
    rungs: tuple[Rung, ...]  # the outcome of each rung; the best of the last one is the winner
    resumed: int  # measurements that the log held at the start

    @property
    def winner(self) -> Standing:
        """The candidate that is best on all pairs."""
        return self.rungs[-1].standings[0]

    @property
    def start(self) -> Standing:
        """The current settings, on the same pairs."""
        return next(s for s in self.rungs[-1].standings if s.candidate.number == 0)

    def summary(self) -> dict[str, Any]:
        """Return scores, values and times, for JSON."""

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
                {"candidates": len(rung.standings), "pairs": len(rung.pairs),
                 "measured": rung.measured, "best": rung.standings[0].score}
                for rung in self.rungs
            ],
            "resumed": self.resumed,
        }  # fmt: skip


@dataclass(frozen=True)
class Schedule:
    """How many candidates are tried, and how fast they are dropped."""

    candidates: int = 32
    change: int | None = None  # the number of settings that a candidate changes; None for all
    rungs: int = 3  # rounds; the last is on all pairs, each earlier one on half as many as the next
    eta: float = 3.0  # the best 1/eta of each rung stay


def tune(
    targets: Sequence[Target],
    space: Sequence[Dimension],
    start: Settings,
    log: Path | str,
    *,
    schedule: Schedule = Schedule(),
    workers: int = 1,
    progress: Callable[[str], None] | None = None,
) -> Tuning:
    """Look for settings with a lower score than the current ones.

    The outcome does not depend on the number of workers, nor on how often the search was stopped
    and continued.

    Parameters
    ----------
    targets, space
        Datasets with their metrics and weights, and the settings that vary.
    start
        The current settings, whose seed is also that of the search.
    log
        CSV table of all measurements; if it exists, the search continues from it.
    schedule
        The numbers of candidates and rungs.
    workers
        The number of processes, of one thread each.
    progress
        Called with a line after every measurement.
    """
    if not targets or len({target.dataset for target in targets}) < len(targets):
        raise InputError("targets: expected at least one dataset, each once; leave out repetitions")
    rungs, eta = schedule.rungs, schedule.eta
    if rungs < 1 or not eta > 1:
        raise InputError(
            f"rungs, eta: expected at least 1 and more than 1, got {rungs} and {eta:g}; raise them"
        )
    drawn = draw_candidates(space, start, schedule.candidates, schedule.change)
    plan = rung_pairs(targets, rungs, start.seed)
    table = TuningLog(Path(log), search_name(start, space, schedule.change), space, drawn)
    resumed = len(table.found)
    with runner(workers) as running:
        climbed = successive_halving(
            drawn, plan, targets, eta=eta, log=table, runner=running, progress=progress
        )
    return Tuning(tuple(dimension.path for dimension in space), tuple(climbed), resumed)


def write_settings(path: Path | str, tuning: Tuning, notes: Sequence[str] = ()) -> None:
    """Write the winner as TOML, for ``--settings``, with `notes` as comments.

    The file holds the settings that varied and all others that differ from the defaults, so that
    the preset ``default`` with this file gives the winner.
    """
    winner = tuning.winner.candidate.settings
    head = [
        f"Found by slanted {__version__}, seed {winner.seed}.",
        *notes,
        f"On {plural(len(tuning.rungs[-1].pairs), 'pair')}: {_scores(tuning.winner)}; before: "
        f"{_scores(tuning.start)}.",
    ]
    lines = [f"# {' '.join(line.split())}" for line in head]
    default = {leaf.path: leaf.value for leaf in leaves(Settings())}
    chosen = [
        (*leaf.path.rpartition("."), leaf.value)
        for leaf in leaves(winner)
        if (leaf.path in tuning.paths or leaf.value != default[leaf.path])
        and not leaf.path.startswith(WITHOUT_EFFECT)
    ]
    for section, group in groupby(chosen, key=lambda parts: parts[0]):
        lines += ["", f"[{section}]"] if section else [""]
        lines += [f"{name} = {toml_value(value)}" for _, _, name, value in group]
    write_bytes(path, ("\n".join(lines) + "\n").encode())


def _scores(standing: Standing) -> str:
    each = ", ".join(f"{name} {mean:.4f}" for name, mean in standing.means.items())
    return f"score {standing.score:.4f} ({each}; {standing.seconds:.2f} s a pair)"
