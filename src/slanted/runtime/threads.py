"""How many threads a run may use, and how work is shared among them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slanted.runtime import forks  # noqa: F401  what runs here is safe to fork from

Share = Callable[[int, int], Any]
"""Does the items ``first … last - 1`` of some work."""

_threads: ContextVar[int | None] = ContextVar("slanted_threads", default=None)


@contextmanager
def thread_limit(threads: int | None) -> Iterator[int]:
    """Limit the threads of OpenCV and of our kernels inside the block; None is all cores."""
    from slanted.runtime.opencv import cv2

    wanted = threads or core_count()
    before = cv2.getNumThreads()
    token = _threads.set(wanted)
    cv2.setNumThreads(wanted)
    try:
        yield wanted
    finally:
        cv2.setNumThreads(before)
        _threads.reset(token)


def current_threads() -> int:
    """Return the threads of the innermost `thread_limit`, or the number of cores."""
    return _threads.get() or core_count()


def core_count() -> int:
    """Return how many cores this process may use, which may be fewer than the machine has."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this platform
        return os.cpu_count() or 1


def share(count: int, work: Share, *, pieces: int = 1) -> list[Any]:
    """Split 0 … count - 1 into parts, and call ``work(first, last)`` on each.

    Parameters
    ----------
    count
        Number of rows, segments or edges: anything that can be worked on independently.
    work
        Its results are returned in order. Threads help only if it releases the GIL.
    pieces
        Parts for each thread, which takes the next one when it is done. Several balance items that
        differ much, such as rows of sky and of cars.
    """
    threads = current_threads()
    parts = max(1, min(threads * pieces if threads > 1 else 1, count))
    edges = [count * k // parts for k in range(parts + 1)]
    return together(*(partial(work, *edges[k : k + 2]) for k in range(parts)))


def share_rows(count: int, work: Share, *, pieces: int = 1) -> NDArray[Any]:
    """Share work as `share` does, and join the rows that each part returns."""
    rows = share(count, work, pieces=pieces)
    return np.concatenate(rows) if len(rows) > 1 else np.asarray(rows[0])


def together(*tasks: Callable[[], Any]) -> list[Any]:
    """Run tasks, as many at once as there are threads, and return their results in order."""
    threads = min(current_threads(), len(tasks))
    if threads <= 1:
        return [task() for task in tasks]
    results: list[Any] = [None] * len(tasks)
    waiting = iter(range(len(tasks)))  # shared: each thread takes the next number

    def work() -> None:
        for number in waiting:
            results[number] = tasks[number]()

    helpers, own = _helpers(current_threads() - 1), current_threads() // threads
    handed_over = [helpers.submit(_limited, own, work) for _ in range(threads - 1)]
    try:
        _limited(own, work)
    finally:
        for helper in handed_over:
            helper.exception()  # waits, so that no thread writes to arrays after the call
    for helper in handed_over:
        helper.result()
    return results


def bind(kernel: Callable[..., Any], inputs: tuple[Any, ...], *outputs: Any) -> Share:
    """Bind a kernel to all arguments but (first, last), which come between inputs and outputs."""
    return lambda first, last: kernel(*inputs, first, last, *outputs)


def _limited(threads: int, task: Callable[[], Any]) -> Any:
    """Run a task that may share its own work among its part of the threads.

    Its part is always smaller than the caller's, so the task never waits for helpers of the pool
    that it runs in itself.
    """
    token = _threads.set(threads)
    try:
        return task()
    finally:
        _threads.reset(token)


@cache
def _helpers(count: int) -> ThreadPoolExecutor:
    """Return a pool that is kept, because starting a thread takes longer than most kernels."""
    return ThreadPoolExecutor(count, "slanted")


if hasattr(os, "register_at_fork"):
    # A forked process has the pools of its parent, but not their threads.
    os.register_at_fork(after_in_child=_helpers.cache_clear)
