"""A process forked while another thread runs slanted can run it too."""

import os
import subprocess
import sys
import threading
import time
import types

import numpy as np
import pytest

from slanted.errors import SlantedWarning
from slanted.runtime import forks
from slanted.synthetic import make_scene

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks on this platform")

FIRST_RUN = """
import os, signal, sys, threading, time
import numpy as np
import slanted

pair = np.load(sys.argv[1])
energies = []

def run():
    settings = slanted.Settings().with_text({"matching.max_disparity": "32", "threads": "2"})
    energies.append(slanted.estimate(*pair, settings).energy)

thread = threading.Thread(target=run)
thread.start()
while not (reached()):
    assert thread.is_alive(), "the moment was missed"
    time.sleep(0.0005)
child = os.fork()
if child == 0:
    signal.alarm(300)  # ends a child that hangs
    run()
    print(*energies, flush=True)
    os._exit(0)
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
thread.join()
print(*energies)
sys.exit(code and f"the child hung ({code})")
"""
MOMENTS = {
    "importing": """
def reached():
    return "slanted.pipeline" in sys.modules and "slanted.solver" not in sys.modules
""",
    "importing Numba": """
def reached():
    return "numba" in sys.modules and "numba.core.dispatcher" not in sys.modules
""",
    "compiling": """
def reached():
    module = sys.modules.get("numba.core.compiler_lock")
    lock = getattr(module, "global_compiler_lock", None)
    if lock is None or not lock._lock.acquire(blocking=False):
        return lock is not None
    lock._lock.release()
    return False
""",
}


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    scene, file = make_scene(128, 64, seed=1), tmp_path_factory.mktemp("pair") / "pair.npy"
    np.save(file, np.stack([scene.left, scene.right]))
    return file


def run_python(program, pair):
    command = [sys.executable, "-c", program, str(pair)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_fork_during_the_first_run(moment, pair):
    child, parent = run_python(MOMENTS[moment] + FIRST_RUN, pair)
    assert child == parent


def test_a_pool_of_forked_processes_after_a_run(pair):
    program = """
import multiprocessing, sys
import numpy as np
import slanted

def run(seed):
    texts = {"matching.max_disparity": "32", "threads": "2", "seed": str(seed)}
    return slanted.estimate(*np.load(sys.argv[1]), slanted.Settings().with_text(texts)).energy

here = [run(0), run(1)]
with multiprocessing.get_context("fork").Pool(2) as pool:
    there = pool.map_async(run, [0, 1]).get(timeout=300)
print(here == there)
"""
    assert run_python(program, pair) == ["True"]


def ours(source, **names):
    """A function `work` of a module of slanted that has some source."""
    module = {"__name__": "slanted.of_a_test", **names}
    exec(f"def work():\n    {source}", module)
    return module["work"]


@pytest.fixture
def blocked():
    """A lock that blocks what a test starts, and a function that starts it and returns its frame."""
    lock, threads = threading.Lock(), []
    lock.acquire()

    def start(work, name):
        thread = threading.Thread(target=work, daemon=True)
        threads.append(thread)
        thread.start()
        end = time.monotonic() + 60
        while True:
            frame = sys._current_frames().get(thread.ident)
            if frame is not None and frame.f_code.co_name == name:
                return frame
            assert time.monotonic() < end
            time.sleep(0.001)

    yield lock, start
    lock.release()
    for thread in threads:
        thread.join()


def acquire(lock):
    with lock:
        pass


def test_a_call_of_opencv_is_waited_for(blocked):
    lock, start = blocked
    opencv = types.SimpleNamespace(blur=lock.acquire, done=lock.release)
    assert forks.is_busy(start(ours("cv2.blur(); cv2.done()", cv2=opencv), "work"))


def test_a_call_of_opencv_by_an_inner_function_is_waited_for(blocked):
    lock, start = blocked
    module = {"__name__": "slanted.of_a_test", "lock": lock}
    source = """
def outer(opencv):
    cv2 = opencv
    def inner():
        cv2.blur()
        cv2.done()
    return inner
"""
    exec(source, module)
    opencv = types.SimpleNamespace(blur=lock.acquire, done=lock.release)
    assert forks.is_busy(start(module["outer"](opencv), "inner"))


def test_other_work_is_not(blocked):
    lock, start = blocked
    assert not forks.is_busy(start(ours("lock.acquire(); lock.release()", lock=lock), "work"))
    assert not forks.is_busy(start(lambda: acquire(lock), "acquire"))


def test_imports_by_slanted_are_waited_for(blocked, tmp_path, monkeypatch):
    lock, start = blocked
    (tmp_path / "slow.py").write_text("import builtins\nbuiltins.acquire_of_a_test()")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("builtins.acquire_of_a_test", lambda: acquire(lock), raising=False)
    assert forks.is_busy(start(ours("import slow"), "acquire"))


def test_a_run_inside_the_import_of_a_script_is_not(blocked, tmp_path, monkeypatch):
    lock, start = blocked
    (tmp_path / "script.py").write_text("import builtins\nbuiltins.work_of_a_test()")
    monkeypatch.syspath_prepend(tmp_path)
    work = ours("lock.acquire(); lock.release()", lock=lock)
    monkeypatch.setattr("builtins.work_of_a_test", work, raising=False)
    assert not forks.is_busy(start(lambda: __import__("script"), "work"))


def test_a_fork_does_not_wait_for_ever(blocked, monkeypatch):
    lock, start = blocked
    opencv = types.SimpleNamespace(blur=lock.acquire, done=lock.release)
    start(ours("cv2.blur(); cv2.done()", cv2=opencv), "work")
    monkeypatch.setattr(forks, "LONGEST_SECONDS", 0.1)
    with pytest.warns(SlantedWarning, match="may hang in the new process; start processes with"):
        forks._before()
    forks._after()


def test_our_locks_are_free_in_the_child(monkeypatch):
    monkeypatch.setattr(forks, "_must_be_free", [])
    lock = forks.free_in_forks(threading.Lock())
    holding, let_go = threading.Event(), threading.Event()

    def hold():
        with lock:
            holding.set()
            let_go.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    holding.wait()
    threading.Timer(0.2, let_go.set).start()
    child = os.fork()
    if child == 0:
        os._exit(not lock.acquire(blocking=False))
    assert os.waitpid(child, 0)[1] == 0
    thread.join()
    assert lock.acquire(blocking=False)


def test_forks_of_two_threads_leave_python_as_it_was():
    before, codes = sys.getswitchinterval(), []

    def fork():
        child = os.fork()
        if child == 0:
            os._exit(0)
        codes.append(os.waitpid(child, 0)[1])

    threads = [threading.Thread(target=fork) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert codes == [0] * 8
    assert sys.getswitchinterval() == before
