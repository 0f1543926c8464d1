"""What reports of results and of batches share: figures, the table of pairs, curves of errors."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING, Any

from slanted.errors import plural
from slanted.evaluation.metrics import mean_metrics
from slanted.output import html
from slanted.output.chart_drawing import PAGE, draw_svg
from slanted.output.charts import Chart, density_chart, sorted_chart, threshold_chart
from slanted.output.summary_text import rounded_up

if TYPE_CHECKING:
    from slanted.evaluation.confidence import ConfidenceScores

ERRORS = {
    "out-1px-all": ">1 px %",
    "out-2px-all": ">2 px %",
    "out-3px-all": ">3 px %",
    "D1-all": "D1 %",
    "epe-all": "epe px",
    "D1@80-all": "D1@80 %",
    "AUC-all": "AUC",
}
"""The metrics that are shown, and their names in tables."""
NUMBERS: dict[str, tuple[str, Callable[[float], str]]] = {
    "segments": ("segments", "{:,.0f}".format),
    "matched_percent": ("matched %", "{:.1f}".format),
    "confidence_median": ("confidence", "{:.3f}".format),
    "gap_percent": ("gap %", partial(rounded_up, digits=2)),
    "seconds": ("seconds", "{:.1f}".format),
}
"""Numbers of a record that are shown, their names in tables, and how they become text."""
MEANS = {
    "D1-all": ("D1", "%"),
    "out-1px-all": ("off by > 1 px", "%"),
    "epe-all": ("mean error", "px"),
    "D1@80-all": ("D1, surest 80 %", "%"),
    "matched_percent": ("matched", "%"),
    "confidence_median": ("confidence", "median"),
    "gap_percent": ("gap at most", "%"),
    "seconds": ("time", "s"),
}
"""The main figures of a report, their names and units."""
GUIDE = (
    "matched: pixels with a match that the planes explain; confidence: its median; gap: the most "
    "by which the energy can exceed the optimum over the planes considered. "
)
ERROR_GUIDE = (
    ">k px: pixels off by more than k px; D1: pixels off by more than 3 px and 5 %; epe: mean "
    "error. All are over every pixel with ground truth. "
)
TRUST_GUIDE = (
    "D1@80: D1 of the most confident 80 % of the pixels; AUC: how often a wrong pixel is less "
    "confident than a right one."
)
THRESHOLD_CAPTION = "Pixels with ground truth that are off by more than a threshold."
DENSITY_CAPTION = "Error of the most confident pixels, by how many are kept."
SORTED_CAPTION = "One point for each pair: how many of them are bad, and how bad."


@dataclass(frozen=True, eq=False)
class PairRow:
    """A pair of a report, without its maps."""

    name: str
    numbers: Mapping[str, Any] = field(default_factory=dict)
    """Its record, or that of its row in a summary; ``seconds`` are of the whole run."""
    errors: Mapping[str, float] = field(default_factory=dict)
    """Its metrics; empty without ground truth."""
    trust: ConfidenceScores | None = None
    picture: bytes = b""
    """A small JPEG; empty if there is none."""
    address: str = ""
    """What its name leads to."""
    told: str = ""
    """Warnings, doubts, or why it failed."""


def figures(rows: Sequence[PairRow]) -> list[tuple[str, str]]:
    """Return names and values of the main figures, which are means if there are many pairs."""
    numbers = [_known(row) for row in rows]
    found = []
    for name, (words, unit) in MEANS.items():
        known = [each[name] for each in numbers if name in each]
        if known:
            mean = fmean(known)
            text = score_text(name, {name: mean}) if name in ERRORS else NUMBERS[name][1](mean)
            found.append((words, f"{text} {unit}"))
    return found


def _known(row: PairRow) -> dict[str, float]:
    """Return all numbers of a pair by name."""
    shown = {name: row.numbers.get(name) for name in NUMBERS}
    numbers = {name: float(n) for name, n in shown.items() if isinstance(n, int | float)}
    return {**numbers, **row.errors}


def score_text(rule: str, errors: Mapping[str, float]) -> str:
    """Return a metric as text; empty if it is not known."""
    return f"{errors[rule]:.{4 if rule == 'AUC-all' else 2}f}" if rule in errors else ""


def pairs_section(rows: Sequence[PairRow]) -> html.Section:
    """Return the table of pairs, without the columns that nobody can fill."""
    numbers = [name for name in NUMBERS if any(row.numbers.get(name) is not None for row in rows)]
    rules = [rule for rule in ERRORS if any(rule in row.errors for row in rows)]
    pictured = any(row.picture for row in rows)
    header = ["pair", *[""] * pictured, "size", *(NUMBERS[name][0] for name in numbers)]
    header += [ERRORS[rule] for rule in rules]
    cells = []
    for row in rows:
        name = html.link(row.address, row.name) if row.address else row.name
        shown = html.image(row.picture, "disparity", html.JPEG) if row.picture else ""
        known = _known(row)
        texts = (NUMBERS[n][1](known[n]) if n in known else "" for n in numbers)
        scores = (score_text(rule, row.errors) for rule in rules)
        cells.append([name, *[shown] * pictured, _size(row.numbers), *texts, *scores])
    notes = {k: row.told for k, row in enumerate(rows) if row.told}
    parts = [html.table(header, cells, notes=notes), guide(rules)]
    return html.Section("Pairs", "pairs", parts)


def guide(rules: Collection[str]) -> str:
    """Return what the figures are."""
    told = GUIDE + (ERROR_GUIDE if rules else "") + (TRUST_GUIDE if "AUC-all" in rules else "")
    return html.paragraph(told.strip(), "faint")


def _size(numbers: Mapping[str, Any]) -> str:
    width, height = numbers.get("width"), numbers.get("height")
    return "" if width is None or height is None else f"{width}×{height}"


def errors_section(rows: Sequence[PairRow]) -> list[html.Section]:
    """Return the curves of the errors of many pairs; nothing without ground truth."""
    known = [row for row in rows if row.errors]
    if not known:
        return []
    charts = error_curves(known)
    if len(known) > 2:
        errors = [row.errors["D1-all"] for row in known]
        chart = sorted_chart(errors, "D1 of the pairs", "pairs, from best to worst", "D1, %")
        charts.append(plot(chart, SORTED_CAPTION))
    parts = [html.grid(charts, "charts")]
    if len(known) < len(rows):
        parts.append(html.paragraph(f"Of {plural(len(known), 'pair')} with ground truth.", "faint"))
    return [html.Section("Errors", "errors", parts)]


def error_curves(rows: Sequence[PairRow]) -> list[str]:
    """Return the error against threshold and, with a confidence, against density."""
    from slanted.evaluation.confidence import mean_confidence

    known = [row for row in rows if row.errors]
    trust = [row.trust for row in known if row.trust is not None]
    charts = []
    if known:
        charts.append(plot(threshold_chart(_threshold_curves(known)), THRESHOLD_CAPTION))
    if trust:
        charts.append(plot(density_chart(mean_confidence(trust)), DENSITY_CAPTION))
    return charts


def scores_text(errors: Mapping[str, float]) -> str:
    """Return all metrics of a pair that are shown."""
    known = (rule for rule in ERRORS if rule in errors)
    return ", ".join(f"{ERRORS[rule]} {score_text(rule, errors)}" for rule in known)


def _threshold_curves(rows: Sequence[PairRow]) -> dict[str, Mapping[str, float]]:
    """Return the errors of a pair or, of many, the mean and those of the best and the worst."""
    if len(rows) == 1:
        return {rows[0].name: rows[0].errors}
    mean = mean_metrics([dict(row.errors) for row in rows])
    ordered = sorted(rows, key=lambda row: row.errors["D1-all"])
    best, worst = ordered[0], ordered[-1]
    curves: dict[str, Mapping[str, float]] = {f"mean of {len(rows)}": mean}
    return curves | {
        f"worst, {worst.name}": worst.errors,
        f"best, {best.name}": best.errors,
    }


def plot(chart: Chart, caption: str) -> str:
    """Return a chart as a part of a page."""
    return html.chart(draw_svg(chart, PAGE), f"{chart.title}. {caption}", caption)
