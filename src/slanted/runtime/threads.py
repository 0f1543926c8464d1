"""How many threads a run may use, and how work is shared among them."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from slanted.runtime import forks  # noqa: F401  what runs here is safe to fork from
from slanted.runtime.interrupts import restored_interrupts

Found = TypeVar("Found")


@dataclass(frozen=True)
class _Pending:
    """What is to be done `Soon` in a `thread_limit`."""

    made: list[weakref.ref[Soon[Any]]] = field(default_factory=list)
    begun: set[Future[Any]] = field(default_factory=set)
    """What threads do now, whether or not somebody still wants it."""


Share = Callable[[int, int], Any]
"""Does the items ``first … last - 1`` of some work."""

_threads: ContextVar[int | None] = ContextVar("slanted_threads", default=None)
_soon: ContextVar[_Pending | None] = ContextVar("slanted_soon", default=None)


@contextmanager
def thread_limit(threads: int | None) -> Iterator[int]:
    """Limit the threads of OpenCV and of our kernels inside the block; None is all cores.

    What is to be done `Soon`, and nobody has asked for, ends with the block.
    """
    from slanted.runtime.opencv import cv2

    wanted = threads or core_count()
    before = cv2.getNumThreads()
    mine = _Pending()
    token, before_mine = _threads.set(wanted), _soon.set(mine)
    cv2.setNumThreads(wanted)
    try:
        with restored_interrupts():
            yield wanted
    finally:
        try:
            _end(mine)
        finally:  # also if an impatient user interrupts that
            cv2.setNumThreads(before)
            _soon.reset(before_mine)
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
    box = [work]
    handed_over = [helpers.submit(_limited, own, partial(_take, box)) for _ in range(threads - 1)]
    failed = True
    try:
        _limited(own, work)
        failed = False
    finally:
        for helper in handed_over:
            # One that is busy with something else has nothing left to do here, unless a task has
            # failed: then it does the rest, as all others end before the failure is raised. The
            # others are waited for, so that no thread writes to arrays after the call.
            if failed or not helper.cancel():
                helper.exception()
        box.clear()
    for helper in handed_over:
        if not helper.cancelled():
            helper.result()
    return results


def _take(box: list[Callable[[], Any]]) -> Any:
    """Do what is in a box, if anything still is.

    A cancelled task stays in the pool's queue until a thread is free. What it held would, too.
    """
    return box[0]() if box else None


class Soon(Generic[Found]):
    """The result of a task that another thread does, if one is free before it is asked for.

    While one thread must work alone, the others are idle. They can do what will be needed later.
    Only the thread that made it may ask for the result, until it has it.

    Parameters
    ----------
    task
        What to do; if it shares its work, one thread does all of it.
    wait
        Whether it is begun by the next `lend_threads` instead of at once, when threads may be busy.
    """

    def __init__(self, task: Callable[[], Found], *, wait: bool = False) -> None:
        self._box: list[Callable[[], Found]] = [task]
        self._helper: Future[Found] | None = None
        self._found: Found
        if (pending := _soon.get()) is not None:
            pending.made.append(weakref.ref(self))  # whoever wants the result keeps it
        if not wait:
            self.begin()

    def begin(self) -> None:
        """Have a free thread do the task, unless it is done.

        Where no `thread_limit` would wait for that thread, also inside a task that is shared, it is
        done when somebody asks.
        """
        threads, pending = current_threads(), _soon.get()
        if threads > 1 and pending is not None and self._box and self._helper is None:
            helper = _helpers(threads - 1).submit(_limited, 1, partial(_take, self._box))
            pending.begun.add(helper)
            helper.add_done_callback(pending.begun.discard)
            self._helper = helper

    def result(self) -> Found:
        """Return the result, or do the task now if nobody has begun with it."""
        if self._box:
            helper = self._helper
            begun = helper is not None and not helper.cancel()
            self._found = helper.result() if helper is not None and begun else self._box[0]()
            self._box.clear()
            self._helper = None
        return self._found


def lend_threads() -> None:
    """Have the other threads begin with what waits, as this one goes on alone for a while."""
    if (pending := _soon.get()) is not None:
        for soon in [known for each in pending.made if (known := each()) is not None]:
            soon.begin()


def _end(pending: _Pending) -> None:
    """Have no thread begin with a task any more, and wait for those that have."""
    for helper in [each for each in list(pending.begun) if not each.cancel()]:
        helper.exception()


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


def _forget_threads() -> None:
    """Forget the parent's threads, which a forked process has not, and what they have begun."""
    _helpers.cache_clear()
    if (pending := _soon.get()) is not None:
        pending.begun.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)
