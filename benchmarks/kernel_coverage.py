"""Line coverage of the kernels, which no tool can measure once they are compiled.

python benchmarks/kernel_coverage.py [--seconds 1.5] [--cut 10] [--file 120] [TESTS ...]

It runs the tests of all kernels as plain Python (``NUMBA_DISABLE_JIT``) on one thread. A Hypothesis
test gets no new examples after ``--seconds`` of CPU time. A test that takes more than ``--cut`` is
cut short, but the lines it reached count. Each file of tests has a process of its own; one that
takes more than ``--file`` is ended, and the lines its tests reached before count. Both are
reported. The lines are those inside functions that ``@kernel`` compiles: no imports, no headers, no
docstrings. The exit code is 1 if a test failed.

It needs the package ``coverage``, whose overhead is negligible from Python 3.12 on.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from typing import Any

import pytest

from common import ROOT, parse, record, say

SOURCES = ROOT / "src" / "slanted"
TESTS = (
    *("tests/partition", "tests/regions", "tests/model"),
    *("tests/segmentation/test_contours.py", "tests/segmentation/test_slic.py"),
    *(f"tests/solver/test_{name}.py" for name in ("decode", "messages", "split")),
    *("tests/inference/test_joint_fit.py", "tests/inference/test_local_fit.py"),
    *("tests/refinement/test_rim.py", "tests/refinement/test_segment_moves.py"),
    *(f"tests/matching/test_{name}.py" for name in ("cost_kernels", "interpolation")),
    "tests/matching/test_out_of_view.py",
    *(f"tests/learning/test_{name}.py" for name in ("soft_kernels", "objective", "ground_truth")),
    "tests/output/test_mesh.py",
)
LEFT_OUT = {
    # Whole images, which take minutes in plain Python.
    "test_a_run_heeds_it_and_is_the_same_for_any_threads",
    "test_local_planes_of_a_result_are_those_of_its_matches",
    "test_the_gradient_points_across_the_edge",
    "test_a_hierarchy_cuts_where_the_contours_are",
    "test_as_good_as_scikit_images_on_boundary_recall_and_compactness",
    "test_disparity_separates_what_colour_does_not",
    "test_a_map_without_any_disparity_is_like_none",
    "test_a_pair_of_large_segments_is_exact_too",
    "test_moves_in_many_threads_at_once_are_the_same",
    "test_smoothed_split_has_the_same_optimum",
    # Plain Python multiplies a float and a float32 with 24 bits, Numba with 53: too coarse for it.
    "test_the_gradient_is_that_of_finite_differences",
}
CUT = "enough of it in plain Python"
WAIT = 4
"""A file may take this many times its limit of CPU time, because others use the machine."""


class Limits:
    """A pytest plugin that limits the CPU time of examples and tests, and logs outcomes."""

    def __init__(self, options: argparse.Namespace, watch: Any, diary: Path) -> None:
        self.seconds, self.cut = options.seconds, options.cut
        self.watch, self.diary = watch, diary
        self.begun = 0.0

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Skip what takes too long, and keep Hypothesis from shrinking tests cut by a limit."""
        from hypothesis import HealthCheck, Phase, settings

        for item in items:
            function = item.function
            left_out = function.__name__ in LEFT_OUT
            self._write(item.nodeid, "left out" if left_out else "not run")
            if hasattr(function, "hypothesis"):
                function._hypothesis_internal_use_settings = settings(
                    function._hypothesis_internal_use_settings,
                    deadline=None,
                    derandomize=True,
                    database=None,
                    phases=[Phase.explicit, Phase.generate],
                    suppress_health_check=list(HealthCheck),
                )
                function.hypothesis.inner_test = self._in_time(function.hypothesis.inner_test)
        items[:] = [item for item in items if item.function.__name__ not in LEFT_OUT]

    def _in_time(self, test: Callable[..., None]) -> Callable[..., None]:
        """Return a test that skips examples after the time limit."""

        @wraps(test)
        def limited(*arguments: Any, **named: Any) -> None:
            if time.process_time() - self.begun < self.seconds:
                test(*arguments, **named)

        return limited

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self) -> Iterator[None]:
        """Limit fixtures, which may run kernels too."""
        return (yield from self._limited())

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Iterator[None]:
        """Limit the test itself."""
        return (yield from self._limited())

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Log how a test ended, and save the lines it reached in case the process is killed."""
        if report.failed or report.when == "call" or report.skipped:
            cut = report.skipped and CUT in str(report.longrepr)
            self._write(report.nodeid, "cut" if cut else report.outcome)
            self.watch.save()

    def _limited(self) -> Iterator[None]:
        """Give up after a limit of this process's CPU time."""

        def give_up(*_: object) -> None:
            pytest.skip(CUT)

        self.begun = time.process_time()
        signal.signal(signal.SIGPROF, give_up)
        signal.setitimer(signal.ITIMER_PROF, self.cut)
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)

    def _write(self, test: str, outcome: str) -> None:
        with self.diary.open("a") as file:
            file.write(json.dumps([test, outcome]) + "\n")


def run_tests(tests: str, folder: Path, options: argparse.Namespace) -> int:
    """Run one file of tests in this process, under coverage."""
    import coverage

    os.chdir(ROOT)

    # The system enforces this limit, whatever the process is doing.
    resource.setrlimit(resource.RLIMIT_CPU, (options.file, options.file + 1))
    watch = coverage.Coverage(source=[str(SOURCES)], data_file=str(folder / "lines"))
    watch.start()
    from slanted.runtime import threads

    # A test that waits for a helper cannot be cut short, and another thread makes nothing faster.
    threads.current_threads = lambda: 1
    arguments = ["-q", "-n", "0", "-p", "no:cacheprovider", "--tb=short", tests]
    status = pytest.main(arguments, plugins=[Limits(options, watch, folder / "diary")])
    watch.stop()
    watch.save()
    return int(status)


def kernel_lines(source: Path) -> set[int]:
    """Return the lines inside a module's kernels, blank ones included."""
    lines: set[int] = set()
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.FunctionDef) and any(map(_is_kernel, node.decorator_list)):
            lines |= set(range(node.body[0].lineno, (node.end_lineno or 0) + 1))
    return lines


def _is_kernel(decorator: ast.expr) -> bool:
    name = decorator.func if isinstance(decorator, ast.Call) else decorator
    return isinstance(name, ast.Name) and name.id == "kernel"


def covered(data: list[str], folder: Path) -> list[dict[str, Any]]:
    """Return lines of kernels, and those that no test reached, for each module that has some."""
    import coverage

    watch = coverage.Coverage(source=[str(SOURCES)], data_file=str(folder / "all"))
    watch.combine(data, keep=True)
    rows = []
    for source in sorted(SOURCES.rglob("*.py")):
        inside = kernel_lines(source)
        if inside:
            _, statements, _, missing, _ = watch.analysis2(str(source))
            rows.append({
                "module": ".".join(source.relative_to(SOURCES).with_suffix("").parts),
                "lines": len(inside & set(statements)),
                "missing": sorted(inside & set(missing)),
            })  # fmt: skip
    return rows


def main() -> int:
    """Run all files of tests and print a line for each module of kernels."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tests", nargs="*", default=list(TESTS))
    parser.add_argument("--seconds", type=float, default=1.5, help="for examples of one test")
    parser.add_argument("--cut", type=float, default=10.0, help="CPU time of a test at most")
    parser.add_argument("--file", type=int, default=120, help="CPU time of a file of tests at most")
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    quick = {"tests": ["tests/matching/test_out_of_view.py"], "seconds": 0.1}
    options = parse(parser, quick)
    if options.worker:
        return run_tests(options.tests[0], options.worker, options)
    with tempfile.TemporaryDirectory() as folder:
        outcomes, seconds = _run_files(_files(options.tests), Path(folder), options)
        rows = covered([str(path) for path in Path(folder).glob("*/lines")], Path(folder))
    _say_all(rows, outcomes, seconds)
    found = {"modules": rows, "tests": outcomes, "seconds": seconds}
    record("kernel_coverage", options, found)
    return int("failed" in outcomes.values() or any(seconds[file] is None for file in seconds))


def _files(tests: list[str]) -> list[str]:
    """Return the files of tests; a folder stands for all its files."""
    found: list[str] = []
    for name in tests:
        folder = ROOT / name
        found += map(str, sorted(folder.rglob("test_*.py")) if folder.is_dir() else [folder])
    return found


def _run_files(
    files: list[str], folder: Path, options: argparse.Namespace
) -> tuple[dict[str, str], dict[str, float | None]]:
    """Run each file in its process; return how each test ended, and seconds (None: crashed)."""
    outcomes: dict[str, str] = {}
    seconds: dict[str, float | None] = {}
    for number, file in enumerate(files):
        place = folder / str(number)
        place.mkdir()
        begun = time.perf_counter()
        status = _run_file(file, place, options)
        seconds[file] = round(time.perf_counter() - begun, 1) if status in (0, 1, None) else None
        diary = place / "diary"
        lines = diary.read_text().splitlines() if diary.exists() else []
        ended = dict(map(json.loads, lines))
        outcomes |= ended
        counts = {kind: list(ended.values()).count(kind) for kind in sorted({*ended.values()})}
        say(f"{Path(file).relative_to(ROOT)}: {seconds[file]} s, {counts}")
    return outcomes, seconds


def _run_file(file: str, place: Path, options: argparse.Namespace) -> int | None:
    """Return the exit code of a file's process, or None if it took too long and was ended."""
    command = [sys.executable, __file__, file, "--worker", str(place)]
    for name in ("seconds", "cut", "file"):
        command += [f"--{name}", str(getattr(options, name))]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "OMP_NUM_THREADS": "1"}
    environment["PYTHONPATH"] = str(ROOT / "src")
    if sys.version_info >= (3, 12):
        environment["COVERAGE_CORE"] = "sysmon"
    with (place / "output").open("w") as output:
        try:
            done = subprocess.run(
                command, env=environment, stdout=output, stderr=output, check=False,
                timeout=WAIT * options.file,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return None
    if done.returncode == -signal.SIGXCPU:
        return None
    if done.returncode:
        say((place / "output").read_text()[-3000:])
    return done.returncode


def _say_all(
    rows: list[dict[str, Any]], outcomes: dict[str, str], seconds: dict[str, float | None]
) -> None:
    for row in rows:
        reached = row["lines"] - len(row["missing"])
        share = 100 * reached / max(row["lines"], 1)
        places = f"  not {row['missing']}" if row["missing"] else ""
        say(f"{row['module']:40} {reached:4} of {row['lines']:4} {share:6.1f} %{places}")
    lines = sum(row["lines"] for row in rows)
    reached = lines - sum(len(row["missing"]) for row in rows)
    for kind in ("left out", "cut", "not run", "skipped", "failed"):
        these = [test for test, outcome in outcomes.items() if outcome == kind]
        say("\n  ".join([f"{kind}: {len(these)} of {len(outcomes)} tests", *these]))
    total = sum(each or 0 for each in seconds.values())
    say(f"{reached} of {lines} lines of kernels, {100 * reached / lines:.1f} %, in {total:.0f} s")


if __name__ == "__main__":
    sys.exit(main())
