"""A report of results: one HTML file that holds all it shows, a summary and a page a pair."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np
from numpy.typing import NDArray

from slanted import __version__
from slanted.errors import InputError
from slanted.images.colour import as_rgb8
from slanted.output import html
from slanted.output.folder import pictures_of
from slanted.output.legends import Legend, with_legend
from slanted.output.pictures import colour_error, error_legend
from slanted.output.plots import Chart, Series, draw_svg
from slanted.output.text import plural

if TYPE_CHECKING:
    from slanted.result_folder import ResultFolder

TITLE = "Slanted-plane stereo: results"
MOST_WIDTH = 960
"""Pixels of a picture; wider ones are made smaller."""
QUALITY = 88
GRID = (
    "display:grid;grid-template-columns:repeat(auto-fit,minmax(min(27rem,100%),1fr));gap:0 1.6rem"
)
ERRORS = {
    "out-1px-all": ">1 px %",
    "out-2px-all": ">2 px %",
    "out-3px-all": ">3 px %",
    "D1-all": "D1 %",
    "epe-all": "epe px",
}
"""Rules that are shown, and their names in tables."""
GUIDE = (
    "matched: pixels that the matcher found; gap: how far the energy can be above the optimum over "
    "the planes considered. "
)
ERROR_GUIDE = (
    ">k px: pixels off by more than k px; D1: by more than 3 px and 5 %; epe: mean error; all over "
    "every pixel with ground truth."
)
CAPTIONS = {
    "disparity_colour.png": "Disparity: every pixel on the plane of its segment.",
    "boundaries.png": "Boundaries by label; occlusions are drawn on the side of what is in front.",
    "segments_colour.png": "Segments and the junctions where they meet.",
    "planes_colour.png": "Planes: the colour tells where a plane comes nearer, grey is level.",
    "confidence_colour.png": "Confidence: what another plane would cost; dark deserves doubt.",
}

PLOT_CAPTIONS = {
    "Wrong pixels": "Share of the pixels with ground truth that are off by more than k px.",
    "Boundaries by label": "Share of the boundaries between segments.",
    "Time of a run": "From matching to inference; a first run compiles kernels as well.",
    "Energy by outer iteration": "No choice among the planes drawn costs less than the bound. "
    "Where segments were refined, energies before and after are of different graphs.",
}


@dataclass(frozen=True, eq=False)
class Entry:
    """A pair of the report.

    Parameters
    ----------
    name
        For people; unlike all others'.
    opened
        Its result.
    truth
        Ground truth, NaN for unknown; None if there is none.
    """

    name: str
    opened: ResultFolder
    truth: NDArray[np.float32] | None = None

    def errors(self) -> dict[str, float]:
        """Return the errors by rule, none without ground truth."""
        from slanted.evaluation.metrics import evaluate

        if self.truth is None:
            return {}
        return evaluate(self.opened.result.disparity, self.truth)


@dataclass(frozen=True)
class _Page:
    """What the summary needs of a pair, and its page; the maps are gone by then."""

    name: str
    summary: dict[str, Any]
    errors: dict[str, float]
    parts: list[str]


def build_report(entries: Iterable[Entry], title: str = TITLE) -> str:
    """Return the report as one HTML page; without matplotlib its plots are left out.

    Entries are taken one after the other, and none is kept.
    """
    pages = list(map(_page_of, itertools.count(), entries))  # a loop would hold the last one
    links = [("summary", "summary"), *((_anchor(k), page.name) for k, page in enumerate(pages))]
    parts = [
        html.heading(title, 1),
        html.paragraph(f"{plural(len(pages), 'pair')}, slanted {__version__}", "faint"),
        html.contents(links),
        *_summary(pages),
    ]
    for page in pages:
        parts += ['<section style="break-before:page">', *page.parts, "</section>"]
    return html.page(title, parts)


def _page_of(number: int, entry: Entry) -> _Page:
    summary, errors = entry.opened.result.summary(), entry.errors()
    return _Page(entry.name, summary, errors, _pair(number, entry, summary, errors))


def _summary(pages: Sequence[_Page]) -> list[str]:
    known = [rule for rule in ERRORS if any(rule in page.errors for page in pages)]
    header = ["pair", "size", "segments", "coplanar %", "hinge %", "occlusion %", "matched %"]
    header += ["gap %", "seconds", *(ERRORS[rule] for rule in known)]
    rows = []
    for page in pages:
        summary, errors = page.summary, page.errors
        shares = label_shares(summary)
        row = [page.name, f"{summary['width']}×{summary['height']}", f"{summary['segments']:,}"]
        row += [f"{share:.1f}" for share in shares]
        row += [f"{summary['matched_percent']:.1f}", f"{summary['gap_percent']:.2f}"]
        row.append(f"{summary['seconds']['total']:.1f}")
        rows.append([*row, *(f"{errors[r]:.2f}" if r in errors else "" for r in known)])
    return [
        html.heading("Summary", 2, "summary"),
        html.table(header, rows),
        html.paragraph(GUIDE + (ERROR_GUIDE if known else ""), "faint"),
        f'<div style="{GRID}">',
        *map(_plot, _summary_charts(pages, known)),
        "</div>",
    ]


def label_shares(summary: dict[str, Any]) -> tuple[float, float, float]:
    """Return the percentages of coplanar, hinge and occlusion boundaries."""
    counts = summary["boundaries"]
    total = max(sum(counts.values()), 1)
    occlusions = counts["left_occlusion"] + counts["right_occlusion"]
    coplanar, hinge = (100 * counts[name] / total for name in ("coplanar", "hinge"))
    return coplanar, hinge, 100 * occlusions / total


def _summary_charts(pages: Sequence[_Page], known: Sequence[str]) -> list[Chart]:
    names = tuple(page.name for page in pages)
    charts = []
    if known:
        series = tuple(
            Series(ERRORS[rule][:-2], names, tuple(page.errors.get(rule, np.nan) for page in pages))
            for rule in list(ERRORS)[:3]
        )
        charts.append(Chart("Wrong pixels", "%", "", series, "bars"))
    shares = [label_shares(page.summary) for page in pages]
    kinds = tuple(
        Series(kind, names, tuple(share[k] for share in shares))
        for k, kind in enumerate(("coplanar", "hinge", "occlusion"))
    )
    charts.append(Chart("Boundaries by label", "%", "", kinds, "bars"))
    totals = tuple(page.summary["seconds"]["total"] for page in pages)
    seconds = (Series("seconds", names, totals),)
    charts.append(Chart("Time of a run", "seconds", "", seconds, "bars"))
    return charts


def _pair(
    number: int, entry: Entry, summary: dict[str, Any], errors: dict[str, float]
) -> list[str]:
    opened = entry.opened
    figures = [html.picture(*pair, html.JPEG) for pair in _pictures(entry)]
    settings = escape(opened.result.settings.to_toml())
    return [
        html.heading(entry.name, 2, _anchor(number)),
        html.bullets(map(escape, _facts(summary, errors))),
        f'<div style="{GRID}">',
        *figures,
        _plot(energy_lines(summary)),
        "</div>",
        f"<details><summary>Settings</summary><pre>{settings}</pre></details>",
    ]


def _facts(summary: dict[str, Any], errors: dict[str, float]) -> list[str]:
    """Return what there is to say of a pair, a sentence or so each."""
    kinds = ", ".join(f"{n:,} {k.replace('_', ' ')}" for k, n in summary["boundaries"].items())
    stages = ", ".join(f"{k} {v:.2f}" for k, v in summary["seconds"].items())
    facts = [
        f"{summary['width']}×{summary['height']} px, disparities from "
        f"{summary['disparity_min']:.1f} to {summary['disparity_max']:.1f} px; "
        f"{summary['matched_percent']:.1f} % of pixels matched, "
        f"{summary['occluded_percent']:.1f} % hidden from the right view",
        f"{summary['segments']:,} segments; boundaries: {kinds}",
        f"energy {summary['energy']:,.0f}, lower bound {summary['bound']:,.0f}, a gap of "
        f"{summary['gap_percent']:.2f} %",
        f"seconds: {stages}",
    ]
    if errors:
        scores = ", ".join(f"{name} {errors[rule]:.2f}" for rule, name in ERRORS.items())
        facts.append(f"errors: {scores}")
    return facts


def energy_lines(summary: dict[str, Any]) -> Chart:
    """Return the chart of energy and bound against iterations."""
    steps = summary["iterations"]
    places = tuple(float(k + 1) for k in range(len(steps)))
    energies = tuple(float(step["energy"]) for step in steps)
    bounds = tuple(float(step["bound"]) for step in steps)
    series = (Series("energy", places, energies), Series("lower bound", places, bounds))
    return Chart("Energy by outer iteration", "iteration", "energy", series)


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
    return [(jpeg(picture), caption) for picture, caption in pictures]


def jpeg(picture: NDArray[Any], most_width: int = MOST_WIDTH) -> bytes:
    """Return an RGB picture as JPEG, made smaller if it is wider than that many pixels."""
    height, width = picture.shape[:2]
    if width > most_width:
        size = (most_width, max(1, round(height * most_width / width)))
        picture = cv2.resize(picture, size, interpolation=cv2.INTER_AREA)
    settings = (cv2.IMWRITE_JPEG_QUALITY, QUALITY)
    return bytes(cv2.imencode(".jpg", picture[:, :, ::-1], settings)[1])


def _plot(chart: Chart) -> str:
    """Return a plot, or why there is none."""
    try:
        return html.picture(draw_svg(chart).encode(), PLOT_CAPTIONS[chart.title], html.SVG)
    except InputError as error:
        return html.paragraph(str(error), "faint")


def _anchor(number: int) -> str:
    return f"pair-{number + 1}"
