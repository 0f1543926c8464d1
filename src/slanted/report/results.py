"""A report of results as one HTML file: a summary, then a page for each pair."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from slanted import __version__
from slanted.errors import plural
from slanted.images.colour import as_rgb8
from slanted.output import html
from slanted.output.charts import Chart, Series, density_chart, draw_svg, energy_chart
from slanted.output.folder import pictures_of
from slanted.output.legends import Legend, with_legend
from slanted.output.pictures import colour_error, error_legend, jpeg
from slanted.output.summary_text import gap_text, label_shares, rounded_up

if TYPE_CHECKING:
    from slanted.evaluation.confidence import ConfidenceScores
    from slanted.result_folder import ResultFolder

TITLE = "Slanted-plane stereo: results"
MOST_WIDTH = 960
"""Largest width of a picture in pixels; wider ones are made smaller."""
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
GUIDE = (
    "matched: pixels with a match that the planes explain; gap: the most by which the "
    "energy can exceed the optimum over the planes considered. "
)
ERROR_GUIDE = (
    ">k px: pixels off by more than k px; D1: pixels off by more than 3 px and 5 %; epe: mean "
    "error. All are over every pixel with ground truth. "
)
TRUST_GUIDE = (
    "D1@80: D1 of the most confident 80 % of the pixels; AUC: how often a wrong pixel is less "
    "confident than a right one."
)
DENSITY_CAPTION = "Error of the most confident pixels, by how many are kept."
CAPTIONS = {
    "disparity_colour.png": "Disparity: every pixel on the plane of its segment.",
    "boundaries.png": "Boundaries by label; occlusions are drawn on the side of the front segment.",
    "segments_colour.png": "Segments and the junctions where they meet.",
    "planes_colour.png": "Planes: the colour is the direction in which a plane comes nearer; grey "
    "is level.",
    "confidence_colour.png": "Confidence of each pixel or, if there is none, margins of segments; "
    "dark is doubtful.",
}
"""Pictures of a pair, in order, with their captions."""
ENERGY_CAPTION = (
    "No choice among the planes drawn costs less than the bound. Where segments were refined, "
    "energies before and after belong to different graphs."
)


@dataclass(frozen=True, eq=False)
class Entry:
    """A pair of the report: a unique name, the result, and the ground truth if there is any."""

    name: str
    opened: ResultFolder
    truth: NDArray[np.float32] | None = None

    def errors(self) -> dict[str, float]:
        """Return the errors by metric; empty without ground truth."""
        from slanted.evaluation.metrics import evaluate

        if self.truth is None:
            return {}
        return evaluate(self.opened.result.disparity, self.truth)

    def trust(self) -> ConfidenceScores | None:
        """Return the scores of the confidence, if there is one and ground truth."""
        from slanted.evaluation.confidence import evaluate_confidence

        result = self.opened.result
        if self.truth is None or result.confidence is None:
            return None
        return evaluate_confidence(result.disparity, self.truth, result.confidence)


@dataclass(frozen=True)
class _Page:
    """The page of a pair and what the summary needs of it, without its maps."""

    name: str
    summary: dict[str, Any]
    errors: dict[str, float]
    content: str


def build_report(entries: Iterable[Entry], title: str = TITLE) -> str:
    """Return the report as one HTML page; one entry is held in memory at a time."""
    pages = list(map(_page_of, itertools.count(), entries))  # a loop would hold the last one
    links = [("summary", "summary"), *((_anchor(k), page.name) for k, page in enumerate(pages))]
    parts = [
        html.heading(title, 1),
        html.paragraph(f"{plural(len(pages), 'pair')}, slanted {__version__}", "faint"),
        html.contents(links),
        *_summary(pages),
        *(page.content for page in pages),
    ]
    return html.page(title, parts)


def _page_of(number: int, entry: Entry) -> _Page:
    result, errors, trust = entry.opened.result, entry.errors(), entry.trust()
    summary = result.summary()
    figures = [html.picture(*pair, html.JPEG) for pair in _pictures(entry)]
    if trust is not None:
        errors |= trust.metrics
        figures.append(_plot(density_chart(trust), DENSITY_CAPTION))
    parts = [
        html.heading(entry.name, 2, _anchor(number)),
        html.bullets(_facts(summary, errors)),
        html.grid([*figures, _plot(energy_chart(result.inference), ENERGY_CAPTION)]),
        html.details("Settings", result.settings.to_toml()),
    ]
    return _Page(entry.name, summary, errors, html.section(parts))


def _summary(pages: Sequence[_Page]) -> list[str]:
    known = [rule for rule in ERRORS if any(rule in page.errors for page in pages)]
    header = ["pair", "size", "segments", "coplanar %", "hinge %", "occlusion %", "matched %"]
    header += ["gap %", "seconds", *(ERRORS[rule] for rule in known)]
    rows = []
    for page in pages:
        summary, errors = page.summary, page.errors
        shares = label_shares(summary).values()
        row = [page.name, f"{summary['width']}×{summary['height']}", f"{summary['segments']:,}"]
        row += [f"{share:.1f}" for share in shares]
        row += [f"{summary['matched_percent']:.1f}", rounded_up(summary["gap_percent"], 2)]
        row.append(f"{summary['seconds']['total']:.1f}")
        rows.append([*row, *(score_text(r, errors) for r in known)])
    guide = GUIDE + (ERROR_GUIDE if known else "") + (TRUST_GUIDE if "AUC-all" in known else "")
    return [
        html.heading("Summary", 2, "summary"),
        html.table(header, rows),
        html.paragraph(guide.strip(), "faint"),
        html.grid(_plots(pages, bool(known))),
    ]


def score_text(rule: str, errors: dict[str, float]) -> str:
    """Return a metric as text; empty if it is not known."""
    return f"{errors[rule]:.{4 if rule == 'AUC-all' else 2}f}" if rule in errors else ""


def _plots(pages: Sequence[_Page], with_errors: bool) -> list[str]:
    """Return the plots of the summary."""
    names = tuple(page.name for page in pages)

    def plot(title: str, unit: str, values: dict[str, list[float]], caption: str) -> str:
        series = tuple(Series(name, names, tuple(found)) for name, found in values.items())
        return _plot(Chart(title, unit, "", series, "bars"), caption)

    plots = []
    if with_errors:
        errors = {
            ERRORS[rule][:-2]: [page.errors.get(rule, np.nan) for page in pages]
            for rule in list(ERRORS)[:3]
        }
        caption = "Share of the pixels with ground truth that are off by more than k px."
        plots.append(plot("Wrong pixels", "%", errors, caption))
    shares = [label_shares(page.summary) for page in pages]
    kinds = {name: [share[name] for share in shares] for name in shares[0]}
    caption = "Share of the boundaries between segments."
    plots.append(plot("Boundaries by label", "%", kinds, caption))
    seconds = {"seconds": [page.summary["seconds"]["total"] for page in pages]}
    caption = "All stages of a run; a first run compiles kernels as well."
    return [*plots, plot("Time of a run", "seconds", seconds, caption)]


def _facts(summary: dict[str, Any], errors: dict[str, float]) -> list[str]:
    """Return the numbers of a pair, in a few lines."""
    kinds = ", ".join(f"{n:,} {k.replace('_', ' ')}" for k, n in summary["boundaries"].items())
    stages = ", ".join(f"{k} {v:.2f}" for k, v in summary["seconds"].items())
    facts = [
        *(f"doubtful: {doubt}" for doubt in summary.get("doubts", ())),
        f"{summary['width']}×{summary['height']} px, disparities from "
        f"{summary['disparity_min']:.1f} to {summary['disparity_max']:.1f} px; "
        f"{summary['matched_percent']:.1f} % of pixels matched, "
        f"{summary['occluded_percent']:.1f} % hidden from the right view",
        f"{summary['segments']:,} segments; boundaries: {kinds}",
        f"energy {summary['energy']:,.0f}, {gap_text(summary)}",
        f"seconds: {stages}",
    ]
    if errors:
        known = {name: score_text(rule, errors) for rule, name in ERRORS.items() if rule in errors}
        scores = ", ".join(f"{name} {score}" for name, score in known.items())
        facts.append(f"errors: {scores}")
    return facts


def _pictures(entry: Entry) -> list[tuple[bytes, str]]:
    """Return the pictures of a pair as JPEG, with their captions."""
    opened = entry.opened
    made = pictures_of(opened.result, opened.left)
    pictures = []
    if opened.left is not None:
        plain = with_legend(as_rgb8(opened.left), Legend("left image"))
        pictures.append((plain, "The left image."))
    pictures += [(made[name], caption) for name, caption in CAPTIONS.items() if name in made]
    if entry.truth is not None:
        painted = colour_error(opened.result.disparity, entry.truth)
        caption = "Error against ground truth, on KITTI's scale."
        pictures.insert(2, (with_legend(painted, error_legend()), caption))
    return [(jpeg(picture, MOST_WIDTH), caption) for picture, caption in pictures]


def _plot(chart: Chart, caption: str) -> str:
    return html.picture(draw_svg(chart).encode(), caption, html.SVG)


def _anchor(number: int) -> str:
    return f"pair-{number + 1}"
