"""Threads: work is shared without gaps, tasks run at once, and nothing outlives a call."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slanted.runtime.threads import current_threads, share, share_rows, thread_limit, together


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
