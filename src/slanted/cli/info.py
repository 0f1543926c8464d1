"""``slanted info``: what a file is."""

from __future__ import annotations

from pathlib import Path

import click

from slanted.cli.options import PathArgument
from slanted.cli.progress import Report


@click.command(name="info", short_help="Say what a file, or a result, is.")
@click.argument("file", type=PathArgument)
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON.")
def command(file: Path, as_json: bool) -> None:
    """Say a FILE's format, size, range of values and likely meaning.

    FILE may be the folder of a result.
    """
    from slanted.io.info import describe

    found = describe(file)
    lines = [f"{name + ':':<16} {value}" for name, value in found.items()]
    Report(quiet=False, as_json=as_json).outcome(found, lines)
