"""Kernels that other kernels call, which are compiled only into their callers."""

import os
import subprocess
import sys

import numpy as np
import pytest
from numba import njit

from slanted.runtime import few_passes, quick_compiler
from slanted.runtime.kernel import kernel

pytestmark = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="kernels are not compiled"
)
FACTOR = 3


def made():
    """Return a new kernel and one that calls it, as if nothing had been compiled yet."""

    def inner(values):
        total = np.zeros(1)
        for value in values:
            total[0] += FACTOR * value
        return total

    inner = kernel(inner)
    return inner, kernel(lambda values: inner(values)[0] + 1)


def test_inner_kernels_can_be_called_from_python_before_and_after():
    values = np.arange(5.0)
    for first in (0, 1):
        kernels = made()
        for called in (first, 1 - first, first):
            assert kernels[called](values) == [30, 31][called]


def test_inner_kernels_have_no_code_for_python_unless_it_calls_them():
    inner, outer = made()
    assert outer(np.arange(5.0)) == 31
    assert not inner.signatures and len(outer.signatures) == 1


def test_functions_of_others_can_call_kernels():
    values = np.arange(5.0)
    for is_compiled in (False, True):
        inner, outer = made()
        if is_compiled:
            assert outer(values) == 31
        assert njit(lambda values, f=inner, g=outer: f(values)[0] + g(values))(values) == 61


def test_a_kernel_may_call_itself():
    assert factorial(5) == 120
    assert kernel(lambda n: factorial(n) + 1)(5) == 121


@kernel
def factorial(n):
    """Return n!."""
    if n < 2:
        return 1
    return n * factorial(n - 1)


def test_numba_is_as_before_afterwards():
    from numba.core import config, event, postproc
    from numba.core.registry import cpu_target

    before = vars(event).copy(), config.OPT, postproc.PostProcessor.run
    _, outer = made()
    outer(np.arange(5.0))
    assert "create_library" not in vars(cpu_target.target_context.codegen())
    assert (vars(event), config.OPT, postproc.PostProcessor.run) == before


def test_events_tell_what_is_compiled_but_not_how_long_each_part_took():
    from numba.core import event

    told = []

    class Listener(event.Listener):
        def on_start(self, happened):
            told.append(happened.kind)

        def on_end(self, happened):
            pass

    kinds = "numba:compile", "numba:run_pass", "numba:llvm_lock", "numba:compiler_lock"
    _, outer = made()
    heard = Listener()
    for kind in kinds:
        event.register(kind, heard)
    try:
        outer(np.arange(5.0))
        assert told.count("numba:compile") >= 2
        assert not {"numba:run_pass", "numba:llvm_lock"} & set(told)
        told.clear()
        njit(lambda value: value + 1)(1)
        assert set(told) == set(kinds)
    finally:
        for kind in kinds:
            event.unregister(kind, heard)


def test_kernels_free_their_arrays():
    from numba.core.runtime import _nrt_python, rtsys

    _, outer = made()
    values = np.arange(5.0)
    outer(values)
    _nrt_python.memsys_enable_stats()
    try:
        before = rtsys.get_allocation_stats()
        for _ in range(10):
            outer(values)
        after = rtsys.get_allocation_stats()
    finally:
        _nrt_python.memsys_disable_stats()
    assert after.alloc - before.alloc == after.free - before.free > 0


def fail(*_):
    raise AttributeError("another Numba")


@pytest.mark.parametrize(
    ("changed", "name", "to"),
    [
        ("inner_library.InnerLibrary", "finalize", fail),
        ("few_passes", "PassManager", fail),
        ("few_passes", "canonicalize_cfg", fail),
        ("few_passes", "LEFT_OUT", {"NativeLowering"}),  # one that every function needs
        ("few_passes", "LEFT_OUT", {"NopythonTypeInference"}),
    ],
)
def test_if_numba_is_not_as_expected_it_compiles_in_its_own_way(changed, name, to, monkeypatch):
    monkeypatch.setattr(f"slanted.runtime.{changed}.{name}", to)
    monkeypatch.setattr(quick_compiler._State, "fails", False)
    inner, outer = made()
    with pytest.warns(UserWarning, match=r"longer to compile, since Numba .* is not as expected"):
        assert outer(np.arange(5.0)) == 31
    assert inner(np.arange(5.0)) == 30
    assert not quick_compiler.is_used()


INTERRUPTED = """
import signal, sys
import numpy as np
from numba.core.codegen import JITCodeLibrary

name, number = sys.argv[1], int(sys.argv[2])
asked, calls = getattr(JITCodeLibrary, name).__func__, []
def interrupted(kind, *about):
    calls.append(about)
    if len(calls) == number:
        signal.raise_signal(signal.SIGINT)
    return asked(kind, *about)
setattr(JITCodeLibrary, name, classmethod(interrupted))

from slanted.partition.run_kernels import find_root
for _ in range(2):
    try:
        print(find_root(np.array([0, 0, 1], np.int32), 2))
    except KeyboardInterrupt:
        print("interrupted")
"""


def python(folder, code, *arguments, plain=""):
    """Run code in a new process that keeps its kernels in a folder."""
    environment = {
        **os.environ,
        "NUMBA_CACHE_DIR": str(folder),
        "PYTHONPATH": os.pathsep.join(sys.path),
        quick_compiler.PLAIN: plain,
    }
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_an_interrupt_waits_while_llvm_asks_python(tmp_path):
    """It would be lost otherwise, and with it the code: the process would end at the call."""
    # First it compiles, then the code is in the cache: that of Numba's runtime is asked for first.
    for about in (("_object_compiled_hook", "2"), ("_object_getbuffer_hook", "2")):
        done = python(tmp_path, INTERRUPTED, *about)
        assert (done.returncode, done.stderr, done.stdout) == (0, "", "interrupted\n0\n")


FORGOTTEN = """
import sys
import numpy as np
from numba.core.codegen import JITCodeLibrary

if sys.argv[1:]:
    JITCodeLibrary._object_getbuffer_hook = classmethod(lambda *_: None)

from slanted.partition.run_kernels import find_root
print(find_root(np.array([0, 0, 1], np.int32), 2))
"""


def test_names_without_their_code_are_never_called(tmp_path):
    """Whatever keeps LLVM from taking the code: Numba then compiles in its own way."""
    for about in ((), ("forget",)):
        done = python(tmp_path, FORGOTTEN, *about)
        assert (done.returncode, done.stdout) == (0, "0\n")
        assert ("LLVM has not taken find_root from the cache" in done.stderr) == bool(about)


WITHOUT = """
import sys, warnings
import numpy as np
sys.modules["slanted.runtime.few_passes"] = None  # its imports fail
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    from slanted.partition.run_kernels import find_root
    assert find_root(np.array([0, 0, 1], np.int32), 2) == 0
print(*[each.message for each in told])
"""


@pytest.mark.parametrize("plain", ["0", "1"])
def test_kernels_work_where_numba_lacks_a_name(plain, tmp_path):
    for _ in range(2):  # compiled, and from the cache
        done = python(tmp_path, WITHOUT, plain=plain)
        assert done.returncode == 0, done.stderr
        assert ("kernels take longer to compile" in done.stdout) == (plain == "0")


def test_passes_that_are_left_out_have_their_names_from_numba():
    from numba.core.compiler import CompilerBase, DefaultPassBuilder

    class Compiler(CompilerBase):
        def define_pipelines(self):
            whole = DefaultPassBuilder.define_nopython_pipeline(self.state)
            names.update(each.__name__ for each, _ in whole.passes)
            return [whole]

    names = set()
    njit(lambda value: value + 1, pipeline_class=Compiler)(1)
    assert names > few_passes.LEFT_OUT


def test_errors_of_a_kernel_are_its_own():
    from numba.core.errors import TypingError

    for _ in range(2):
        with pytest.raises(TypingError):
            kernel(lambda value: value.nothing)(1)
        assert quick_compiler.is_used()


CALLS = """
import os, sys
import numpy as np
from slanted.inference.plane_kernels import inlier_moments
from slanted.partition.run_kernels import count_pieces, find_root, row_runs
from slanted.runtime import quick_compiler

labels = np.random.default_rng(0).integers(0, 4, (40, 30)).astype(np.int32)
told = [find_root(np.array([0, 0, 1, 2]), 3), row_runs(labels)[0].sum()]
if sys.argv[1] == "fails":  # after some kernels were taken from the cache
    def fail(*_):
        raise AttributeError("another Numba")
    from slanted.runtime.inner_library import InnerLibrary
    InnerLibrary.finalize = fail
told.append(count_pieces(labels, 4).tolist())  # it calls row_runs
values = np.random.default_rng(1).normal(size=(4, 999))
told.append(
    inlier_moments(np.array([0, 999]), *values, np.zeros((1, 3)), 2.0).tobytes().hex()
)  # sums that may be added in any order
print(*told, quick_compiler.is_used())
"""


def told(folder, *arguments, plain=""):
    """Return what some kernels give in a new process."""
    done = python(folder, CALLS, *arguments, plain=plain)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_both_ways_give_the_same_compiled_and_from_the_cache(tmp_path):
    plain = [told(tmp_path, "", plain="1") for _ in range(2)]
    quick = [told(tmp_path, "") for _ in range(2)]
    assert plain[0][-1] == "False"
    assert quick[0][-1] == "True"
    assert plain[0][:-1] == plain[1][:-1] == quick[0][:-1] == quick[1][:-1]


def test_numba_may_turn_out_to_be_another_after_kernels_came_from_the_cache(tmp_path):
    quick = told(tmp_path, "")
    for file in tmp_path.rglob("*count_pieces*"):
        file.unlink()
    assert told(tmp_path, "fails") == [*quick[:-1], "False"]
