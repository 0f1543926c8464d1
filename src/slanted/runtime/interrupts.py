"""Ctrl-C, where it must wait."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let an interrupt wait until a short block ends.

    Python tells its main thread alone of signals, so that blocks of other threads need nothing.

    Examples
    --------
    >>> with uninterrupted():
    ...     written = "complete"
    """
    before = signal.getsignal(signal.SIGINT)
    # None: somebody else than Python handles it.
    if threading.current_thread() is not threading.main_thread() or before is None:
        yield
        return
    came = False

    def note(*_: object) -> None:
        nonlocal came
        came = True

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if came:
            signal.raise_signal(signal.SIGINT)
