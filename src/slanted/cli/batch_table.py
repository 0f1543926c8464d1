"""The progress of a batch: a live table on a terminal, a line for each pair elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from slanted.cli.terminal import is_watched, note
from slanted.errors import plural, printable

if TYPE_CHECKING:
    from rich.text import Text

    from slanted.batch.run import Tally

LAST = 8
"""Number of finished pairs that the live table shows."""


class BatchTable:
    """Shows the progress of a batch on standard error."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._live: Any = None
        self._ended: list[dict[str, Any]] = []
        self._tally: Tally | None = None

    def __enter__(self) -> BatchTable:
        if not self._quiet and is_watched():
            from rich.console import Console
            from rich.live import Live

            self._live = Live(console=Console(stderr=True), refresh_per_second=4)
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def update(self, tally: Tally, record: dict[str, Any] | None) -> None:
        """Show the progress and, if there is a record, the pair that has ended."""
        begins, self._tally = self._tally is None, tally
        if record is not None:
            self._ended = [*self._ended, record][-LAST:]
        if self._live is not None:
            self._live.update(self._table(tally))
        elif record is not None and not self._quiet:
            note(f"{tally.ended}/{tally.total} {_text(record)}; {speed(tally)}")
        elif begins and not self._quiet:
            note(f"{plural(tally.total, 'pair')}, {speed(tally)}")

    @property
    def tally(self) -> Tally | None:
        """The progress that was shown last; None before the first."""
        return self._tally

    def interrupted(self, kept: str) -> None:
        """Print how many pairs are kept, including those that no tally has counted yet."""
        if self._tally is not None and not self._quiet:
            note(f"{kept} of {self._tally.total} pairs are kept; go on with --resume")

    def _table(self, tally: Tally) -> Text:
        from rich.text import Text

        failed = f", {tally.failed} failed" * bool(tally.failed)
        skipped = f", {tally.skipped} done before" * bool(tally.skipped)
        title = f"{tally.ended}/{tally.total} pairs{skipped}{failed}; {speed(tally)}"
        ended = [f"  {_text(record)}" for record in self._ended]
        running = [f"  {name} …" for name in tally.running]
        return Text("\n".join(map(printable, [title, *ended, *running])))


def speed(tally: Tally) -> str:
    """Return the rate so far and the time left, as text."""
    left = tally.seconds_left
    if left is None:
        return f"{tally.workers} at a time, {plural(tally.threads, 'thread')} each"
    rate = f"{60 * tally.rate:.1f} a minute"
    return f"{rate}, {duration(left)} left"


def duration(seconds: float) -> str:
    """Return a time in seconds, minutes or hours, as text."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 90 else f"{minutes / 60:.1f} h"


def _text(record: dict[str, Any]) -> str:
    name, outcome = record["name"], record["outcome"]
    if outcome == "failed":
        return f"{name}: failed, {record['error']}"
    if outcome == "skipped":
        return f"{name}: done before"
    return f"{name}: {record['seconds']['total']:.1f} s, energy {record['energy']:,.0f}"
