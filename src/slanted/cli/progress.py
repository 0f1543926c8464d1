"""Progress of commands: a live line on a terminal, plain lines elsewhere.

Progress goes to standard error and outcomes to standard output, so that ``--json`` can be piped.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from math import ceil, isfinite
from typing import Any

from slanted.cli.terminal import is_watched, note, say
from slanted.errors import printable


class Report:
    """Reports the progress and the outcome of a command."""

    def __init__(self, *, quiet: bool, as_json: bool) -> None:
        self.quiet = quiet
        self.as_json = as_json
        self._status: Any = None

    def __enter__(self) -> Report:
        if not self.quiet and is_watched():
            from rich.console import Console

            self._status = Console(stderr=True).status("starting")
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._status is not None:
            self._status.stop()

    def progress(self, text: str) -> None:
        """Show what is being done now."""
        if self._status is not None:
            from rich.text import Text

            self._status.update(Text(printable(text)))  # brackets would be markup in a plain text
        elif not self.quiet:
            note(text)

    def outcome(self, data: dict[str, Any], lines: Iterable[str], *, always: bool = False) -> None:
        """Print the outcome as JSON or as lines; `always` prints them even if quiet."""
        if self.as_json:
            from slanted.output.result_data import json_text

            for line in json_text(data).splitlines():
                say(line)
        elif always or not self.quiet:
            for line in lines:
                say(line)


def compile_kernels(report: Report) -> None:
    """Compile the kernels, with progress, unless this machine has done so before."""
    from slanted.runtime.compilation import cache_folder, is_warm

    if is_warm():
        return
    if cache_folder() is None:
        report.progress(
            "compiling kernels as they are needed, in every run, because no folder to keep them in "
            "is writable; set NUMBA_CACHE_DIR to one that is"
        )
    else:
        compile_listed(report)


def compile_listed(report: Report) -> tuple[int, float]:
    """Compile the listed kernels; return their number and the seconds it took."""
    from slanted.runtime.compilation import compile_ahead

    start = time.perf_counter()
    live = is_watched()

    def count(done: int, total: int) -> None:
        if live or done in (0, total):  # one line per kernel would be too many
            report.progress(f"compiling kernels, once: {done} of {total}")

    compiled = compile_ahead(count)
    return compiled, time.perf_counter() - start


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a table as lines, with the first column flush left and the others flush right."""
    widths = [max(len(row[k]) for row in (header, *rows)) for k in range(len(header))]

    def line(row: Sequence[str]) -> str:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        return "  ".join(cells).rstrip()

    return [line(header), "  ".join("-" * width for width in widths), *map(line, rows)]


def energy_lines(summary: dict[str, Any]) -> list[str]:
    """Return lines on the boundaries of each kind, the energy and its gap, and the confidence."""
    kinds = ", ".join(
        f"{number} {name.replace('_', ' ')}" for name, number in summary["boundaries"].items()
    )
    return [
        *(f"doubtful: {doubt}" for doubt in summary.get("doubts", ())),
        *_rectification_lines(summary.get("rectification")),
        f"{summary['segments']} segments; boundaries: {kinds}",
        *_certificate_lines(summary),
        *_confidence_lines(summary),
    ]


def _up(percent: float, digits: int) -> str:
    """Return a percentage, rounded up: it is said to be the most."""
    if not isfinite(percent):
        return str(percent)
    return f"{ceil(percent * 10**digits - 1e-6) / 10**digits:.{digits}f}"


def _rectification_lines(check: dict[str, Any] | None) -> list[str]:
    if check is None:
        return ["rectification: not known, since too few features match, or not checked"]
    if not check["corrected"]:
        return []
    warp = check["warp"]
    return [
        f"the rows of the right image were off by {warp['rms']:.2f} px "
        f"(rms, ± {warp['uncertainty']:.2f}): straightened before matching"
    ]


def _certificate_lines(summary: dict[str, Any]) -> list[str]:
    lines = [
        f"energy {summary['energy']:,.0f}, at most {_up(summary['gap_percent'], 3)} % above the "
        f"optimum over the last particles (bound {summary['bound']:,.0f})"
    ]
    share = summary.get("gap_above_floor_percent")
    if share is not None and isfinite(share):
        lines.append(
            f"that is at most {_up(share, 1)} % of the energy above the floor of "
            f"{summary['floor']:,.0f}, where each term is minimised alone; it bounds the search, "
            "not the error of the disparity"
        )
    return lines


def _confidence_lines(summary: dict[str, Any]) -> list[str]:
    if "confidence_median" not in summary:
        return ["no confidence: there are no trees, or the disparity is your own"]
    line = f"median confidence {summary['confidence_median']:.2f}, "
    line += f"{summary['low_confidence_percent']:.1f} % of the pixels low"
    dropped = summary["dropped_percent"]
    return [f"{line}, {dropped:.1f} % left out" if dropped else line]


def seconds_table(seconds: dict[str, float]) -> list[str]:
    """Return a table of the time of each stage and their sum."""
    rows = [(name, f"{value:.3f}") for name, value in seconds.items()]
    return table(("stage", "seconds"), [*rows, ("total", f"{sum(seconds.values()):.3f}")])
