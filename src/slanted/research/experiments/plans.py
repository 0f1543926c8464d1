"""Experiments that compare settings or methods: a table for each dataset, a row for each method.

The paper's numbers are for KITTI 2012, and for Middlebury at its own sizes and with its own masks.
They are quoted to compare orders and shapes, not digits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan, nan
from statistics import median
from typing import TYPE_CHECKING

from slanted.errors import plural
from slanted.evaluation.metrics import mean_metrics
from slanted.output.charts import Chart, Series
from slanted.research.experiments.data import BOTH, KITTI, MAIN, METRICS, MIDDLEBURY, Context, Part
from slanted.research.experiments.findings import Claim
from slanted.research.experiments.jobs.frames import HEIGHT, SECONDS, WIDTH, FrameJob, TimedJob
from slanted.research.experiments.measurements import Scores, problems_of
from slanted.research.experiments.outcome import Outcome
from slanted.research.experiments.tables import Cell, Row, Table
from slanted.research.methods import FULL_MODEL

if TYPE_CHECKING:
    from slanted.evaluation.datasets import Frame
    from slanted.settings import Settings

DIFFERS = {
    KITTI: "The paper's figures are for KITTI 2012, ours for KITTI 2015.",
    MIDDLEBURY: "The paper's figures are for its own sizes and masks of the scenes, ours for those "
    "of the files that were given.",
}
IN_PAPER = ", in the paper"
Numbers = tuple[float, ...]


@dataclass(frozen=True)
class Entry:
    """A row: a method with settings, and the paper's numbers for it."""

    name: str
    settings: Settings
    method: str = FULL_MODEL  # as in `FrameJob`
    # the paper's numbers by dataset, in the order of the plan's metrics; there may be fewer
    paper: Mapping[str, Numbers] = field(default_factory=dict)


@dataclass(frozen=True)
class Plan:
    """What to measure, and the claims to check."""

    name: str
    shows: str
    entries: Mapping[Part, Sequence[Entry]]  # the rows of each part
    rows_are: str = ""  # what the names of rows are, if these are numbers: an axis of charts
    # the columns of each dataset
    metrics: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: METRICS)
    times: tuple[str, ...] = ()  # more columns
    # rows of each dataset that are in the paper alone
    quoted: Mapping[str, Mapping[str, Numbers]] = field(default_factory=dict)
    claims: tuple[Claim, ...] = ()  # statements to check


def run_plan(plan: Plan, context: Context) -> Outcome:
    """Measure what a plan asks for, as far as the data are available."""
    tables: dict[str, Table] = {}
    charts: dict[str, Chart] = {}
    missing: list[str] = []
    for part, entries in plan.entries.items():
        if not entries:
            continue
        frames, gone = context.frames(part)
        missing += gone
        if frames:
            table, problems = _measure_part(plan, part, frames, context)
            missing += problems
            tables[part.key] = table
            charts |= _charts(plan, part, table)
    findings = tuple(claim.check(tables) for claim in plan.claims)
    unique = tuple(dict.fromkeys(missing))
    return Outcome(plan.name, plan.shows, tables, charts, findings=findings, missing=unique)


def _measure_part(
    plan: Plan, part: Part, frames: list[Frame], context: Context
) -> tuple[Table, list[str]]:
    """Return the means over the frames that every entry could be measured on.

    An entry that could be measured on no frame is left out.
    """
    entries, kind = plan.entries[part], TimedJob if plan.times else FrameJob
    jobs = [
        kind(part.dataset, frame, entry.settings, entry.method, entry.name)
        for entry in entries
        for frame in frames
    ]
    measured = context.measure(jobs)
    found = [measured[k * len(frames) : (k + 1) * len(frames)] for k in range(len(entries))]
    pairs = [
        (entry, row)
        for entry, row in zip(entries, found, strict=True)
        if not all(m.problem for m in row)
    ]
    common = [k for k in range(len(frames)) if not any(row[k].problem for _, row in pairs)]
    metrics = (*plan.metrics[part.dataset], *plan.times)
    rows: list[Row] = []
    for entry, row in pairs:
        mean = _means([row[k].scores for k in common])
        rows.append(Row(entry.name, tuple(mean.get(metric) for metric in metrics)))
        if part.dataset in entry.paper:
            rows.append(_quoted(entry.name, entry.paper[part.dataset], metrics))
    others = plan.quoted.get(part.dataset, {})
    rows += [_quoted(name, numbers, metrics) for name, numbers in others.items()]
    over = plural(len(common), "frame")
    title = f"{part.dataset}, {part.split}: means over {over}, percent of pixels"
    if plan.rows_are:
        title += f"; rows: {plan.rows_are}"
    notes = [DIFFERS[part.dataset]] if any(row.quoted for row in rows) else []
    if part.dataset == MIDDLEBURY and pairs and common:  # its scenes come in several sizes
        notes.append(_sizes({frames[k].name: pairs[0][1][k].scores for k in common}))
    notes += [
        f"{entry.name} is there for {plural(len(row) - failed, 'frame')} of {len(row)}; the means "
        "of all rows are over these only."
        for entry, row in pairs
        if (failed := sum(bool(m.problem) for m in row))
    ]
    return Table(title, metrics, tuple(rows), tuple(notes), over), problems_of(jobs, measured)


def _sizes(scores: Mapping[str, Scores]) -> str:
    """Return a sentence with the size of each frame."""
    sizes = [f"{name} {found[WIDTH]}×{found[HEIGHT]}" for name, found in scores.items()]
    return f"Sizes in pixels: {', '.join(sizes)}."


def _means(scores: Sequence[Scores]) -> dict[str, float]:
    """Return means, but medians of times, which a busy machine sometimes distorts."""
    if not scores:
        return {}
    times = {name for score in scores for name in score if name.endswith(SECONDS)}
    return mean_metrics(scores) | {t: median(s[t] for s in scores if t in s) for t in times}


def _quoted(name: str, numbers: Numbers, metrics: tuple[str, ...]) -> Row:
    """Return a row of the paper; columns that it does not have are empty."""
    cells: tuple[Cell, ...] = (*numbers, *[None] * (len(metrics) - len(numbers)))
    return Row(f"{name}{IN_PAPER}", cells, quoted=True)


def _charts(plan: Plan, part: Part, table: Table) -> dict[str, Chart]:
    """Return a chart of the main metric, and one of the times if rows are numbers."""
    title = f"{plan.name}: {part.dataset}, {part.split}"
    columns = [f"{MAIN}-{pixels}" for pixels in BOTH if f"{MAIN}-{pixels}" in table.columns]
    columns = columns or list(table.columns[:2])
    if not plan.rows_are:
        series = tuple(some for column in columns for some in _bars(table, column))
        return {part.key: Chart(title, "percent of pixels", "", series, "bars")}

    def chart(unit: str, names: Sequence[str]) -> Chart:
        rows = [row for row in table.rows if not row.quoted]
        places = tuple(float(row.name) for row in rows)
        curves = tuple(
            Series(name, places, tuple(_figure(table, row, name) for row in rows)) for name in names
        )
        return Chart(title, plan.rows_are, unit, curves)

    charts = {part.key: chart("percent of pixels", columns)}
    if plan.times:
        charts[f"{part.key}-time"] = chart("seconds, one thread", plan.times)
    return charts


def _bars(table: Table, column: str) -> list[Series]:
    """Return a bar for each of our rows, and the paper's numbers for these rows."""
    ours = {row.name for row in table.rows if not row.quoted}
    found = []
    for quoted in (False, True):
        rows = [row for row in table.rows if row.quoted == quoted]
        bars = {row.name.removesuffix(IN_PAPER): _figure(table, row, column) for row in rows}
        known = {name: bar for name, bar in bars.items() if name in ours and not isnan(bar)}
        if known:
            name = column + IN_PAPER * quoted
            found.append(Series(name, tuple(known), tuple(known.values()), quoted))
    return found


def _figure(table: Table, row: Row, column: str) -> float:
    """Return a cell as a number, NaN if it is empty."""
    cell = row.cells[table.columns.index(column)]
    return nan if cell is None else cell
