"""The summary that a batch left in its folder, and the results that it names."""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice
from pathlib import Path
from typing import Any

from slanted.batch.pairs import output_folder
from slanted.errors import FileError, did_you_mean
from slanted.io.files import read_bytes
from slanted.io.names import BATCH_MARKER, RECORD, SUMMARY_LINES, SUMMARY_TABLE
from slanted.io.tables import text_lines
from slanted.io.texts import load_json
from slanted.output.strangers import only_inside

MOST_PAIRS = 20_000
"""Rows of a summary that are read; no browser shows more, and they take memory."""
MOST_NAMED = 5
"""Pairs that a message names."""


def is_batch(folder: Path) -> bool:
    """Return whether ``slanted batch`` wrote to a folder."""
    return (folder / BATCH_MARKER).is_file()


def read_summary(folder: Path) -> list[dict[str, Any]]:
    """Return the rows of a batch's summary.

    Raises
    ------
    FileError
        If the summary is damaged, has more than `MOST_PAIRS`, or is missing because the batch has
        not ended.
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
        raise no_summary(file, error) from error


def no_summary(file: Path, why: Exception) -> FileError:
    """Return the error of a file that is not the summary of a batch."""
    return FileError(file, f"expected the summary of a batch, got something else ({why})")


def find_results(folder: Path) -> dict[str, Path]:
    """Return the folders of a batch's results, by the names of the pairs, in their order.

    Raises
    ------
    FileError
        If there is none, or as `read_summary`.
    """
    places = {}
    for row in read_summary(folder):
        if row["status"] == "done":
            try:
                place = output_folder(folder, row["name"])
                if (place / RECORD).is_file():  # else somebody removed it
                    places[row["name"]] = place
            except OSError as error:  # a name that is too long
                raise no_summary(folder / SUMMARY_LINES, error) from error
    if not places:
        raise FileError(folder, "expected a batch with results, but no pair is done")
    return places


def find_result(folder: Path, name: str) -> Path:
    """Return the folder of one pair's result.

    Raises
    ------
    FileError
        If there is no such pair, or as `find_results`.
    """
    places = find_results(folder)
    if name in places:
        return places[name]
    hint = did_you_mean(name, places)
    raise FileError(
        folder, f"expected the name of a pair ({some_names(places)}), got {name!r}{hint}"
    )


def some_names(names: Collection[str]) -> str:
    """Return the names of pairs for a message, but no more than `MOST_NAMED`."""
    return ", ".join(islice(names, MOST_NAMED)) + (", …" if len(names) > MOST_NAMED else "")
