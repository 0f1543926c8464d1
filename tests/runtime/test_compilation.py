"""Kernels compiled ahead: the list is right, and neither helpers nor the cache can fail a run."""

import gc
import json
import os
import subprocess
import sys
from typing import NamedTuple

import pytest

from slanted.runtime import compilation, kernel_list
from slanted.runtime.compilation import compile_ahead
from slanted.runtime.kernel import kernel
from slanted.runtime.kernel_list import Specialisation, listed, type_of, type_text

pytestmark = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="kernels are not compiled"
)


class Pair(NamedTuple):
    first: int
    second: float


@kernel
def doubled(x):
    return 2 * x


@kernel
def tripled(x):
    return 3 * x


@kernel
def quadrupled(x):
    return doubled(doubled(x)) + 0 * doubled(x)


ENTRIES = [
    Specialisation(f"{__name__}.{name}", [kind])
    for name in ("doubled", "tripled")
    for kind in ("int8", "int16", "int32", "float32", "float64 1C readonly")
]


@pytest.fixture
def marked(tmp_path, monkeypatch):
    """A list of our own, and a mark in a folder of our own."""
    monkeypatch.setattr(compilation, "listed", lambda: ENTRIES)
    monkeypatch.setattr(kernel_list, "_named", lambda name: globals()[name.rpartition(".")[2]])
    monkeypatch.setattr(compilation, "_mark", lambda: tmp_path / "mark")
    monkeypatch.setattr(Specialisation, "is_kept", lambda _: False)
    return tmp_path / "mark"


RUNS = """
from numba.core import event

from slanted.runtime.compilation import compile_ahead
from slanted.cli.warmup import small_runs

compile_ahead()
names = []

class Listener(event.Listener):
    def on_start(self, happened):
        names.append(happened.data["dispatcher"].py_func.__qualname__)

    def on_end(self, happened):
        pass

event.register("numba:compile", Listener())
small_runs()
print("compiled", *names)
"""


def test_small_runs_with_all_presets_compile_nothing_that_is_not_listed():
    done = subprocess.run([sys.executable, "-c", RUNS], capture_output=True, text=True, check=True)
    hint = "run python benchmarks/kernel_signatures.py"
    assert done.stdout.split() == ["compiled"], hint


def test_every_listed_kernel_is_one_and_compiles():
    for entry in listed():
        entry.compile()
        assert entry.types in entry.dispatcher.overloads


def test_what_calls_more_is_larger(monkeypatch):
    monkeypatch.setattr(kernel_list, "_named", lambda name: globals()[name])
    small, large, gone = (Specialisation(name, []) for name in ("doubled", "quadrupled", "gone"))
    assert large.size > 2 * small.size > 0 == gone.size


@pytest.mark.parametrize("example", [3, 0.5, True, (1, 2.0), (1, 1), Pair(1, 2.0)])
def test_types_survive_being_written(example, monkeypatch):
    from numba import typeof

    monkeypatch.setattr(kernel_list, "_named", lambda _: Pair)
    assert type_of(json.loads(json.dumps(type_text(typeof(example))))) == typeof(example)


@pytest.mark.parametrize("layout", ["C", "F", "A"])
@pytest.mark.parametrize("readonly", [True, False])
def test_types_of_arrays_survive_being_written(layout, readonly):
    from numba import types

    array = types.Array(types.uint8, 2, layout, readonly=readonly)
    assert type_of(type_text(array)) == array


@pytest.mark.parametrize("helpers", [0, 2])
def test_all_are_compiled_and_counted(helpers, marked, monkeypatch):
    served = _helpers(monkeypatch, "for line in sys.stdin: print('done', flush=True)")
    counts = []
    done = compile_ahead(lambda *count: counts.append(count), helpers=helpers)
    assert done == len(ENTRIES)
    assert sorted(counts) == [(k, done) for k in range(done + 1)]
    assert len(served) == helpers
    assert all(process.returncode is not None for process in served)
    assert marked.exists()


@pytest.mark.parametrize(
    "code",
    ["pass", "sys.exit(3)", "input(); print('nonsense', flush=True)", "input(); raise KeyError"],
)
def test_a_helper_that_fails_leaves_its_share_to_us(code, marked, monkeypatch):
    _helpers(monkeypatch, code)
    compiled = []

    def remember(entry):
        compiled.append(entry)

    monkeypatch.setattr(Specialisation, "compile", remember)
    compile_ahead(helpers=2)
    assert sorted(map(str, compiled)) == sorted(map(str, ENTRIES))


@pytest.mark.parametrize("threshold", [(700, 10, 10), (0, 10, 10), (10**6, 10, 10)])
def test_garbage_is_collected_as_before_when_all_are_compiled(threshold, marked, monkeypatch):
    """Where collection is off, or rarer than ours, it stays so meanwhile."""
    meanwhile = set()
    monkeypatch.setattr(Specialisation, "compile", lambda _: meanwhile.add(gc.get_threshold()[0]))
    before = gc.get_threshold()
    try:
        gc.set_threshold(*threshold)
        compile_ahead(helpers=0)
        assert gc.get_threshold() == threshold
    finally:
        gc.set_threshold(*before)
    assert meanwhile == {threshold[0] if threshold[0] != 700 else compilation.SELDOM}


def test_no_helper_can_be_started(marked, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert compile_ahead(helpers=2) == len(ENTRIES)


def test_a_list_that_is_out_of_date_fails_nothing(marked, monkeypatch):
    wrong = [Specialisation(f"{__name__}.gone", ["int8"]), *ENTRIES[:1]]
    monkeypatch.setattr(compilation, "listed", lambda: wrong)
    compile_ahead(helpers=0)
    assert ENTRIES[0].types in doubled.overloads


def test_an_interrupt_ends_the_helpers_and_leaves_no_mark(marked, monkeypatch):
    served = _helpers(monkeypatch, "import time; time.sleep(600)")

    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Specialisation, "compile", interrupted)
    with pytest.raises(KeyboardInterrupt):
        compile_ahead(helpers=1)
    assert all(process.returncode is not None for process in served)
    assert not marked.exists()


def test_the_mark_is_of_this_code_and_machine(tmp_path, monkeypatch):
    monkeypatch.setattr(compilation, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(compilation, "listed", list)
    assert not compilation.is_warm()
    compile_ahead()
    assert compilation.is_warm()
    monkeypatch.setattr(compilation, "_sources", lambda: "other code")
    assert not compilation.is_warm()


def test_without_a_folder_nothing_is_warm_and_nothing_breaks(marked, monkeypatch):
    monkeypatch.setattr(compilation, "_mark", lambda: None)
    assert not compilation.is_warm()
    assert compile_ahead() == len(ENTRIES)


def test_the_real_helper_compiles_what_it_is_told(tmp_path):
    (tmp_path / "ours.py").write_text(
        "from slanted.runtime.kernel import kernel\n@kernel\ndef halved(x):\n    return x / 2\n"
    )
    environment = {
        **os.environ,
        "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
        "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path]),
    }
    command = [sys.executable, "-P", "-m", "slanted.runtime.compilation"]
    line = json.dumps(["ours.halved", "float64"]) + "\n"
    done = subprocess.run(
        command, input=line, capture_output=True, text=True, env=environment, check=True
    )
    assert done.stdout == "done\n"
    assert len(list((tmp_path / "cache").rglob("*halved*.nbc"))) == 1


def _helpers(monkeypatch, code):
    """Let helpers run some code; return those that were started."""
    served = []

    def start():
        pipe = subprocess.PIPE
        command = [sys.executable, "-c", f"import sys\n{code}"]
        quiet = subprocess.DEVNULL
        process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=quiet, text=True)
        served.append(process)
        return process

    monkeypatch.setattr(compilation, "_start_helper", start)
    return served
