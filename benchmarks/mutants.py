"""Mutation testing: small faults in the code must make a test fail.

python benchmarks/mutants.py [--count 200] [--seed 0] [--only io …] [--own] [--again] [--log FILE]

It draws faults at random, as many from each package, and runs the tests of the package with each,
then broader ones if those pass, unless ``--own``. It prints which survived. The outcome of each
goes to a log, from which a stopped run resumes; ``--again`` repeats those that survived, after a
new test. Faults that no test can notice are listed in ``mutation/explained.toml`` with the reason,
and are not tried.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
import tomllib
from collections import Counter
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import Any

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

from common import RESULTS, ROOT, SMOKE, options, say
from mutation.faults import Fault, faults_of
from mutation.trial import TOO_LONG, Tests, first_files, source_of, try_fault

BROADER = {
    "model": ("tests/inference", "tests/learning/test_examples.py", "tests/test_pipeline.py"),
    "solver": ("tests/inference", "tests/learning/test_objective.py", "tests/test_doctests.py"),
    "learning": ("tests/research/experiments/test_catalogue.py", "tests/cli/test_commands.py"),
    "refinement": ("tests/test_pipeline.py", "tests/tiles", "tests/test_doctests.py"),
    "matching": ("tests/test_pipeline.py", "tests/tiles", "tests/test_doctests.py"),
    "io": (
        *("tests/agreement", "tests/evaluation", "tests/fuzz/test_limits.py"),
        *("tests/fuzz/test_fuzz.py", "tests/output", "tests/test_result.py", "tests/cli"),
    ),
}
"""Packages that are mutated, and tests of others that use them."""
EXPLAINED = tomllib.loads(
    (Path(__file__).parent / "mutation" / "explained.toml").read_text("utf-8")
)
"""Faults that no test can notice, by package and key, with the reason."""


def all_faults(package: str) -> list[Fault]:
    """Return the faults of a package."""
    files = sorted((ROOT / "src" / "slanted" / package).glob("*.py"))
    modules = (f"slanted.{package}.{file.stem}" for file in files)
    return [fault for m in modules for fault in faults_of(m, source_of(m).read_text("utf-8"))]


def drawn(package: str, count: int, seed: int) -> list[Fault]:
    """Draw faults of a package. Code that is added elsewhere hardly changes which."""
    keyed = ((hashlib.sha256(f"{seed} {f.key}".encode()).digest(), f) for f in all_faults(package))
    return [fault for _, fault in sorted(keyed, key=lambda pair: pair[0])[:count]]


def trials(fault: Fault, own: bool) -> list[Tests]:
    """Return the tests for a fault, the quickest first; with `own`, none of other packages."""
    mine = tuple(first_files(fault.module, f"tests/{fault.package}"))
    compiled, plain = Tests(mine), Tests(mine, compiled=False)
    first = [plain, compiled] if fault.in_kernel else [compiled, plain]
    return first if own else [*first, Tests(BROADER[fault.package])]


def judge(fault: Fault, own: bool) -> dict[str, Any]:
    """Run tests until one notices the fault, and return a line for the log."""
    if explanation(fault):
        return {"outcome": "explained", "package": fault.package, "key": fault.key}
    begun = time.perf_counter()
    by = ""
    for tests in trials(fault, own):
        by = try_fault(tests, fault)
        if by and (tests.compiled or passes_plain(by)):
            break
    outcome = "survived" if not by else "halted" if by == TOO_LONG else "killed"
    seconds = round(time.perf_counter() - begun, 1)
    row = {"outcome": outcome, "package": fault.package, "line": fault.line, "key": fault.key}
    return {**row, "by": by, "seconds": seconds}


@cache
def passes_plain(test: str) -> bool:
    """Return whether a test passes as plain Python without a fault: some rely on Numba's floats."""
    named = "::" in test
    return not (named and try_fault(Tests((test,), compiled=False), None))


def read_log(log: Path, again: bool) -> dict[str, dict[str, Any]]:
    """Return earlier outcomes by key; with `again`, only those of faults that were noticed."""
    lines = log.read_text("utf-8").splitlines() if log.exists() else []
    rows = [json.loads(line) for line in lines]
    return {row["key"]: row for row in rows if not (again and row["outcome"] == "survived")}


def explanation(fault: Fault) -> str:
    """Return why no test can notice a fault, if that is known."""
    return str(EXPLAINED.get(fault.package, {}).get(fault.key, ""))


def main() -> int:
    """Draw faults, try those that the log does not have, and print the share noticed."""
    smoke = {"count": 1, "log": os.devnull}
    arguments = options(
        __doc__, smoke, count=200, seed=0, only=[], own=False, again=False,
        log=str(RESULTS / "mutants.jsonl"),
    )  # fmt: skip
    sys.path.insert(0, str(ROOT / "src"))
    os.environ["PYTHONPATH"] = str(ROOT / "src")
    packages = [package for package in BROADER if package in (arguments.only or BROADER)]
    shares = {p: -(-(arguments.count - k) // len(BROADER)) for k, p in enumerate(BROADER)}
    draws = [drawn(package, shares[package], arguments.seed) for package in packages]
    # Package after package in turn: a run that is cut short is a sample of all of them too.
    faults = [fault for turn in zip_longest(*draws) for fault in turn if fault is not None]
    log = Path(arguments.log)
    log.parent.mkdir(exist_ok=True)
    known = read_log(log, arguments.again)
    _warm_up()
    begun = {row["package"] for row in known.values()}
    for package in packages if not SMOKE else []:
        tests = Tests((f"tests/{package}", *BROADER[package]))
        if package not in begun and (failed := try_fault(tests, None)):
            say(f"the tests of {package} fail without a fault: {failed}")
            return 1
    rows = [known.get(fault.key) or _judged(fault, arguments.own, log) for fault in faults]
    _summarise(faults, rows)
    return 0


def _judged(fault: Fault, own: bool, log: Path) -> dict[str, Any]:
    row = judge(fault, own)
    if row["outcome"] != "explained":
        with log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
        say(f"{row['outcome']} {fault.key} (line {fault.line}; {row['seconds']} s; {row['by']})")
    return row


def _summarise(faults: list[Fault], rows: list[dict[str, Any]]) -> None:
    counts: dict[str, Counter[str]] = {fault.package: Counter() for fault in faults}
    for fault, row in zip(faults, rows, strict=True):
        outcome = row["outcome"]
        if outcome == "survived" and explanation(fault):
            outcome = "explained"
        elif outcome == "survived":
            say(f"SURVIVED {fault.key} (line {fault.line})")
        counts[fault.package][outcome] += 1
    total = sum(counts.values(), Counter[str]())
    for name, found in [*counts.items(), ("all", total)]:
        say(f"{name}: {', '.join(f'{n} {outcome}' for outcome, n in sorted(found.items()))}")
    share = 100 * (len(rows) - total["survived"]) / max(len(rows), 1)
    say(f"{share:.1f} % of {len(rows)} killed, halted or explained")


def _warm_up() -> None:
    """Import what all trials need, but nothing of slanted."""
    import cv2  # noqa: F401
    import hypothesis.extra.numpy  # noqa: F401
    import numba  # noqa: F401
    import scipy.optimize  # noqa: F401
    import skimage.segmentation  # noqa: F401


if __name__ == "__main__":
    sys.exit(main())
