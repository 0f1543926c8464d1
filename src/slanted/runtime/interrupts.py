"""Ctrl-C, where it must wait or would be taken for something else."""

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


@contextmanager
def restored_interrupts() -> Iterator[None]:
    """Raise KeyboardInterrupt where Numba has made a SystemError of one.

    Compiled kernels call Python to name the types of arrays that they return. If that is
    interrupted they return all the same, which Python takes for a fault of theirs.

    Examples
    --------
    >>> with restored_interrupts():
    ...     made = "by kernels"
    """
    try:
        yield
    except SystemError as error:
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, KeyboardInterrupt):
                raise cause from None
            cause = cause.__cause__ or cause.__context__
        raise
