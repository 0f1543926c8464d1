"""Threads: work is shared without gaps, tasks run at once, and nothing outlives a call."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import time
import weakref

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slanted.runtime import threads as module
from slanted.runtime.threads import (
    Soon,
    current_threads,
    lend_threads,
    share,
    share_rows,
    thread_limit,
    together,
)


@given(st.integers(0, 50), st.integers(1, 6), st.integers(1, 4))
def test_stretches_make_up_the_whole_in_order(count, threads, pieces):
    with thread_limit(threads):
        stretches = share(count, lambda first, last: list(range(first, last)), pieces=pieces)
        rows = share_rows(count, np.arange, pieces=pieces)
    assert [k for stretch in stretches for k in stretch] == rows.tolist() == list(range(count))
    assert len(stretches) == max(1, min(count, threads * pieces if threads > 1 else 1))
    assert len(stretches) == 1 or min(len(s) for s in stretches) >= 1


def test_tasks_run_at_the_same_time():
    meeting = threading.Barrier(2, timeout=300)  # breaks, and fails the test, if one waits alone
    with thread_limit(2):
        assert together(lambda: (meeting.wait(), 1)[1], lambda: (meeting.wait(), 2)[1]) == [1, 2]


def test_more_tasks_than_threads():
    with thread_limit(2):
        assert together(*(lambda k=k: k * k for k in range(20))) == [k * k for k in range(20)]


def test_one_thread_starts_no_other():
    with thread_limit(1):
        assert share(10, lambda first, last: threading.current_thread()) == [
            threading.current_thread()
        ]


def test_fewer_tasks_than_threads_share_their_work_with_the_others():
    def inside(deeper):
        if deeper == 0:
            return share(9, lambda *_: current_threads())
        return together(*(lambda: inside(deeper - 1) for _ in range(2)))

    with thread_limit(9):
        assert inside(1) == [[1] * 4] * 2
        assert inside(2) == [[[1] * 2] * 2] * 2
        assert inside(3) == [[[[1]] * 2] * 2] * 2
        assert current_threads() == 9


def test_a_task_shares_its_work_with_nobody():
    with thread_limit(3):
        inside = together(*(lambda: share(9, lambda *_: current_threads()) for _ in range(3)))
        assert inside == [[1], [1], [1]]
        assert current_threads() == 3


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_a_failure_is_raised_after_all_others_have_ended(failing):
    ended = []

    def task(k):
        if k == failing:
            raise ValueError("on purpose")
        ended.append(k)

    with thread_limit(3), pytest.raises(ValueError, match="on purpose"):
        together(*(lambda k=k: task(k) for k in range(3)))
    assert sorted(ended) == [k for k in range(3) if k != failing]
    with thread_limit(3):  # and the pool is still good
        assert together(lambda: 1, lambda: 2) == [1, 2]


def test_another_thread_does_what_is_needed_soon():
    with thread_limit(2):
        begun, may_end = threading.Event(), threading.Event()

        def task():
            begun.set()
            assert may_end.wait(300)
            return threading.current_thread(), current_threads()

        soon = Soon(task)
        assert begun.wait(300)  # without being asked for
        may_end.set()
        thread, threads = soon.result()
        assert thread is not threading.current_thread()
        assert threads == 1
        assert soon.result() == (thread, 1)  # it is kept


def test_what_nobody_has_begun_is_done_when_it_is_asked_for():
    done = []
    with thread_limit(1):
        alone = Soon(lambda: done.append(threading.current_thread()))
        assert not done
        alone.result()
        alone.result()
    with thread_limit(2):
        may_end = threading.Event()
        first = Soon(lambda: may_end.wait(300))  # the only helper is busy with it
        second = Soon(lambda: done.append(threading.current_thread()))
        second.result()
        # Nor do shared tasks wait for that helper.
        assert together(threading.current_thread, threading.current_thread) == done[:1] * 2
        may_end.set()
        assert first.result()
    assert done == [threading.current_thread()] * 2


def test_a_failure_of_what_was_done_early_is_raised_when_it_is_asked_for():
    with thread_limit(2):
        soon = Soon(lambda: 1 // 0)
        assert together(lambda: 1, lambda: 2) == [1, 2]
        with pytest.raises(ZeroDivisionError):
            soon.result()


def test_what_waits_is_begun_when_threads_are_lent():
    begun = threading.Event()
    with thread_limit(2):
        soon = Soon(lambda: (begun.set(), threading.current_thread())[1], wait=True)
        assert together(lambda: 1, lambda: 2) == [1, 2]
        assert not begun.is_set()
        lend_threads()
        assert begun.wait(300)
        assert soon.result() is not threading.current_thread()
        here = Soon(threading.current_thread, wait=True)
        assert here.result() is threading.current_thread()
        lend_threads()  # nothing waits any more
        assert here.result() is threading.current_thread()
    lend_threads()
    assert Soon(lambda: 3, wait=True).result() == 3


def test_no_thread_begins_what_no_limit_would_wait_for():
    """Outside of all limits, and in a helper's part of what is shared, which has two threads."""
    here, main = threading.current_thread, threading.current_thread()
    both = threading.Barrier(2, timeout=300)

    def is_begun():
        soon = Soon(here)
        time.sleep(0.01)  # in which a thread that was asked would have begun
        return soon.result() is not here()

    def task():
        both.wait()
        return here() is not main and is_begun()

    assert not is_begun()
    with thread_limit(4):
        assert together(task, task) == [False, False]


def test_limits_are_undone_though_their_end_is_interrupted(monkeypatch):
    def interrupted(_):
        raise KeyboardInterrupt

    before, of_opencv = current_threads(), cv2.getNumThreads()
    monkeypatch.setattr(module, "_end", interrupted)
    with pytest.raises(KeyboardInterrupt), thread_limit(before + 3):
        assert current_threads() == before + 3
    assert (current_threads(), cv2.getNumThreads()) == (before, of_opencv)
    assert module._soon.get() is None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform has no fork")
def test_a_forked_process_waits_for_no_thread_of_its_parent():
    """Nothing of it ends there: it would wait for ever, and its alarm would end it."""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", FORK], timeout=300, check=False)
    assert done.returncode == 0


FORK = """
import os, signal, threading
from slanted.runtime.threads import Soon, thread_limit

begun, may_end = threading.Event(), threading.Event()
with thread_limit(2):
    soon = Soon(lambda: (begun.set(), may_end.wait()))
    begun.wait()
    child = os.fork()
    if child:
        status = os.waitpid(child, 0)[1]
        may_end.set()
    else:
        signal.alarm(60)
os._exit(os.waitstatus_to_exitcode(status) if child else 0)
"""


def test_what_nobody_asks_for_ends_with_the_limit():
    begun, may_end, done = threading.Event(), threading.Event(), []

    def task():
        begun.set()
        assert may_end.wait(300)
        done.append(1)

    with pytest.raises(ZeroDivisionError), thread_limit(2):
        soon, later = Soon(task), Soon(lambda: done.append(2))  # there is one helper for both
        assert begun.wait(300)
        threading.Timer(0.05, may_end.set).start()
        _ = 1 // 0
    assert done == [1]  # it was waited for, and the other one is never begun
    with thread_limit(2):
        assert Soon(lambda: 3).result() == 3  # so the helper is free
        assert done == [1]
        soon.result()
        later.result()
    assert done == [1, 2]


def test_what_was_dropped_amid_its_work_ends_with_the_limit():
    begun, may_end, done = threading.Event(), threading.Event(), []

    def task():
        begun.set()
        assert may_end.wait(300)
        done.append(1)

    with thread_limit(2):
        soon = Soon(task)
        assert begun.wait(300)
        del soon
        threading.Timer(0.05, may_end.set).start()
    assert done == [1]


def test_what_waits_is_kept_by_those_who_want_it_only():
    with thread_limit(1):
        soon = Soon(lambda: np.zeros(3), wait=True)
        found = weakref.ref(soon.result())
        del soon
        gc.collect()
        assert found() is None


def test_what_waits_is_not_lost_where_there_are_no_threads_to_lend():
    with thread_limit(2):
        begun = threading.Event()
        soon = Soon(begun.set, wait=True)
        together(lend_threads, lend_threads)
        assert not begun.is_set()
        lend_threads()
        assert begun.wait(300)
        soon.result()


def test_nothing_is_kept_for_a_thread_that_is_busy():
    class Large:
        def __call__(self):
            return 1

    with thread_limit(2):
        may_end, large = threading.Event(), Large()
        kept = weakref.ref(large)
        busy = Soon(lambda: may_end.wait(300))
        assert together(large, int) == [1, 0]
        assert Soon(large).result() == 1
        del large
        gc.collect()
        assert kept() is None
        may_end.set()
        assert busy.result()
