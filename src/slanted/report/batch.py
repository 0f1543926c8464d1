"""A report of a batch as one HTML page: a row for each pair, with its picture and numbers."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from slanted.batch.pairs import output_folder
from slanted.batch.scores import Measure
from slanted.batch.summary import no_summary, read_summary
from slanted.errors import FileError, plural
from slanted.evaluation.metrics import mean_metrics
from slanted.images.checks import check_image
from slanted.images.colour import as_rgb8
from slanted.io import read_image
from slanted.io.names import RECORD, SUMMARY_LINES
from slanted.output import html
from slanted.output.pictures import jpeg
from slanted.output.strangers import only_inside
from slanted.output.summary_text import rounded_up
from slanted.report.results import ERRORS, score_text

PICTURE = "disparity_colour.png"
OWN_REPORT = "report.html"
THUMBNAIL = 200
"""Largest width of a pair's picture, in pixels."""
NUMBERS: dict[str, Callable[[float], str]] = {
    "width": "{:.0f}".format,
    "height": "{:.0f}".format,
    "segments": "{:,.0f}".format,
    "matched_percent": "{:.1f}".format,
    "energy": "{:,.0f}".format,
    "gap_percent": partial(rounded_up, digits=2),
    "seconds": "{:.1f}".format,
}
"""Numbers of a record that are shown, and how they become text."""


def build_index(
    folder: Path,
    beside: Path,
    title: str,
    progress: Callable[[str], None],
    measure: Measure | None = None,
) -> tuple[str, list[str]]:
    """Return the page, and the names of its pairs.

    Links are relative to `beside`, the folder that the page is written to. `progress` is called
    with the name of each pair. With a `measure`, pairs that have ground truth show their errors.
    """
    rows = read_summary(folder)
    done = sum(row["status"] == "done" for row in rows)
    try:
        places = [_place(folder, row["name"]) for row in rows]
        errors = [
            _errors(row, place, measure, progress) for row, place in zip(rows, places, strict=True)
        ]
        rules = [rule for rule in ERRORS if any(rule in each for each in errors)]
        cells = [
            _cells(row, place, beside, [score_text(rule, each) for rule in rules])
            for row, place, each in zip(rows, places, errors, strict=True)
        ]
    except (OSError, OverflowError) as error:  # a name or a number is too long
        raise no_summary(folder / SUMMARY_LINES, error) from error
    header = ["pair", "", "status", *(name.replace("_percent", " %") for name in NUMBERS)]
    header += [ERRORS[rule] for rule in rules]
    parts = [
        html.heading(title, 1),
        html.paragraph(f"{plural(len(rows), 'pair')}, {done} done{_mean(errors, rules)}", "faint"),
        html.table([*header, "warnings and errors"], cells),
    ]
    return html.page(title, parts), [row["name"] for row in rows]


def _place(folder: Path, name: str) -> Path:
    place = folder / name
    if os.path.lexists(place):  # a missing folder has no links to check, which is slow
        place = output_folder(folder, name)  # refuses names that lead out of it
    return place


def _errors(
    row: dict[str, Any], place: Path, measure: Measure | None, progress: Callable[[str], None]
) -> dict[str, float]:
    """Return a pair's errors; empty without a result, ground truth or a measure."""
    progress(row["name"])
    if measure is None or row["status"] != "done" or not (place / RECORD).is_file():
        return {}
    found = measure.scores(row["name"], place)
    if found is None:
        return {}
    metrics, trust = found
    return metrics if trust is None else {**metrics, **trust.metrics}


def _mean(errors: list[dict[str, float]], rules: list[str]) -> str:
    """Return the mean errors as text; empty if none is known."""
    known = [each for each in errors if each]
    if not known:
        return ""
    means = mean_metrics(known)
    told = ", ".join(f"{ERRORS[rule]} {score_text(rule, means)}" for rule in rules)
    return f"; {len(known)} with ground truth, on average {told}"


def _cells(row: dict[str, Any], place: Path, beside: Path, errors: list[str]) -> list[str]:
    told = [str(row[key]) for key in ("error", "warnings") if row.get(key)]
    numbers = ((row.get(name), text) for name, text in NUMBERS.items())
    return [
        _name(place, beside, row["name"]),
        _thumbnail(place),
        row["status"],
        *(text(n) if isinstance(n, int | float) else "" for n, text in numbers),
        *errors,
        html.prose("; ".join(told)),
    ]


def _name(place: Path, beside: Path, name: str) -> str:
    """Return a pair's name, linked to the pair's own report if there is one."""
    if not (place / OWN_REPORT).is_file():
        return name
    return html.link(quote(os.fsencode(os.path.relpath(place / OWN_REPORT, beside))), name)


def _thumbnail(place: Path) -> str:
    """Return a small picture, or nothing if there is none that can be read."""
    if not (place / PICTURE).is_file():
        return ""
    only_inside(place, PICTURE)
    try:
        picture = as_rgb8(check_image(PICTURE, read_image(place / PICTURE)))
    except FileError:  # a damaged picture must not stop the report
        return ""
    return html.image(jpeg(picture, THUMBNAIL), "disparity", html.JPEG)
