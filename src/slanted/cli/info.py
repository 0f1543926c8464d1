"""``slanted info``: what a file is."""

from __future__ import annotations

from pathlib import Path

import click

from slanted.cli import options
from slanted.cli.help import new_command
from slanted.cli.progress import Report
from slanted.errors import one_line


@new_command(name="info", short_help="Say what a file, or a result, is.")
@click.argument("file", type=options.PATH)
@options.json
def command(file: Path, as_json: bool) -> None:
    """Print the format, size, range of values and likely meaning of FILE.

    Numbers are rounded to six digits; --json has all of them.

    FILE may be any file that slanted reads or writes, a video or a recording of ROS 2, or the
    folder of a result or of a batch.
    """
    from slanted.io.info import describe
    from slanted.io.names import BATCH_MARKER, RECORD
    from slanted.ros.bags import Recording, is_recording

    is_ours = (file / RECORD).is_file() or (file / BATCH_MARKER).is_file()
    if is_recording(file) and not is_ours:
        found: dict[str, object] = {"file": str(file), **Recording(file).describe()}
    else:
        found = describe(file)
    lines = [line for name, value in found.items() for line in _lines(name, value)]
    Report(quiet=False, as_json=as_json).outcome(found, lines)


def _lines(name: str, value: object) -> list[str]:
    """Return a line for a value, or for a group and each of its values."""
    if not isinstance(value, dict):
        return [f"{name + ':':<16} {one_line(_text(value))}"]
    width = max(map(len, value), default=0)
    inner = value.items()
    return [f"{name}:", *(one_line(f"  {key:<{width}}  {_text(each)}") for key, each in inner)]


def _text(value: object) -> str:
    """Return a value as text; numbers to six digits, which ``--json`` has in full."""
    if value is None:
        return "unknown"
    if isinstance(value, tuple):
        return " × ".join(map(_text, value))
    if not isinstance(value, float):
        return str(value)
    return f"{value:,.0f}" if 1e6 <= abs(value) < 1e15 else f"{value:.6g}"
