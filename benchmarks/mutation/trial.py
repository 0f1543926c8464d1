"""One run of tests with a fault, in a process of its own; the fault is in memory, not in a file.

Kernels run both as plain Python, where an index out of bounds raises an error and nothing is
compiled, but slow tests are cut short, and compiled, where all tests run to their end.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from common import ROOT
from mutation.faults import Fault

CPU_SECONDS, WALL_SECONDS = 30, 1200
"""A test that takes more CPU time, or a trial that takes longer, was halted by the fault. The
slowest test takes 8 s."""
MEMORY = 8 << 30
CUT_SECONDS, PLAIN_SECONDS = 2.0, 15.0
"""CPU time as plain Python, of a test, which is then cut short, and of all tests."""
LEFT_OUT = ("process", "dask", "scheduler", "killed_goes_on", "worker_that_dies")
"""Words in the names of tests that start other processes, which have no fault."""
ENOUGH = "enough of it in plain Python"
TOO_LONG = "took too long"


@dataclass(frozen=True)
class Tests:
    """Files or folders of tests, and whether kernels are compiled."""

    places: tuple[str, ...]
    compiled: bool = True


def try_fault(tests: Tests, fault: Fault | None) -> str:
    """Return the test that failed, how else the trial ended, or nothing if all tests passed."""
    folder = Path(tempfile.mkdtemp(prefix="mutant-"))
    try:
        child = os.fork()
        if child == 0:
            os.setpgid(0, 0)
            _run(tests, fault, folder)
        with suppress(OSError):  # whichever comes first
            os.setpgid(child, child)
        status = _wait(child)
        told = folder / "failed"
        if told.exists():
            return told.read_text()
        return "" if status == 0 else TOO_LONG if status is None else f"ended with {status}"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _wait(child: int) -> int | None:
    """Return the exit code of a child, or None if it took too long; end all it started."""
    deadline = time.monotonic() + WALL_SECONDS
    ended = None
    try:
        while ended is None and time.monotonic() < deadline:
            # Not reaped yet: while the child is there, its number belongs to no other process.
            ended = os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            time.sleep(0.01)
    finally:  # also when the user ends the run
        os.killpg(child, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return None if ended is None or code == -signal.SIGXCPU else code


def _run(tests: Tests, fault: Fault | None, folder: Path) -> None:
    """Run the tests in this process, and end it."""
    import hypothesis
    import numba

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # The first failure is enough; Hypothesis would search for the smallest.
    phases = [hypothesis.Phase.explicit, hypothesis.Phase.generate]
    hypothesis.settings.register_profile("mutants", phases=phases, database=None, derandomize=True)
    hypothesis.settings.load_profile("mutants")
    output = os.open(folder / "output", os.O_WRONLY | os.O_CREAT)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.chdir(ROOT)
    numba.config.DISABLE_JIT = not tests.compiled
    if fault is not None:
        sys.meta_path.insert(0, _Finder(fault))
        _recompile(fault)
    plugin = _Watch(folder / "failed", tests.compiled)
    arguments = ("-x", "-q", "-n", "0", "-p", "no:cacheprovider", "--tb=no")
    places = (f"--basetemp={folder / 'files'}", "-W", "ignore::pytest.PytestAssertRewriteWarning")
    try:
        status = int(pytest.main([*tests.places, *arguments, *places], plugins=[plugin]))
    except BaseException:
        os._exit(3)
    # 5: the limit of time came before any test.
    os._exit(0 if status in (0, 5) or plugin.over else status)


def _recompile(fault: Fault) -> None:
    """Make the cache of kernels see the fault, and keep nothing compiled from it."""
    from slanted.runtime import kernel_cache

    known, file = kernel_cache._source_digest, str(source_of(fault.module))
    faulty = hashlib.sha256(ast.dump(fault.make_tree()).encode()).hexdigest()
    kernel_cache._source_digest = lambda name: faulty if name == file else known(name)
    kernel_cache.KernelCache.save_overload = lambda self, signature, compiled: None  # type: ignore[method-assign]


class _Watch:
    """A pytest plugin: leaves tests out, names the first failure, limits time as plain Python."""

    def __init__(self, failed: Path, compiled: bool) -> None:
        self.failed, self.compiled = failed, compiled
        self.over = False
        self.begun = time.process_time()

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        items[:] = [i for i in items if not any(word in i.name.lower() for word in LEFT_OUT)]

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.failed.write_text(report.nodeid)

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.failed.write_text(f"import of {report.nodeid}")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: Any, nextitem: Any) -> Iterator[Any]:
        # The system ends a loop without end, even in compiled code.
        allowed = int(time.process_time()) + CPU_SECONDS
        resource.setrlimit(resource.RLIMIT_CPU, (allowed, resource.RLIM_INFINITY))
        if not self.compiled and time.process_time() > self.begun + PLAIN_SECONDS:
            self.over = True
            item.session.shouldstop = ENOUGH
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Iterator[None]:
        if self.compiled:
            return (yield)

        def give_up(*_: object) -> None:
            pytest.skip(ENOUGH)

        signal.signal(signal.SIGPROF, give_up)
        signal.setitimer(signal.ITIMER_PROF, CUT_SECONDS)
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)


class _Finder:
    """Imports the faulty module in place of the original."""

    def __init__(self, fault: Fault) -> None:
        self.fault, self.file = fault, source_of(fault.module)

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name != self.fault.module.removesuffix(".__init__"):
            return None
        package = [str(self.file.parent)] if self.file.stem == "__init__" else None
        return importlib.util.spec_from_file_location(
            name, self.file, loader=self, submodule_search_locations=package
        )

    def create_module(self, spec: Any) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self.fault.make_tree(), str(self.file), "exec"), module.__dict__)


def source_of(module: str) -> Path:
    """Return the file of a module."""
    return ROOT.joinpath("src", *module.split(".")).with_suffix(".py")


def first_files(module: str, folder: str) -> Sequence[str]:
    """Return the files of tests in a folder, those that name the module first."""
    name = module.rpartition(".")[2]
    files = sorted((ROOT / folder).rglob("test_*.py"))
    users = [
        f.stem for f in source_of(module).parent.glob("*.py") if f"{name} import" in f.read_text()
    ]

    def rank(file: Path) -> int:
        text = file.read_text()
        return 0 if f".{name} import" in text else 1 if any(u in text for u in users) else 2

    return [str(file.relative_to(ROOT)) for file in sorted(files, key=rank)]
