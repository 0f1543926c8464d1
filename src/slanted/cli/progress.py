"""Progress of commands: a live line on a terminal, plain lines elsewhere.

Progress goes to standard error and outcomes to standard output, so that ``--json`` can be piped.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from slanted.cli.terminal import Row, is_watched, note, say, say_rows

if TYPE_CHECKING:
    from slanted.cli.steps import Steps

EVERY_SECONDS = 10.0
"""A log gets a line at least this often while kernels compile."""


class Report:
    """Reports the progress and the outcome of a command."""

    def __init__(self, *, quiet: bool, as_json: bool) -> None:
        self.quiet = quiet
        self.as_json = as_json
        self._listed = False
        self._steps: Steps | None = None

    def listing_steps(self) -> Report:
        """Return this report; it will keep the steps that have ended in sight, with their times."""
        self._listed = True
        return self

    def __enter__(self) -> Report:
        if not self.quiet and is_watched():
            from slanted.cli.steps import Steps

            self._steps = Steps(listed=self._listed)
            self._steps.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._steps is not None:
            self._steps.stop()

    def progress(self, text: str) -> None:
        """Show what is being done now."""
        if self._steps is not None:
            self._steps.begin(text)
        elif not self.quiet:
            note(text)

    def outcome(
        self,
        data: dict[str, Any],
        lines: Iterable[str] = (),
        rows: Sequence[Row] = (),
        *,
        always: bool = False,
    ) -> None:
        """Print the outcome as JSON, or as lines and a table; `always` does so even if quiet."""
        if self.as_json:
            from slanted.output.result_data import json_text

            for line in json_text(data).splitlines():
                say(line)
        elif always or not self.quiet:
            for line in lines:
                say(line)
            say_rows(rows)


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
    reached = [0, 0]

    def tell() -> None:
        done, total = reached
        report.progress(f"compiling kernels, once: {done} of {total}")

    def count(done: int, total: int) -> None:
        reached[:] = done, total
        if is_watched() or done in (0, total):  # one line per kernel would be too many
            tell()

    # A log without a terminal moves on as well, though a single kernel may take long.
    with _repeated(tell, EVERY_SECONDS):
        compiled = compile_ahead(count)
    return compiled, time.perf_counter() - start


@contextmanager
def _repeated(call: Callable[[], None], seconds: float) -> Iterator[None]:
    """Call a function every so many seconds, in a thread, while the block runs."""
    ended = threading.Event()

    def repeat() -> None:
        while not ended.wait(seconds):
            call()

    thread = threading.Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a table as lines, with the first column flush left and the others flush right."""
    widths = [max(len(row[k]) for row in (header, *rows)) for k in range(len(header))]

    def line(row: Sequence[str]) -> str:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        return "  ".join(cells).rstrip()

    return [line(header), "  ".join("-" * width for width in widths), *map(line, rows)]
