"""How many threads a run may use."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_threads: ContextVar[int | None] = ContextVar("slanted_threads", default=None)


@contextmanager
def thread_limit(threads: int | None) -> Iterator[int]:
    """Limit OpenCV and our own kernels to some threads (None = all cores) inside the block."""
    import cv2

    wanted = threads or os.cpu_count() or 1
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
    return _threads.get() or os.cpu_count() or 1
