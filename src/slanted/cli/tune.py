"""``slanted tune``: find settings that score better on datasets."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from slanted.cli import options
from slanted.cli.help import MORE, RecordedCommand, new_command, option
from slanted.cli.progress import Report, table
from slanted.errors import InputError

if TYPE_CHECKING:
    from slanted.research.tuning.objective import Target
    from slanted.research.tuning.search import Tuning
    from slanted.research.tuning.search_space import Dimension
    from slanted.settings import Settings


@new_command(name="tune", cls=RecordedCommand, short_help="Look for better settings on datasets.")
@click.argument("datasets", nargs=-1, required=True, metavar="DATASET:PATH...")
@options.output("slanted-tuned.toml", "File for the settings found, for --settings.", "FILE")
@option("--log", group=MORE, type=options.PATH, metavar="FILE",
        help="Table of all measurements; an existing one is continued. By default the "
        "output's name with .csv.")  # fmt: skip
@option("--vary", "varied", multiple=True, metavar="KEY=RANGE",
        help="A setting and its values: LOW:HIGH, LOW:HIGH:log, x0.5:x2 (times the current "
        "value) or A,B,C. Repeatable.")  # fmt: skip
@option("--space", type=options.PATH, metavar="FILE",
        help="The same as a TOML file, laid out like settings. Without --vary and --space, "
        "settings of the model and of inference vary.")  # fmt: skip
@option("--candidates", type=click.IntRange(min=2), default=32, show_default=True,
        metavar="N", help="Candidates to try, the current settings included.")  # fmt: skip
@option("--change", group=MORE, type=click.IntRange(min=1), metavar="N",
        help="Number of settings in which a candidate differs from the current ones; by "
        "default all.")  # fmt: skip
@option("--rungs", type=click.IntRange(min=1), default=3, show_default=True, metavar="N",
        group=MORE,
        help="Rounds; the last is on all pairs, each earlier one on half as many as the "
        "next.")  # fmt: skip
@option("--eta", type=float, default=3.0, show_default=True, metavar="X",
        group=MORE, help="The best 1/X of each round go on to the next.")  # fmt: skip
@option("--metric", "metrics", group=MORE, multiple=True, metavar="[DATASET=]NAME",
        help="The error to reduce, e.g. D1 or out-1px-noc; without -noc or -all the mean of "
        "both. [default: out-3px]")  # fmt: skip
@option("--weight", "weights", group=MORE, multiple=True, metavar="DATASET=W",
        help="Weight of a dataset's mean; by default 1.")  # fmt: skip
@options.split("train")
@options.limit("Use only the first N frames of each dataset.")
@options.workers("Processes, of one thread each; by default as many as --threads.")
@options.settings
@options.report
def command(
    settings: Settings,
    datasets: tuple[str, ...],
    output: Path,
    log: Path | None,
    varied: tuple[str, ...],
    space: Path | None,
    candidates: int,
    change: int | None,
    rungs: int,
    eta: float,
    metrics: tuple[str, ...],
    weights: tuple[str, ...],
    split: str,
    limit: int | None,
    workers: int | None,
    report: Report,
) -> None:
    """Look for settings with fewer errors, starting from the current ones.

    Each DATASET:PATH is a dataset (kitti2012, kitti2015, middlebury, middlebury2014) and its
    folder. Repeat the command to continue a search that was stopped.
    """
    from slanted.research.tuning.search import Schedule, tune, write_settings
    from slanted.runtime.threads import core_count

    options.check_file(output, ".toml")
    log = log or output.with_suffix(".csv")
    with report:
        targets = _targets(datasets, split, limit, metrics, weights)
        tuning = tune(
            targets,
            _space(varied, space, settings),
            settings,
            log,
            schedule=Schedule(candidates, change, rungs, eta),
            workers=workers or settings.threads or core_count(),
            progress=report.progress,
        )
        used = "; ".join(f"{t.dataset}, {t.metric}, weight {t.weight:g}" for t in targets)
        notes = [options.command_line(), f"Split {split}: {used}."]
        write_settings(output, tuning, notes)
    data = {**tuning.summary(), "output": str(output), "log": str(log)}
    report.outcome(data, [*_lines(tuning), f"wrote {output} and {log}"], always=True)


def _space(varied: Sequence[str], file: Path | None, settings: Settings) -> tuple[Dimension, ...]:
    """Return the settings that vary, from the file and from the options, which take precedence."""
    from slanted.research.tuning.search_space import default_space, load_space, parse_space

    if not varied and file is None:
        return default_space(settings)
    found = {d.path: d for d in (load_space(file, settings) if file is not None else ())}
    texts = _assignments("--vary", varied)
    return tuple({**found, **{d.path: d for d in parse_space(texts, settings)}}.values())


def _targets(
    datasets: Sequence[str],
    split: str,
    limit: int | None,
    metrics: Sequence[str],
    weights: Sequence[str],
) -> list[Target]:
    from slanted.evaluation.datasets import DATASETS, find_frames
    from slanted.research.tuning.objective import DEFAULT_METRIC, Target

    folders: dict[str, str] = {}
    for text in datasets:
        name, folder = options.dataset_folder(text)
        if name in folders:
            raise click.UsageError(f"{name}: expected each dataset once, got it twice")
        folders[name] = folder
    common = [text for text in metrics if "=" not in text]
    if len(common) > 1:
        raise click.UsageError("--metric: expected one for all datasets, got several")
    own = _assignments("--metric", [text for text in metrics if "=" in text])
    heavy = _assignments("--weight", weights)
    for name in (*own, *heavy):
        if name not in folders:
            raise click.UsageError(f"--metric, --weight: {name} is none of the datasets given")
    for name in folders:
        if name not in DATASETS:
            raise InputError(f"{name}: expected a dataset, one of {', '.join(DATASETS)}")
    return [
        Target(
            name,
            tuple(find_frames(name, folder, split, limit)),
            own.get(name, common[0] if common else DEFAULT_METRIC),
            _number("--weight", heavy.get(name, "1")),
        )
        for name, folder in folders.items()
    ]


def _assignments(option: str, texts: Sequence[str]) -> dict[str, str]:
    """Return values by key; each key may be given only once."""
    found: dict[str, str] = {}
    for key, value in options.assignments(option, texts):
        if key in found:
            raise click.UsageError(f"{option}: expected {key} once, got it twice")
        found[key] = value
    return found


def _number(option: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise click.UsageError(f"{option}: expected a number, got {text!r}") from None


def _lines(tuning: Tuning) -> list[str]:
    """Return tables of the rungs, of the finalists, and of what the winner changes."""
    from slanted.settings.fields import toml_value

    rungs = [
        (str(number), str(len(r.standings)), str(len(r.pairs)), str(r.measured),
         f"{r.standings[0].score:.3f}")
        for number, r in enumerate(tuning.rungs, 1)
    ]  # fmt: skip
    last: list[Sequence[str]] = [
        ("start" if s.candidate.number == 0 else str(s.candidate.number), f"{s.score:.3f}",
         *(f"{mean:.3f}" for mean in s.means.values()), f"{s.seconds:.2f}")
        for s in tuning.rungs[-1].standings
    ]  # fmt: skip
    values: list[Any] = [s.candidate.values for s in (tuning.start, tuning.winner)]
    changed = [
        (path, toml_value(before).strip('"'), toml_value(after).strip('"'))
        for path, before, after in zip(tuning.paths, *values, strict=True)
        if before != after
    ]
    lines = table(("rung", "candidates", "pairs", "measured", "best score"), rungs)
    lines += ["", *table(("candidate", "score", *tuning.start.means, "seconds a pair"), last), ""]
    if not changed:
        return [*lines, "the current settings stay the best"]
    return [*lines, *table(("setting", "before", "after"), changed)]
