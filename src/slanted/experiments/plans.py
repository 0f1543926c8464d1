"""Experiments that compare settings or methods, a row each: what to run, and how tables come of it.

Figures of the paper are for KITTI 2012, where ours are for whatever frames are given, and for the
Middlebury scenes at its sizes and with its masks. They are there to compare orders and shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from slanted.errors import SlantedError
from slanted.evaluation.datasets import find_frames
from slanted.evaluation.methods import FULL_MODEL
from slanted.evaluation.metrics import mean_metrics
from slanted.experiments.charts import Chart, Series
from slanted.experiments.jobs.frames import FrameJob
from slanted.experiments.measurements import Job, Measured, Scores, Store, measure_all, problems_of
from slanted.experiments.outcome import Outcome
from slanted.experiments.tables import Cell, Row, Table, plural

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
SECONDS = "seconds"
MAIN = "out-3px"
"""The metric of plots and findings."""
DIFFERS = {
    KITTI: "The paper's figures are for KITTI 2012, ours for KITTI 2015.",
    MIDDLEBURY: "The paper's figures are for its own sizes and masks of the scenes.",
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
        try:
            found = find_frames(part.dataset, folder, part.split, self.limit, problems=problems)
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
        What `slanted.experiments.jobs.frames.FrameJob` knows.
    paper
        By dataset, in the order of the plan's metrics, as far as it goes.
    optional
        Left out if it cannot be measured on any frame.
    """

    name: str
    settings: Settings
    method: str = FULL_MODEL
    paper: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    optional: bool = False


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
    """

    name: str
    shows: str
    entries: Mapping[Part, Sequence[Entry]]
    rows_are: str = ""
    metrics: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: METRICS)


def run_plan(plan: Plan, context: Context) -> Outcome:
    """Measure what a plan asks for, as far as the data are there."""
    tables: dict[str, Table] = {}
    charts: dict[str, Chart] = {}
    missing: list[str] = []
    for part, entries in plan.entries.items():
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
    """Return the means over the frames that every entry could be measured on."""
    jobs = [
        FrameJob(part.dataset, frame, entry.settings, entry.method, entry.name)
        for entry in entries
        for frame in frames
    ]
    measured = context.measure(jobs)
    rows_of = {
        entry.name: measured[k * len(frames) : (k + 1) * len(frames)]
        for k, entry in enumerate(entries)
    }
    shown = [e for e in entries if not (e.optional and all(m.problem for m in rows_of[e.name]))]
    common = [k for k in range(len(frames)) if not any(rows_of[e.name][k].problem for e in shown)]
    metrics = (*plan.metrics[part.dataset], SECONDS)
    rows: list[Row] = []
    for entry in shown:
        scores = [rows_of[entry.name][k].scores for k in common]
        rows += rows_for(entry, part.dataset, _summary(scores), metrics)
    notes = [DIFFERS[part.dataset]] if any(row.quoted for row in rows) else []
    frames_text = plural(len(common), "frame")
    title = f"{part.dataset}, {part.split}: means over {frames_text}, percent of pixels"
    if plan.rows_are:
        title += f"; rows: {plan.rows_are}"
    return Table(title, metrics, tuple(rows), tuple(notes)), problems_of(jobs, measured)


def _summary(scores: Sequence[Scores]) -> dict[str, float]:
    """Return means, but of the time the median: a process compiles kernels on its first image."""
    if not scores:
        return {}
    seconds = [score[SECONDS] for score in scores if SECONDS in score]
    return mean_metrics(scores) | ({SECONDS: median(seconds)} if seconds else {})


def rows_for(
    entry: Entry, dataset: str, mean: Mapping[str, float], metrics: tuple[str, ...]
) -> list[Row]:
    """Return an entry's row, and below it the paper's."""
    cells: list[Cell] = [mean.get(metric) for metric in metrics]
    rows = [Row(entry.name, tuple(cells))]
    if dataset in entry.paper:
        printed = dict(zip(metrics, entry.paper[dataset], strict=False))
        quoted = tuple(printed.get(metric) for metric in metrics)
        rows.append(Row(f"{entry.name}{IN_PAPER}", quoted, quoted=True))
    return rows


def charts_of(plan: Plan, part: Part, table: Table) -> dict[str, Chart]:
    """Return a plot of the main metric, and of the time if rows are numbers."""
    title = f"{plan.name}: {table.title.partition(':')[0]}"
    ours = [row for row in table.rows if not row.quoted]
    columns = [f"{MAIN}-{pixels}" for pixels in BOTH if f"{MAIN}-{pixels}" in table.columns]
    if not columns:  # those that there are
        columns = list(table.columns[:2])
    if not plan.rows_are:
        series = [some for column in columns for some in bars(table, column)]
        return {part.key: Chart(title, "percent of pixels", "", tuple(series), "bars")}
    places = tuple(float(row.name) for row in ours)

    def curve(column: str) -> Series:
        return Series(column, places, _figures(table, column))

    curves, times = tuple(curve(c) for c in columns), (curve(SECONDS),)
    return {
        part.key: Chart(title, plan.rows_are, "percent of pixels", curves),
        f"{part.key}-time": Chart(title, plan.rows_are, "seconds, one thread", times),
    }


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
