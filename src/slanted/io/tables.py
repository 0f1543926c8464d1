"""Lines and tables (CSV) of any length, read one at a time and within limits."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

LARGEST_TABLE = 2**26
"""Bytes."""
LONGEST_ROW = 2**17
"""Characters of a row, which may have several lines."""
MOST_LINES = 2**19


def table_rows(data: bytes, errors: str = "strict", **options: Any) -> Iterator[list[str]]:
    """Yield the rows of a CSV file in UTF-8; `options` are those of ``csv.reader``.

    Raises
    ------
    ValueError
        If the file is larger than `LARGEST_TABLE`, a row longer than `LONGEST_ROW`, or there are
        more than `MOST_LINES` lines.
    csv.Error
        If it is no CSV.
    """
    length = 0

    def lines() -> Iterator[str]:
        nonlocal length
        for line in text_lines(data, errors):
            length += len(line)
            if length > LONGEST_ROW:
                raise ValueError(f"expected rows of at most {LONGEST_ROW} characters")
            yield line

    for row in csv.reader(lines(), **options):
        yield row
        length = 0


def text_lines(data: bytes, errors: str = "strict") -> Iterator[str]:
    """Yield the lines of a text with their ends; limits and errors are those of `table_rows`."""
    if len(data) > LARGEST_TABLE:
        raise ValueError(f"expected at most {LARGEST_TABLE} bytes, got {len(data)}")
    stream = io.TextIOWrapper(io.BytesIO(data), "utf-8-sig", errors, newline="")
    for number, line in enumerate(iter(lambda: stream.readline(LARGEST_TABLE), ""), 1):
        if number > MOST_LINES:
            raise ValueError(f"expected at most {MOST_LINES} lines")
        yield line
