"""A report of a batch as one HTML page: a row for each pair, with its picture and numbers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import quote

from slanted.batch.pairs import output_folder
from slanted.errors import FileError, plural
from slanted.images.checks import check_image
from slanted.images.colour import as_rgb8
from slanted.io import read_bytes, read_image
from slanted.io.names import BATCH_MARKER, SUMMARY_LINES, SUMMARY_TABLE
from slanted.io.tables import text_lines
from slanted.io.texts import load_json
from slanted.output import html
from slanted.output.pictures import jpeg
from slanted.output.result_data import only_inside

PICTURE = "disparity_colour.png"
OWN_REPORT = "report.html"
THUMBNAIL = 200
"""Largest width of a pair's picture, in pixels."""
MOST_PAIRS = 20_000
"""Rows of a page; no browser shows more."""
NUMBERS = {"width": "{:.0f}", "height": "{:.0f}", "segments": "{:,.0f}",
           "matched_percent": "{:.1f}", "energy": "{:,.0f}", "gap_percent": "{:.2f}",
           "seconds": "{:.1f}"}  # fmt: skip
"""Numbers of a record that are shown, and their formats."""


def is_batch(folder: Path) -> bool:
    """Return whether ``slanted batch`` wrote to a folder."""
    return (folder / BATCH_MARKER).is_file()


def read_summary(folder: Path) -> list[dict[str, Any]]:
    """Return the rows of a batch's summary.

    Raises
    ------
    FileError
        If the summary is damaged, or missing because the batch has not ended.
    """
    file = folder / SUMMARY_LINES
    if not file.is_file():
        raise FileError(
            folder,
            f"expected a batch that has ended, with {SUMMARY_LINES}; finish it with --resume",
        )
    only_inside(folder, SUMMARY_LINES)
    try:
        rows = [load_json(line) for line in islice(text_lines(read_bytes(file)), MOST_PAIRS + 1)]
        if len(rows) > MOST_PAIRS:
            raise FileError(
                file,
                f"expected at most {MOST_PAIRS} pairs, which is all that a page can show, got more;"
                f" read {SUMMARY_TABLE} instead, or make batches of fewer pairs",
            )
        if all(isinstance(row["name"], str) and isinstance(row["status"], str) for row in rows):
            return rows
        raise ValueError("a pair without name or status")
    except (ValueError, TypeError, KeyError) as error:
        raise _no_summary(file, error) from error


def _no_summary(file: Path, why: Exception) -> FileError:
    return FileError(file, f"expected the summary of a batch, got something else ({why})")


def build_index(
    folder: Path, beside: Path, title: str, progress: Callable[[str], None]
) -> tuple[str, list[str]]:
    """Return the page, and the names of its pairs.

    Links are relative to `beside`, the folder that the page is written to. `progress` is called
    with the name of each pair.
    """
    rows = read_summary(folder)
    done = sum(row["status"] == "done" for row in rows)
    try:
        cells = list(_cells(folder, beside, rows, progress))
    except (OSError, OverflowError) as error:  # a name or a number is too long
        raise _no_summary(folder / SUMMARY_LINES, error) from error
    header = ["pair", "", "status", *(name.replace("_percent", " %") for name in NUMBERS)]
    parts = [
        html.heading(title, 1),
        html.paragraph(f"{plural(len(rows), 'pair')}, {done} done", "faint"),
        html.table([*header, "warnings and errors"], cells),
    ]
    return html.page(title, parts), [row["name"] for row in rows]


def _cells(
    folder: Path, beside: Path, rows: list[dict[str, Any]], progress: Callable[[str], None]
) -> Iterator[list[str]]:
    for row in rows:
        progress(row["name"])
        place = folder / row["name"]
        if os.path.lexists(place):  # a missing folder has no links to check, which is slow
            place = output_folder(folder, row["name"])  # refuses names that lead out of it
        told = [str(row[key]) for key in ("error", "warnings") if row.get(key)]
        numbers = ((row.get(name), text) for name, text in NUMBERS.items())
        yield [
            _name(place, beside, row["name"]),
            _thumbnail(place),
            row["status"],
            *(text.format(n) if isinstance(n, int | float) else "" for n, text in numbers),
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
