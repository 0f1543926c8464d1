"""What commands say while they work: a live line on a terminal, plain lines elsewhere.

Progress goes to standard error, outcomes to standard output, so that ``--json`` can be piped.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

import click


class Report:
    """Says what a command does, and what came of it."""

    def __init__(self, *, quiet: bool, as_json: bool) -> None:
        self.quiet = quiet
        self.as_json = as_json
        self._status: Any = None

    def __enter__(self) -> Report:
        if not self.quiet and sys.stderr.isatty():
            from rich.console import Console

            self._status = Console(stderr=True).status("starting")
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._status is not None:
            self._status.stop()

    def progress(self, text: str) -> None:
        """Say what is being done now."""
        if self._status is not None:
            self._status.update(text)
        elif not self.quiet:
            click.echo(text, err=True)

    def outcome(self, data: dict[str, Any], lines: Iterable[str], *, always: bool = False) -> None:
        """Give the outcome, as JSON or as lines; `always` if it is what the command is for."""
        if self.as_json:
            from slanted.output.stored import json_text

            click.echo(json_text(data))
        elif always or not self.quiet:
            for line in lines:
                click.echo(line)


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lay out a table as plain lines, the first column to the left, the others to the right."""
    widths = [max(len(row[k]) for row in (header, *rows)) for k in range(len(header))]

    def line(row: Sequence[str]) -> str:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        return "  ".join(cells).rstrip()

    return [line(header), "  ".join("-" * width for width in widths), *map(line, rows)]


def energy_lines(summary: dict[str, Any]) -> list[str]:
    """Say how many boundaries of each kind there are, and how good the answer provably is."""
    kinds = ", ".join(
        f"{number} {name.replace('_', ' ')}" for name, number in summary["boundaries"].items()
    )
    return [
        f"{summary['segments']} segments; boundaries: {kinds}",
        f"energy {summary['energy']:,.0f}, at most {summary['gap_percent']:.3f} % above the "
        f"optimum over the last particles (bound {summary['bound']:,.0f})",
    ]


def seconds_table(seconds: dict[str, float]) -> list[str]:
    """Lay out the time of each stage and their sum."""
    rows = [(name, f"{value:.3f}") for name, value in seconds.items()]
    return table(("stage", "seconds"), [*rows, ("total", f"{sum(seconds.values()):.3f}")])
