"""Workers: tasks end as they should, owners keep their memory, and who dies harms nobody else."""

import os
import re
import signal
import subprocess
import sys
import time
from collections import deque
from multiprocessing import active_children
from pathlib import Path

import pytest

from slanted.errors import InputError
from slanted.runtime.process_workers import Processes, _Worker
from slanted.runtime.workers import Sequential, open_backend, run_each

kept = []


def keep(value):
    kept.append(value)
    return os.getpid(), list(kept)


def double(number):
    if number == 13:
        raise InputError("number: expected luck, got 13")
    if number == 99:
        os.kill(os.getpid(), signal.SIGKILL)
    return 2 * number


@pytest.fixture(autouse=True)
def nothing_kept():
    kept.clear()


@pytest.fixture(scope="module")
def two():
    with Processes(2, 1) as backend:
        yield backend


def answers(backend, count):
    """What the next tasks return, by key."""
    return {ended.key: ended.result() for ended in (backend.next() for _ in range(count))}


def test_one_worker_is_this_process():
    assert isinstance(open_backend(1), Sequential)
    assert isinstance(open_backend(2), Processes)


@pytest.mark.parametrize("workers", [1, 2])
def test_each_key_ends_once_whatever_becomes_of_it(two, workers):
    backend = two if workers == 2 else Sequential()
    asked = []

    def argument(key):
        asked.append(key)
        return key

    waiting = deque([1, 13, 2])
    ended = {}
    for each in run_each(backend, double, waiting, argument):
        ended[each.key] = each
        if each.key == 1:
            waiting.append(4)  # what was waiting for it
    assert sorted(asked) == sorted(ended) == [1, 2, 4, 13]
    assert [ended[key].result() for key in (1, 2, 4)] == [2, 4, 8]
    with pytest.raises(InputError, match="got 13"):
        ended[13].result()


def test_a_worker_that_dies_takes_no_other_task_with_it(two):
    asked = []

    def argument(key):
        asked.append(key)
        return key

    ended = {each.key: each for each in run_each(two, double, deque([99, 1, 2, 3]), argument)}
    assert asked.count(99) == 2
    assert ended[99].died == "killed by SIGKILL"
    assert [ended[key].result() for key in (1, 2, 3)] == [2, 4, 6]


def test_owners_keep_what_they_were_given():
    with Processes(2, 1) as backend:
        for key in range(6):
            backend.submit(key, keep, key, owner=key % 2)
        found = answers(backend, 6)
        assert [found[key][1] for key in range(6)] == [
            [0],
            [1],
            [0, 2],
            [1, 3],
            [0, 2, 4],
            [1, 3, 5],
        ]
        processes = {found[key][0] for key in range(6)}
        assert len(processes) == 2
        assert os.getpid() not in processes
        # Another worker takes the place of an owner that dies, with nothing in its memory.
        backend.submit("die", double, 99, owner=1)
        backend.submit("after", keep, "new", owner=1)
        assert backend.next().died
        assert answers(backend, 1)["after"][1] == ["new"]
        backend.submit("other", keep, 6, owner=0)
        assert answers(backend, 1)["other"][1] == [0, 2, 4, 6]


def test_this_process_is_an_owner_too():
    backend = Sequential()
    for key in range(2):
        backend.submit(key, keep, key, owner=0)
    assert answers(backend, 2) == {0: (os.getpid(), [0]), 1: (os.getpid(), [0, 1])}


def test_an_interrupt_leaves_no_process():
    with pytest.raises(KeyboardInterrupt), Processes(2, 1) as backend:
        backend.submit("idle", double, 1)
        backend.next()
        backend.submit("busy", time.sleep, 600)
        mine = {worker._process.pid for _, worker, _ in backend._busy.values()}
        raise KeyboardInterrupt
    assert mine.isdisjoint(process.pid for process in active_children())


def test_workers_end_with_a_parent_that_is_killed():
    """While they run a task, so that they do not read from their pipes."""
    program = (
        "import os, time\n"
        "from slanted.runtime.process_workers import Processes\n"
        "if __name__ == '__main__':\n"
        "    backend = Processes(2, 1)\n"
        "    backend.submit('first', os.getpid, owner=0)\n"
        "    print(backend.next().result(), flush=True)\n"
        "    backend.submit('busy', time.sleep, 600, owner=0)\n"
        "    time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as parent:
        assert int(parent.stdout.readline())
        parent.kill()
        parent.communicate(timeout=300)  # ends when the worker, which holds the pipe, has ended


def test_workers_hear_no_interrupt_from_the_very_start():
    """Ctrl-C reaches all processes of a terminal, and Python would say so while it starts."""
    worker = _Worker(1)
    try:
        status = Path(f"/proc/{worker._process.pid}/status").read_text()
        blocked = int(re.search(r"SigBlk:\s*(\w+)", status)[1], 16)
        assert blocked & 1 << (signal.SIGINT - 1)
    finally:
        worker.kill()
        worker.end()
    assert not signal.pthread_sigmask(signal.SIG_BLOCK, ())  # and we hear it again


def test_busy_workers_are_ended_at_once():
    """Rather than one after the other, each after it was given time to end by itself."""
    told = []

    class Worker:
        def __init__(self, name):
            self.name = name

        def kill(self):
            told.append(("kill", self.name))

        def end(self):
            told.append(("end", self.name))

    with Processes(3, 1) as backend:
        backend._idle[0] = Worker("idle")
        backend._busy.update({k: (n, Worker(k), k) for n, k in enumerate(("one", "two"), 1)})
    assert told[:2] == [("kill", "one"), ("kill", "two")]
    assert sorted(told[2:]) == [("end", "idle"), ("end", "one"), ("end", "two")]
