"""A small coverage-guided fuzzer: inputs that reach new lines are kept and changed further."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from fuzz.coverage import make_coverage
from fuzz.mutate import mutate
from fuzz.target import Finding, Target, attempt


@dataclass
class Outcome:
    """What a run came to."""

    target: str
    executions: int = 0
    kept: int = 0
    lines: int = 0
    seconds: float = 0.0
    findings: dict[str, bytes] = field(default_factory=dict)


def fuzz(
    target: Target,
    runs: int,
    seconds: float,
    seed: int = 0,
    *,
    guided: bool = True,
    until_found: bool = False,
) -> Outcome:
    """Try the seeds of a target, then changes of them.

    Parameters
    ----------
    target
        What to fuzz.
    runs, seconds
        When to stop, whichever comes first.
    seed
        Of all choices.
    guided
        Whether to look for new lines, which takes time; without it seeds alone are changed, and a
        run of a given number is the same on every machine.
    until_found
        Whether the first finding ends the run.
    """
    draw = Random(f"{target.name} {seed}")
    coverage = make_coverage()
    corpus = target.seeds()
    outcome = Outcome(target.name)
    start = time.monotonic()
    queue = list(corpus)
    while outcome.executions < runs and time.monotonic() - start < seconds:
        data = queue.pop() if queue else mutate(
            draw.choice(corpus), draw.choice(corpus), target.tokens, draw
        )  # fmt: skip
        outcome.executions += 1
        try:
            if guided:
                with coverage:
                    attempt(target, data)
            else:
                attempt(target, data)
        except Finding as finding:
            outcome.findings.setdefault(str(finding)[:80], data)
            if until_found:
                break
        if guided and coverage.is_new and not queue:
            corpus.append(data)
    outcome.kept, outcome.lines = len(corpus), len(coverage.seen)
    outcome.seconds = time.monotonic() - start
    return outcome


def keep_findings(outcome: Outcome, folder: Path) -> list[Path]:
    """Write the inputs of findings, named by their content."""
    files = []
    for data in outcome.findings.values():
        file = folder / f"{outcome.target}-{hashlib.sha256(data).hexdigest()[:12]}"
        folder.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        files.append(file)
    return files
