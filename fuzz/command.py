"""Command line of the fuzzers."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path

from fuzz.target import Finding, attempt

ROUND_RUNS, ROUND_SECONDS = 2000, 20.0
"""Of each target in a round of `--executions`, whichever ends first."""


def main() -> int:
    """Fuzz targets one after the other, and write the outcomes as JSON lines."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("target", help="name, or 'all', or 'list'")
    parser.add_argument("inputs", nargs="*", type=Path, help="files to try instead of fuzzing")
    parser.add_argument("--runs", type=int, default=20_000, help="executions per target")
    parser.add_argument("--seconds", type=float, default=600, help="at most, per target")
    parser.add_argument("--executions", type=int, help="of all targets together, in rounds; those"
                        " in --log count, so that a run can be continued")  # fmt: skip
    parser.add_argument("--log", type=Path, default=Path("fuzz-log.jsonl"),
                        help="the outcomes of all rounds of --executions")  # fmt: skip
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--atheris", action="store_true", help="libFuzzer instead of our own")
    parser.add_argument("--findings", type=Path, default=Path("fuzz-findings"))
    options = parser.parse_args()
    if options.atheris:
        from fuzz.with_atheris import run

        run(options.target, options.runs, options.seconds, options.seed, options.findings)
    from fuzz.targets import TARGETS

    if options.target == "list":
        sys.stdout.write("\n".join(TARGETS) + "\n")
        return 0
    names = list(TARGETS) if options.target == "all" else [options.target]
    if options.inputs:
        return _again(names[0], options.inputs)
    if options.executions is not None:
        return _in_rounds(names, options)
    return max(_fuzz(name, options)[1] for name in names)


def _in_rounds(names: list[str], options: argparse.Namespace) -> int:
    """Fuzz all targets in turn until their executions, with those of the log, are enough."""
    corpora: dict[str, list[bytes]] = {name: [] for name in names}
    rounds, total, worst = Counter[str](), 0, 0
    if options.log.exists():
        for row in map(json.loads, options.log.read_text().splitlines()):
            rounds[row["target"]] += 1
            total += row["executions"]
            worst = max(worst, bool(row["findings"]))
    options.runs, options.seconds = ROUND_RUNS, ROUND_SECONDS
    while total < options.executions:
        name = min(names, key=lambda name: rounds[name])
        # Another seed each round; what was kept is tried again only after a restart.
        options.seed = rounds[name]
        with options.log.open("a") as log:
            row, found = _fuzz(name, options, corpora[name])
            log.write(row + "\n")
        rounds[name] += 1
        total += json.loads(row)["executions"]
        worst = max(worst, found)
    sys.stdout.write(f"{total} executions, log in {options.log}\n")
    return worst


def _fuzz(
    name: str, options: argparse.Namespace, corpus: list[bytes] | None = None
) -> tuple[str, int]:
    """Fuzz a target; return the outcome as a line of JSON, and whether there were findings."""
    from fuzz.engine import fuzz, keep_findings
    from fuzz.targets import TARGETS

    outcome = fuzz(TARGETS[name], options.runs, options.seconds, options.seed, corpus=corpus)
    files = keep_findings(outcome, options.findings)
    found = [f"{file}: {what}" for file, what in zip(files, outcome.findings, strict=True)]
    row = json.dumps({**vars(outcome), "seconds": round(outcome.seconds, 1), "findings": found})
    sys.stdout.write(row + "\n")
    sys.stdout.flush()
    return row, int(bool(found))


def _again(name: str, inputs: list[Path]) -> int:
    from fuzz.targets import TARGETS

    worst = 0
    for file in inputs:
        try:
            attempt(TARGETS[name], file.read_bytes())
        except Finding as finding:
            worst = 1
            sys.stdout.write(f"{file}: {finding}\n")
    return worst
