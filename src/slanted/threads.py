"""How many threads a run may use."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def thread_limit(threads: int | None) -> Iterator[int]:
    """Limit OpenCV to some threads (None = all cores) inside the block, then restore its state."""
    import cv2

    wanted = threads or os.cpu_count() or 1
    before = cv2.getNumThreads()
    cv2.setNumThreads(wanted)
    try:
        yield wanted
    finally:
        cv2.setNumThreads(before)
