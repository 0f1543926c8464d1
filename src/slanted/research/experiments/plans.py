"""Experiments that compare settings or methods, a row each: what to run, and how tables come of it.

Figures of the paper are for KITTI 2012, where ours are for whatever frames are given, and for the
Middlebury scenes at its sizes and with its masks. They are there to compare orders and shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from slanted.errors import SlantedError
from slanted.evaluation.datasets import find_frames
from slanted.evaluation.datasets.splits import has_splits
from slanted.evaluation.metrics import mean_metrics
from slanted.output.plots import Chart, Series
from slanted.output.text import plural
from slanted.research.experiments.jobs.frames import SECONDS, FrameJob, TimedJob
from slanted.research.experiments.measurements import (
    Job,
    Measured,
    Scores,
    Store,
    measure_all,
    problems_of,
)
from slanted.research.experiments.outcome import Outcome
from slanted.research.experiments.tables import Cell, Row, Table
from slanted.research.methods import FULL_MODEL

if TYPE_CHECKING:
    from slanted.evaluation.datasets import Frame
    from slanted.settings import Settings

KITTI, MIDDLEBURY = "kitti2015", "middlebury"
BOTH = ("noc", "all")
METRICS = {
    KITTI: tuple(f"out-{k}px-{pixels}" for k in (2, 3, 4, 5) for pixels in BOTH),
    MIDDLEBURY: tuple(f"out-{k}px-{pixels}" for k in (1, 2, 3, 4, 5) for pixels in BOTH),
}
"""Columns of the paper's tables."""
MAIN = "out-3px"
"""The metric of plots and findings."""
DIFFERS = {
    KITTI: "The paper's figures are for KITTI 2012, ours for KITTI 2015.",
    MIDDLEBURY: "The paper's figures are for its own sizes and masks of the scenes, ours for those "
    "of the files that were given.",
}
IN_PAPER = ", in the paper"


@dataclass(frozen=True)
class Context:
    """What experiments run on, and with.

    Parameters
    ----------
    data
        Folders of datasets, by name.
    folder
        Where measurements are kept, in ``measurements``.
    limit
        At most this many frames of each split, and a few scenes where there are none.
    workers
        Processes.
    results
        Folders with disparities of the user's own, by the names of their rows.
    progress
        Called with a line after each measurement.
    """

    data: Mapping[str, Path]
    folder: Path
    limit: int | None = None
    workers: int = 1
    results: Mapping[str, Path] = field(default_factory=dict)
    progress: Callable[[str], None] | None = None

    def measure(self, jobs: Sequence[Job]) -> list[Measured]:
        """Make or read measurements."""
        store = Store(self.folder / "measurements")
        return measure_all(jobs, store, self.workers, self.progress)

    def frames(self, part: Part) -> tuple[list[Frame], list[str]]:
        """Return the frames of a part, and what is missing of it."""
        if part.dataset not in self.data:
            return [], [f"{part.dataset}: no folder was given; add --data {part.dataset}:PATH"]
        problems: dict[str, str] = {}
        folder = self.data[part.dataset]
        split: str | None = part.split
        if part in (VALIDATION, TEST) and folder.is_dir() and not has_splits(folder):
            split = None
            problems[part.split] = "no split.json names these frames, so all were taken"
        try:
            found = find_frames(part.dataset, folder, split, self.limit, problems=problems)
        except SlantedError as error:
            return [], [f"{part.dataset}: {error}"]
        return found, [f"{part.dataset}, {name}: {problem}" for name, problem in problems.items()]


@dataclass(frozen=True)
class Part:
    """Some frames of a dataset."""

    dataset: str
    split: str

    @property
    def key(self) -> str:
        """Return a name for files."""
        return f"{self.dataset}-{self.split}"


VALIDATION, TEST = Part(KITTI, "validation"), Part(MIDDLEBURY, "test")
TRAINING, MIDDLEBURY_TRAINING = Part(KITTI, "train"), Part(MIDDLEBURY, "train")


@dataclass(frozen=True)
class Entry:
    """A row: a method with settings, and what the paper has for it.

    Parameters
    ----------
    name
        Of the row.
    settings
        All of them.
    method
        What `slanted.research.experiments.jobs.frames.FrameJob` knows.
    paper
        By dataset, in the order of the plan's metrics, as far as it goes.
    """

    name: str
    settings: Settings
    method: str = FULL_MODEL
    paper: Mapping[str, tuple[float, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Plan:
    """A table for each part, a row for each entry.

    Parameters
    ----------
    name, shows
        As in `Outcome`.
    entries
        By part.
    rows_are
        What the entries' names are: numbers on the axis of a plot if it is not empty.
    metrics
        By dataset.
    times
        Columns of times, if any.
    quoted
        By dataset, rows that are in the paper only.
    """

    name: str
    shows: str
    entries: Mapping[Part, Sequence[Entry]]
    rows_are: str = ""
    metrics: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: METRICS)
    times: tuple[str, ...] = ()
    quoted: Mapping[str, Mapping[str, tuple[float, ...]]] = field(default_factory=dict)


def run_plan(plan: Plan, context: Context) -> Outcome:
    """Measure what a plan asks for, as far as the data are there."""
    tables: dict[str, Table] = {}
    charts: dict[str, Chart] = {}
    missing: list[str] = []
    for part, entries in plan.entries.items():
        if not entries:
            continue
        frames, gone = context.frames(part)
        missing += gone
        if not frames:
            continue
        table, problems = _measure_part(plan, part, entries, frames, context)
        missing += problems
        tables[part.key] = table
        charts |= charts_of(plan, part, table)
    return Outcome(plan.name, plan.shows, tables, charts, missing=tuple(dict.fromkeys(missing)))


def _measure_part(
    plan: Plan, part: Part, entries: Sequence[Entry], frames: list[Frame], context: Context
) -> tuple[Table, list[str]]:
    """Return the means over the frames that every entry could be measured on.

    An entry that could be measured on none is left out.
    """
    kind = TimedJob if plan.times else FrameJob
    jobs = [
        kind(part.dataset, frame, entry.settings, entry.method, entry.name)
        for entry in entries
        for frame in frames
    ]
    measured = context.measure(jobs)
    found = [measured[k * len(frames) : (k + 1) * len(frames)] for k in range(len(entries))]
    pairs = [(e, row) for e, row in zip(entries, found, strict=True) if not all_failed(row)]
    common = [k for k in range(len(frames)) if not any(row[k].problem for _, row in pairs)]
    metrics = (*plan.metrics[part.dataset], *plan.times)
    rows: list[Row] = []
    for entry, row in pairs:
        scores = [row[k].scores for k in common]
        rows += rows_for(entry, part.dataset, _summary(scores), metrics)
    rows += [
        Row(f"{name}{IN_PAPER}", _quoted(figures, metrics), quoted=True)
        for name, figures in plan.quoted.get(part.dataset, {}).items()
    ]
    over = plural(len(common), "frame")
    title = f"{part.dataset}, {part.split}: means over {over}, percent of pixels"
    if plan.rows_are:
        title += f"; rows: {plan.rows_are}"
    notes = [DIFFERS[part.dataset]] if any(row.quoted for row in rows) else []
    notes += [
        f"{entry.name} is there for {plural(len(row) - failed, 'frame')} of {len(row)}; the means "
        "of all rows are over these only."
        for entry, row in pairs
        if (failed := sum(bool(m.problem) for m in row))
    ]
    return Table(title, metrics, tuple(rows), tuple(notes), over), problems_of(jobs, measured)


def all_failed(measured: Sequence[Measured]) -> bool:
    """Return whether nothing could be measured."""
    return all(m.problem for m in measured)


def _summary(scores: Sequence[Scores]) -> dict[str, float]:
    """Return means, but medians of times, which a busy machine spoils now and then."""
    if not scores:
        return {}
    times = [name for name in scores[0] if name.endswith(SECONDS)]
    return mean_metrics(scores) | {t: median(score[t] for score in scores) for t in times}


def rows_for(
    entry: Entry, dataset: str, mean: Mapping[str, float], metrics: tuple[str, ...]
) -> list[Row]:
    """Return an entry's row, and below it the paper's."""
    cells: list[Cell] = [mean.get(metric) for metric in metrics]
    rows = [Row(entry.name, tuple(cells))]
    if dataset in entry.paper:
        quoted = _quoted(entry.paper[dataset], metrics)
        rows.append(Row(f"{entry.name}{IN_PAPER}", quoted, quoted=True))
    return rows


def _quoted(figures: Sequence[float], metrics: tuple[str, ...]) -> tuple[Cell, ...]:
    """Return the paper's figures, as far as they go, as cells."""
    return (*figures, *[None] * (len(metrics) - len(figures)))


def charts_of(plan: Plan, part: Part, table: Table) -> dict[str, Chart]:
    """Return a plot of the main metric, and of the time if rows are numbers."""
    title = f"{plan.name}: {part.dataset}, {part.split}"
    ours = [row for row in table.rows if not row.quoted]
    columns = [f"{MAIN}-{pixels}" for pixels in BOTH if f"{MAIN}-{pixels}" in table.columns]
    if not columns:  # those that there are
        columns = list(table.columns[:2])
    if not plan.rows_are:
        names = {row.name for row in ours}
        table = replace(  # what is in the paper only stands in the table
            table,
            rows=tuple(r for r in table.rows if r.name.removesuffix(IN_PAPER) in names),
        )
        series = [some for column in columns for some in bars(table, column)]
        return {part.key: Chart(title, "percent of pixels", "", tuple(series), "bars")}
    places = tuple(float(row.name) for row in ours)

    def curve(column: str) -> Series:
        return Series(column, places, _figures(table, column))

    curves = tuple(curve(column) for column in columns)
    charts = {part.key: Chart(title, plan.rows_are, "percent of pixels", curves)}
    if plan.times:
        times = tuple(curve(column) for column in plan.times)
        charts[f"{part.key}-time"] = Chart(title, plan.rows_are, "seconds, one thread", times)
    return charts


def bars(table: Table, column: str) -> list[Series]:
    """Return our figures of a column, a bar for each row, and the paper's beside them."""
    place = table.columns.index(column)
    found = []
    for quoted in (False, True):
        rows = [row for row in table.rows if row.quoted == quoted]
        pairs = [(row.name.removesuffix(IN_PAPER), row.cells[place]) for row in rows]
        known = [(name, cell) for name, cell in pairs if cell is not None]
        if known:
            names, cells = zip(*known, strict=True)
            found.append(Series(column + IN_PAPER * quoted, names, cells, quoted))
    return found


def _figures(table: Table, column: str) -> tuple[float, ...]:
    place = table.columns.index(column)
    cells = [row.cells[place] for row in table.rows if not row.quoted]
    return tuple(float("nan") if cell is None else cell for cell in cells)
