"""Command line of the fuzzers."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from fuzz.target import Finding, attempt


def main() -> int:
    """Fuzz targets one after the other, and write the outcomes as JSON lines."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("target", help="name, or 'all', or 'list'")
    parser.add_argument("inputs", nargs="*", type=Path, help="files to try instead of fuzzing")
    parser.add_argument("--runs", type=int, default=20_000, help="executions per target")
    parser.add_argument("--seconds", type=float, default=600, help="at most, per target")
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
    return max(_fuzz(name, options) for name in names)


def _fuzz(name: str, options: argparse.Namespace) -> int:
    from fuzz.engine import fuzz, keep_findings
    from fuzz.targets import TARGETS

    outcome = fuzz(TARGETS[name], options.runs, options.seconds, options.seed)
    files = keep_findings(outcome, options.findings)
    found = [f"{file}: {what}" for file, what in zip(files, outcome.findings, strict=True)]
    row = {**vars(outcome), "seconds": round(outcome.seconds, 1), "findings": found}
    sys.stdout.write(json.dumps(row) + "\n")
    sys.stdout.flush()
    return int(bool(found))


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


if __name__ == "__main__":
    sys.exit(main())
