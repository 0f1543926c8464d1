"""A report of a batch as one HTML page: a row for each pair, with its picture and numbers."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from slanted import __version__
from slanted.batch.pairs import output_folder
from slanted.batch.scores import Measure
from slanted.batch.summary import no_summary, read_summary
from slanted.errors import FileError, plural
from slanted.images.checks import check_image
from slanted.images.colour import as_rgb8
from slanted.io import read_image
from slanted.io.names import RECORD, SUMMARY_LINES
from slanted.output import html
from slanted.output.pictures import jpeg
from slanted.output.strangers import only_inside
from slanted.report.pairs import PairRow, errors_section, figures, pairs_section
from slanted.report.results import THUMBNAIL

PICTURE = "disparity_colour.png"
OWN_REPORT = "report.html"


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
    listed = read_summary(folder)
    try:
        rows = [_row(folder, beside, each, measure, progress) for each in listed]
    except (OSError, OverflowError) as error:  # a name or a number is too long
        raise no_summary(folder / SUMMARY_LINES, error) from error
    done = [row for row, each in zip(rows, listed, strict=True) if each["status"] == "done"]
    known = sum(bool(row.errors) for row in rows)
    about = f"{plural(len(rows), 'pair')}, {len(done)} done"
    about += f", {known} with ground truth" if known else ""
    about += f"; these figures are means, slanted {__version__}"
    sections = [pairs_section(rows), *errors_section(rows)]
    return html.report(title, about, figures(done), sections), [row.name for row in rows]


def _row(
    folder: Path,
    beside: Path,
    listed: dict[str, Any],
    measure: Measure | None,
    progress: Callable[[str], None],
) -> PairRow:
    """Return the row of a pair, with its errors if it has a result, ground truth and a measure."""
    name, status = listed["name"], listed["status"]
    progress(name)
    place = _place(folder, name)
    found = None
    if measure is not None and status == "done" and (place / RECORD).is_file():
        found = measure.scores(name, place)
    errors, trust = found or ({}, None)
    errors = errors if trust is None else {**errors, **trust.metrics}
    told = [str(listed[key]) for key in ("error", "warnings") if listed.get(key)]
    told = told if status == "done" else [f"{status}: {'; '.join(told)}" if told else status]
    address = ""
    if (place / OWN_REPORT).is_file():
        address = quote(os.fsencode(os.path.relpath(place / OWN_REPORT, beside)))
    return PairRow(name, listed, errors, trust, _thumbnail(place), address, "; ".join(told))


def _place(folder: Path, name: str) -> Path:
    place = folder / name
    if os.path.lexists(place):  # a missing folder has no links to check, which is slow
        place = output_folder(folder, name)  # refuses names that lead out of it
    return place


def _thumbnail(place: Path) -> bytes:
    """Return a small picture, or nothing if there is none that can be read."""
    if not (place / PICTURE).is_file():
        return b""
    only_inside(place, PICTURE)
    try:
        picture = as_rgb8(check_image(PICTURE, read_image(place / PICTURE)))
    except FileError:  # a damaged picture must not stop the report
        return b""
    return jpeg(picture, THUMBNAIL)
