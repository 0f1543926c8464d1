"""Memory for large volumes, kept from one pair to the next.

The first touch of each page of fresh memory costs about as much as all that the matcher does with
it: on a machine without huge pages to spare, matching a pair anew takes twice as long as in memory
that was used before. OpenCV's matchers keep theirs for the same reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

MOST_KEPT = 192 * 2**20
"""Bytes; larger volumes are given back to the system."""

_spare: list[NDArray[np.uint8]] = []
"""At most one, and none while it is in use."""
_lock = Lock()


@contextmanager
def volume(shape: tuple[int, ...], dtype: DTypeLike) -> Iterator[NDArray[Any]]:
    """Give an array whose content is whatever it was, for use inside the block only."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    with _lock:
        memory = _spare.pop() if _spare else np.empty(0, np.uint8)
    if memory.size < size:
        memory = np.empty(size, np.uint8)
    try:
        yield memory[:size].view(dtype).reshape(shape)
    finally:
        with _lock:
            if memory.size <= MOST_KEPT and not _spare:
                _spare.append(memory)
