"""A report of results as one HTML file: figures and curves of all, then a page for each pair."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from slanted import __version__
from slanted.errors import plural
from slanted.images.colour import as_rgb8
from slanted.output import html
from slanted.output.card import facts
from slanted.output.charts import energy_chart
from slanted.output.folder import disparity_picture, pictures_of
from slanted.output.legends import Legend, with_legend
from slanted.output.pictures import colour_error, error_legend, jpeg
from slanted.output.summary_text import gap_text
from slanted.report.pairs import (
    PairRow,
    error_curves,
    errors_section,
    figures,
    guide,
    pairs_section,
    plot,
    scores_text,
)

if TYPE_CHECKING:
    from slanted.evaluation.confidence import ConfidenceScores
    from slanted.result_folder import ResultFolder

TITLE = "Slanted-plane stereo: results"
MOST_WIDTH = 960
"""Largest width of a picture in pixels; wider ones are made smaller."""
THUMBNAIL = 200
"""Largest width of a pair's picture in a table, in pixels."""
CAPTIONS = {
    "disparity_colour.png": "Disparity: the planes of the segments, and sure matches near them.",
    "confidence_colour.png": "Confidence of each pixel; dark is doubtful.",
    "margins_colour.png": "Margins of segments, which have no confidence; dark is doubtful.",
    "boundaries.png": "Boundaries by label; occlusions are drawn on the side of the front segment.",
    "segments_colour.png": "Segments and the junctions where they meet.",
    "planes_colour.png": "Planes: the colour is the direction in which a plane comes nearer; grey "
    "is level.",
}
"""Pictures of a pair, in order, with their captions."""
ENERGY_CAPTION = (
    "No choice among the planes drawn costs less than the bound. At a line, segments were refined: "
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


@dataclass(frozen=True, eq=False)
class _Page:
    """The page of a pair, and its row in the table, without its maps."""

    row: PairRow
    section: html.Section


def build_report(entries: Iterable[Entry], title: str = TITLE) -> str:
    """Return the report as one HTML page; one entry is held in memory at a time."""
    pages = list(map(_page_of, itertools.count(1), entries))  # a loop would hold the last one
    rows, own = [page.row for page in pages], [page.section for page in pages]
    about = f"{plural(len(pages), 'pair')}, slanted {__version__}"
    if len(pages) == 1:
        alone = replace(own[0], parts=[*own[0].parts, guide(rows[0].errors)])
        return html.report(title, about, figures(rows), [alone])
    sections = [pairs_section(rows), *errors_section(rows), *own]
    return html.report(title, f"{about}; these figures are means", figures(rows), sections)


def _page_of(number: int, entry: Entry) -> _Page:
    result, errors, trust = entry.opened.result, entry.errors(), entry.trust()
    summary = result.summary()
    numbers = {**summary, "seconds": summary["seconds"]["total"]}
    if trust is not None:
        errors |= trust.metrics
    small = jpeg(disparity_picture(result.trusted_disparity()), THUMBNAIL)
    told = "; ".join(f"doubtful: {doubt}" for doubt in summary.get("doubts", ()))
    row = PairRow(entry.name, numbers, errors, trust, small, f"#pair-{number}", told)
    energy = plot(energy_chart(result.inference, result.settings), ENERGY_CAPTION)
    parts = [
        html.facts(_facts(entry, summary, errors)),
        html.grid([*error_curves([row]), energy], "charts"),
        html.grid([html.picture(*pair, html.JPEG) for pair in _pictures(entry)]),
        html.details("Settings", result.settings.to_toml()),
    ]
    return _Page(row, html.Section(entry.name, f"pair-{number}", parts, listed=False, is_page=True))


def _facts(
    entry: Entry, summary: dict[str, Any], errors: dict[str, float]
) -> list[tuple[str, str]]:
    """Return what a result says of itself at a glance, with more on energy, segments and time."""
    kinds = ", ".join(f"{n:,} {k.replace('_', ' ')}" for k, n in summary["boundaries"].items())
    stages = {k: v for k, v in summary["seconds"].items() if k != "total"}
    times = ", ".join(f"{k} {v:.2f}" for k, v in stages.items())
    more = {
        "boundaries": kinds,
        "energy": f"{summary['energy']:,.0f}, {gap_text(summary)}",
        "time": f"{summary['seconds']['total']:.2f} s: {times}",
    }
    size = f"{summary['width']}×{summary['height']} px, {summary['segments']:,} segments"
    glance = facts(entry.opened.result)
    scores = [("errors", scores_text(errors))] if errors else []
    return [("size", size), *scores, *((name, more.get(name, text)) for name, text in glance)]


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
