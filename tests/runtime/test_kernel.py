"""The kernels' decorator and its cache, each in processes of its own: Numba keeps what it compiled."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from slanted.runtime.kernel import kernel

pytestmark = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="kernels are not compiled"
)

CALLEE = """
from slanted.runtime.kernel import kernel
FACTOR = {factor}
@kernel
def scaled(x):
    return FACTOR * x
"""
CALLER = """
from callee import FACTOR, scaled
from slanted.runtime.kernel import kernel
@kernel
def first(x):
    return second(x)
@kernel
def second(x):
    return scaled(x) + 1
@kernel
def constant(x):
    return FACTOR + x
def report(*values):
    kernels = first, constant
    print(*[k(v) for k in kernels for v in values])
    print(sum(sum(k.stats.cache_misses.values()) for k in kernels))
"""


class Folder:
    """Two modules with kernels, and a cache."""

    def __init__(self, path: Path):
        self.path = path
        self.cache = path / "cache"
        (path / "caller.py").write_text(CALLER)
        self.write_callee(10)

    def write_callee(self, factor):
        (self.path / "callee.py").write_text(CALLEE.format(factor=factor))

    def start(self, code="from caller import report; report(3)", **environment):
        environment = {
            **os.environ,
            "NUMBA_CACHE_DIR": str(self.cache),
            "PYTHONPATH": os.pathsep.join([str(self.path), *sys.path]),
            **environment,
        }
        command = [sys.executable, "-W", "error", "-c", textwrap.dedent(code)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)

    def run(self, *arguments, **environment):
        with self.start(*arguments, **environment) as process:
            out, _ = process.communicate()
        assert process.returncode == 0
        return out.split()

    def files(self):
        return sorted(self.cache.rglob("*.nbc"))


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path)


def test_options_reach_numba():
    inverse = kernel(error_model="numpy")(lambda x: 1.0 / x)
    assert inverse(0.0) == float("inf")


def test_kernels_are_compiled_once_and_again_when_what_they_use_changes(folder):
    assert folder.run() == ["31", "13", "2"]
    assert folder.run() == ["31", "13", "0"]
    folder.write_callee(20)  # neither the file nor the code of the callers changes
    assert folder.run() == ["61", "23", "2"]


def test_where_nothing_can_be_written_kernels_run_all_the_same(folder):
    blocked = """
        import tempfile
        def refuse(*_, **__):
            raise PermissionError(13, "read-only")
        tempfile.TemporaryFile = refuse
        from caller import first, report
        report(3)
        print(first._cache.cache_path)
    """
    assert folder.run(blocked) == ["31", "13", "2", "None"]
    assert folder.files() == []


def test_a_full_disk_and_torn_files_cost_time_only(folder):
    full = """
        import numba.core.caching as caching
        def refuse(*_):
            raise OSError(28, "No space left on device")
        caching.IndexDataCacheFile._save_data = refuse
        from caller import report
        report(3)
    """
    assert folder.run(full) == ["31", "13", "2"]
    assert folder.files() == []
    folder.run()
    for number, file in enumerate(folder.files()):
        file.write_bytes(file.read_bytes()[:100] if number % 2 else b"")
    assert folder.run() == ["31", "13", "2"]
    assert folder.run() == ["31", "13", "0"]


def test_processes_that_compile_at_once_keep_all_specialisations(folder):
    codes = [f"from caller import report; report({value})" for value in ("3", "0.5", "True")]
    processes = [folder.start(code) for code in codes]
    for process in processes:
        process.communicate()
        assert process.returncode == 0
    found = folder.run("from caller import report; report(3, 0.5, True)")
    assert found == ["31", "6.0", "11", "13", "10.5", "11", "0"]
