"""A small coverage-guided fuzzer: inputs that reach new lines of slanted are kept and changed."""

from __future__ import annotations

import hashlib
import sys
import time
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from types import CodeType, FrameType
from typing import Any

from fuzz.mutate import mutate
from fuzz.target import Finding, Target, attempt


@dataclass
class Outcome:
    """What a run did and found."""

    target: str
    executions: int = 0
    kept: int = 0
    lines: int = 0
    seconds: float = 0.0
    most_megabytes: float = 0.0
    most_seconds: float = 0.0
    """What the greediest and the slowest input took."""
    findings: dict[str, bytes] = field(default_factory=dict)


def fuzz(
    target: Target,
    runs: int,
    seconds: float,
    seed: int = 0,
    *,
    guided: bool = True,
    until_found: bool = False,
    corpus: list[bytes] | None = None,
) -> Outcome:
    """Try the seeds of a target, then changes of them.

    Parameters
    ----------
    target
        What to fuzz.
    runs, seconds
        When to stop, whichever comes first.
    seed
        Seed of all random choices.
    guided
        Whether to look for new lines, which takes time. Without it only the seeds are changed, and
        a given number of runs is the same on every machine.
    until_found
        Whether to stop at the first finding.
    corpus
        The inputs that an earlier call kept, to go on from; this call adds to them.
    """
    draw = Random(f"{target.name} {seed}")
    coverage = LineMonitor() if sys.version_info >= (3, 12) else LineTracer()
    queue = [] if corpus else target.seeds()
    corpus = [] if corpus is None else corpus
    corpus += queue
    outcome = Outcome(target.name)
    start = time.monotonic()
    while outcome.executions < runs and time.monotonic() - start < seconds:
        data = queue.pop() if queue else mutate(
            draw.choice(corpus), draw.choice(corpus), target.tokens, draw
        )  # fmt: skip
        outcome.executions += 1
        watched = guided and (bool(queue) or draw.random() < coverage.SHARE)
        try:
            with coverage if watched else nullcontext():
                used = attempt(target, data)
            outcome.most_megabytes = max(outcome.most_megabytes, round(used.megabytes, 1))
            outcome.most_seconds = max(outcome.most_seconds, round(used.seconds, 2))
        except Finding as finding:
            outcome.findings.setdefault(str(finding)[:80], data)
            if until_found:
                break
        if watched and coverage.is_new and not queue:
            corpus.append(data)
    outcome.kept, outcome.lines = len(corpus), len(coverage.seen)
    outcome.seconds = time.monotonic() - start
    return outcome


def keep_findings(outcome: Outcome, folder: Path) -> list[Path]:
    """Write the inputs of findings to files named by their content."""
    files = []
    for data in outcome.findings.values():
        file = folder / f"{outcome.target}-{hashlib.sha256(data).hexdigest()[:12]}"
        folder.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        files.append(file)
    return files


def _is_ours(code: CodeType) -> bool:
    return "/slanted/" in code.co_filename


class LineTracer:
    """Records steps from line to line in slanted, by ``sys.settrace``."""

    SHARE = 0.25
    """How many of the inputs are watched, because that takes up to six times as long."""

    def __init__(self) -> None:
        self.seen: set[tuple[CodeType, int, int]] = set()
        self._before = 0

    def __enter__(self) -> None:
        self._before = len(self.seen)
        self._start()

    def __exit__(self, *_: object) -> None:
        self._stop()

    @property
    def is_new(self) -> bool:
        """Whether the last input made a step that none made before."""
        return len(self.seen) > self._before

    def _start(self) -> None:
        sys.settrace(self._call)

    def _stop(self) -> None:
        sys.settrace(None)

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


class LineMonitor(LineTracer):
    """Records lines by ``sys.monitoring``, which costs nothing for lines seen before."""

    SHARE = 1.0
    TOOL = 4

    def _start(self) -> None:
        events = sys.monitoring.events
        sys.monitoring.use_tool_id(self.TOOL, "slanted-fuzz")
        sys.monitoring.register_callback(self.TOOL, events.LINE, self._line)
        sys.monitoring.set_events(self.TOOL, events.LINE)

    def _stop(self) -> None:
        sys.monitoring.set_events(self.TOOL, 0)
        sys.monitoring.free_tool_id(self.TOOL)

    def _line(self, code: CodeType, number: int) -> Any:
        if _is_ours(code):
            self.seen.add((code, 0, number))
        return sys.monitoring.DISABLE
