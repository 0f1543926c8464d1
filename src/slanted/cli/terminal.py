"""What commands print: printable lines, on streams that may be closed or that nobody reads."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TextIO

import click

from slanted.errors import printable

READER_GONE = 141
"""Exit code of programs whose output nobody reads any more, as by ``| head``: 128 + SIGPIPE."""

Row = tuple[str, Sequence[tuple[str, str]]]
"""A row of a table: its label, and pieces of text, each with a style of rich or none."""


def open_standard_streams() -> None:
    """Let closed standard streams lead nowhere, as for ``slanted … 2>&-``.

    Otherwise the next file that is opened would take their place, and get what is printed.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            # The lowest free number is taken, which is this one.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "w" if number else "r", closefd=False))  # noqa: SIM115


def say(line: str) -> None:
    """Print a line of the outcome; if nobody reads it any more, the command ends."""
    _print(printable(line))


def say_rows(rows: Sequence[Row]) -> None:
    """Print a table of labels and texts: in colours on a terminal, otherwise a line for each."""
    if rows and sys.stdout.isatty():
        _print(_in_colours(rows))
        return
    width = max((len(label) for label, _ in rows), default=0)
    for label, pieces in rows:
        say(f"{label:<{width}}  {''.join(text for text, _ in pieces)}")


def _in_colours(rows: Sequence[Row]) -> str:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold")
    for label, pieces in rows:
        # Texts, which have no markup: names of files may have brackets.
        grid.add_row(label, Text.assemble(*((printable(text), style) for text, style in pieces)))
    console = Console()
    with console.capture() as captured:
        console.print(grid)
    return captured.get().rstrip("\n")


def _print(text: str) -> None:
    try:
        click.echo(text)
    except BrokenPipeError:
        _abandon(sys.stdout)
        raise click.exceptions.Exit(READER_GONE) from None


def note(line: str) -> None:
    """Print progress, a warning or an error; if that is impossible, the command goes on."""
    try:
        click.echo(printable(line), err=True)
    except OSError:
        _abandon(sys.stderr)


def is_watched() -> bool:
    """Return whether progress is seen on a terminal, where it may be drawn over."""
    return sys.stderr.isatty()


def _abandon(stream: TextIO) -> None:
    """Let a stream lead nowhere; what it still holds would fail again when Python ends."""
    with suppress(OSError, ValueError):  # a stream of a test has no number
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
