"""The summary that a batch left in its folder, and the results that it names."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from slanted.batch.pairs import MOST_PAIRS, output_folder
from slanted.errors import FileError, did_you_mean
from slanted.io.files import open_input
from slanted.io.names import BATCH_MARKER, RECORD, SUMMARY_LINES, SUMMARY_TABLE
from slanted.io.tables import LONGEST_ROW
from slanted.io.texts import load_json
from slanted.output.strangers import only_inside

MOST_SHOWN = 20_000
"""Rows of a summary that are read as a whole: no browser shows more, and each takes kilobytes."""
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
        If the summary is damaged, has more than `MOST_SHOWN` pairs, or is missing because the batch
        has not ended.
    """
    rows = read_short_summary(folder)
    if rows is None:
        raise FileError(
            folder / SUMMARY_LINES,
            f"expected at most {MOST_SHOWN} pairs, which is all that a page can show, got more; "
            f"read {SUMMARY_TABLE} instead, or make batches of fewer pairs",
        )
    return rows


def read_short_summary(folder: Path) -> list[dict[str, Any]] | None:
    """Return the rows of a batch's summary, None if it has more than `MOST_SHOWN` pairs.

    A FileError says that the summary is damaged or missing.
    """
    rows = list(islice(_rows(folder), MOST_SHOWN + 1))
    return None if len(rows) > MOST_SHOWN else rows


def _rows(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a summary one at a time, as many as a batch can have."""
    file = folder / SUMMARY_LINES
    if not file.is_file():
        raise FileError(
            folder,
            f"expected a batch that has ended, with {SUMMARY_LINES}; finish it with --resume",
        )
    only_inside(folder, SUMMARY_LINES)
    number = -1
    try:
        for number, line in enumerate(_lines(file)):
            row = load_json(line)
            if not (isinstance(row["name"], str) and isinstance(row["status"], str)):
                raise ValueError("a pair without name or status")
            if number == MOST_PAIRS:
                raise FileError(
                    file, f"expected at most {MOST_PAIRS} pairs, got more; make smaller batches"
                )
            yield row
    except (ValueError, TypeError, KeyError) as error:
        raise no_summary(file, error) from error
    if number < 0:
        raise FileError(file, "the file is empty (0 bytes), so there are no pairs to be seen")


def _lines(file: Path) -> Iterator[bytes]:
    """Yield lines as they are read: the summary of a large batch has hundreds of megabytes."""
    with open_input(file) as stream:
        yield from iter(lambda: stream.readline(LONGEST_ROW), b"")


def no_summary(file: Path, why: Exception) -> FileError:
    """Return the error of a file that is not the summary of a batch."""
    return FileError(file, f"expected the summary of a batch, got something else ({why})")


def find_results(folder: Path) -> dict[str, Path]:
    """Return the folders of a batch's results, by the names of the pairs, in their order.

    Raises
    ------
    FileError
        If there is none, the summary is damaged or missing, or has more pairs than a batch can.
    """
    places = {}
    for row in _rows(folder):
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
