"""The steps of a command on a terminal: those that have ended with their times, and a spinner."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any

from slanted.errors import printable

if TYPE_CHECKING:
    from rich.console import Group
    from rich.text import Text

BAR = 24
"""Characters of the bar of a step that counts."""
MOST = 12
"""Steps that are listed; a short terminal would show only the first of more."""


class Steps:
    """Draws steps over each other on standard error, and removes them at the end.

    `listed` keeps steps that have ended in sight.
    """

    def __init__(self, *, listed: bool) -> None:
        from rich.console import Console
        from rich.live import Live
        from rich.spinner import Spinner

        self._listed = listed
        self._ended: list[tuple[str, float]] = []
        self._text, self._start = "starting", time.perf_counter()
        self._spinner = Spinner("dots")
        self._live: Any = Live(
            console=Console(stderr=True), get_renderable=self._draw, transient=True
        )

    def start(self) -> None:
        """Begin to draw."""
        self._live.start()

    def stop(self) -> None:
        """Leave the terminal as it was."""
        self._live.stop()

    def begin(self, text: str) -> None:
        """Show a step as the current one; words before a colon tell whether it is still the last.

        So "compiling: 3 of 9" goes on with "compiling: 2 of 9".
        """
        now = time.perf_counter()
        if text.partition(":")[0] != self._text.partition(":")[0]:
            self._ended = [*self._ended, (self._text, now - self._start)][-MOST:]
            self._start = now
        self._text = text

    def lines(self) -> list[Text]:
        """Return what is shown: steps that have ended, if they are listed, and the current one."""
        from rich.text import Text

        current = time.perf_counter() - self._start
        ended = self._ended if self._listed else []
        lines = [Text(f"  {printable(text)}  {seconds:.2f} s", "dim") for text, seconds in ended]
        shown = f"{current:.0f} s" if current >= 1 else ""
        told = "  ".join(filter(None, (printable(self._text), bar(self._text), shown)))
        return [*lines, Text(told)]  # no markup in names

    def _draw(self) -> Group:
        from rich.console import Group

        *ended, current = self.lines()
        self._spinner.update(text=current)
        return Group(*ended, self._spinner)


def bar(text: str) -> str:
    """Return a bar for a step that ends with "3 of 9", and nothing for others."""
    counted = re.search(r": (\d+) of (\d+)$", text)
    if counted is None or int(counted[2]) == 0:
        return ""
    done = BAR * int(counted[1]) // int(counted[2])
    return "━" * done + "─" * (BAR - done)
