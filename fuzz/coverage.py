"""Which lines of slanted an input reaches that none before it did."""

from __future__ import annotations

import sys
from types import CodeType, FrameType
from typing import Any

PACKAGE = "slanted"


def make_coverage() -> SeenLines:
    """Return what counts lines on this Python."""
    return SeenOnce() if sys.version_info >= (3, 12) else SeenLines()


def _is_ours(code: CodeType) -> bool:
    return f"/{PACKAGE}/" in code.co_filename


class SeenLines:
    """Counts steps from line to line by ``sys.settrace``."""

    def __init__(self) -> None:
        self.seen: set[tuple[CodeType, int, int]] = set()

    def __enter__(self) -> SeenLines:
        self._before = len(self.seen)
        sys.settrace(self._call)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)

    @property
    def is_new(self) -> bool:
        """Whether the last input went where none was before."""
        return len(self.seen) > self._before

    def _call(self, frame: FrameType, event: str, argument: Any) -> Any:
        if not _is_ours(frame.f_code):
            return None
        last = 0

        def line(frame: FrameType, event: str, argument: Any) -> Any:
            nonlocal last
            if event == "line":
                self.seen.add((frame.f_code, last, frame.f_lineno))
                last = frame.f_lineno
            return line

        return line


class SeenOnce(SeenLines):
    """Counts lines by ``sys.monitoring``, which costs nothing where a line was seen before."""

    TOOL = 4

    def __enter__(self) -> SeenOnce:
        self._before = len(self.seen)
        events = sys.monitoring.events
        sys.monitoring.use_tool_id(self.TOOL, "slanted-fuzz")
        sys.monitoring.register_callback(self.TOOL, events.LINE, self._line)
        sys.monitoring.set_events(self.TOOL, events.LINE)
        return self

    def __exit__(self, *_: object) -> None:
        sys.monitoring.set_events(self.TOOL, 0)
        sys.monitoring.free_tool_id(self.TOOL)

    def _line(self, code: CodeType, number: int) -> Any:
        if _is_ours(code):
            self.seen.add((code, 0, number))
        return sys.monitoring.DISABLE
