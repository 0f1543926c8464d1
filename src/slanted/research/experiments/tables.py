"""Tables of numbers, as Markdown, CSV, HTML and JSON."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from math import isfinite
from typing import Any

from slanted.output import html

Cell = float | None
"""None if there is no number."""


@dataclass(frozen=True)
class Row:
    """A row of a table; `quoted` if its numbers come from a publication."""

    name: str
    cells: tuple[Cell, ...]
    quoted: bool = False


@dataclass(frozen=True)
class Table:
    """A table of numbers."""

    title: str
    columns: tuple[str, ...]  # names of the columns, without that of row names
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()  # sentences below the table
    over: str = ""  # what the numbers are means over, such as "20 frames"

    def cell(self, row: str, column: str) -> Cell:
        """Return a number by the names of its row and column; a LookupError if there is none."""
        cells = {r.name: dict(zip(self.columns, r.cells, strict=True)) for r in self.rows}
        return cells[row][column]

    def markdown(self) -> str:
        """Return the table with two decimals, and its notes below."""
        lines = ["| " + " | ".join(["", *self.columns]) + " |"]
        lines.append("|" + "---|" * (1 + len(self.columns)))
        lines += [
            f"| {row.name} | " + " | ".join(map(_shown, row.cells)) + " |" for row in self.rows
        ]
        parts = [f"**{self.title}**", "\n".join(lines), *self.notes]
        return "\n\n".join(parts) + "\n"

    def csv(self) -> str:
        """Return the table with all digits; missing numbers are empty."""
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["", *self.columns])
        for row in self.rows:
            writer.writerow([row.name, *("" if cell is None else repr(cell) for cell in row.cells)])
        return stream.getvalue()

    def html(self) -> str:
        """Return the table with two decimals, and its notes below."""
        rows = [[row.name, *map(_shown, row.cells)] for row in self.rows]
        quoted = [k for k, row in enumerate(self.rows) if row.quoted]
        names = [column.replace("px-", "px ") for column in self.columns]  # may break there
        parts = [html.heading(self.title, 3), html.table(["", *names], rows, quoted)]
        return "\n".join([*parts, *(html.paragraph(note, "faint") for note in self.notes)])

    def as_dict(self) -> dict[str, Any]:
        """Return the table for JSON."""
        rows = {}
        for row in self.rows:  # JSON has neither NaN nor infinity
            cells = [c if c is not None and isfinite(c) else None for c in row.cells]
            rows[row.name] = dict(zip(self.columns, cells, strict=True))
        return {"title": self.title, "rows": rows, "notes": list(self.notes)}


def _shown(cell: Cell) -> str:
    """Return two decimals, but whole numbers as they are."""
    if cell is None or not isfinite(cell):
        return "–"
    return str(cell) if isinstance(cell, int) else f"{cell:.2f}"
