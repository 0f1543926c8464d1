"""Forks while other threads run slanted.

A forked process has only the thread that forked it. A lock that another thread held at that moment
stays locked in it for ever, and so do the locks of Python's imports, of Numba's compiler and of
OpenCV's threads, which a first run holds for most of its time. So a fork waits here until no other
thread is in one of these because of slanted: a moment, or the time that one kernel compiles.
"""

from __future__ import annotations

import concurrent.futures.thread
import logging
import os
import sys
import threading
import time
import warnings
from types import FrameType
from typing import Any

from slanted.errors import SlantedWarning

LONGEST_SECONDS = 120.0
"""Seconds that a fork waits; what takes longer perhaps waits for the thread that forks."""
LOOK_SECONDS = 0.001
"""Seconds between looks at the other threads."""
SWITCH_SECONDS = 1.0
"""Seconds for which no other thread takes over between the look and the fork."""
OURS = ("slanted", "lazy_loader")
"""The packages on whose behalf something is imported; the second loads the names of the first."""

_locks: list[Any] = []
_taken_next: list[Any] = [concurrent.futures.thread._global_shutdown_lock, logging._lock]  # type: ignore[attr-defined]
"""Locks that Python itself takes for a fork, after our look."""
_of_thread = threading.local()


def held_in_forks(lock: Any) -> Any:
    """Return a lock of ours, after making sure that no other thread has it during a fork."""
    _locks.append(lock)
    return lock


def _before() -> None:
    end = time.monotonic() + LONGEST_SECONDS
    _of_thread.held, _of_thread.interval, safe = [], None, len(sys._current_frames()) == 1
    if not safe:
        # Otherwise another thread could begin an import between the look and the fork. A thread
        # that waits for its turn by the old interval notices the new one when its wait ends.
        _of_thread.interval = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH_SECONDS)
        time.sleep(2 * _of_thread.interval)
    while not safe and time.monotonic() < end:
        safe = _take_locks(end) and _can_take_next(end) and not _others_busy()
        if not safe:
            _release()
            time.sleep(LOOK_SECONDS)
    if not safe:
        warnings.warn(
            f"fork: another thread has been loading or compiling for {LONGEST_SECONDS:.0f} s, so "
            "slanted may hang in the new process; start processes with the method spawn",
            SlantedWarning,
            stacklevel=2,
        )


def _take_locks(end: float) -> bool:
    """Take our locks and, if Numba is loaded, its own; return whether that succeeded in time."""
    numba = sys.modules.get("numba.core.compiler_lock")
    compiler = getattr(getattr(numba, "global_compiler_lock", None), "_lock", None)
    for lock in [*([] if compiler is None else [compiler]), *_locks]:
        if not lock.acquire(timeout=max(0.0, end - time.monotonic())):
            return False
        _of_thread.held.append(lock)
    return True


def _can_take_next(end: float) -> bool:
    """Wait until Python's own locks are free, so that Python need not wait for them after us."""
    for lock in _taken_next:
        if not lock.acquire(timeout=max(0.0, end - time.monotonic())):
            return False
        lock.release()
    return True


def _after() -> None:
    _release()
    interval = getattr(_of_thread, "interval", None)
    if interval is not None:
        sys.setswitchinterval(interval)


def _release() -> None:
    # Nothing is held if this module was imported while the fork was under way.
    held: list[Any] = getattr(_of_thread, "held", [])
    while held:
        held.pop().release()


def _others_busy() -> bool:
    own = threading.get_ident()
    return any(is_busy(frame) for thread, frame in sys._current_frames().items() if thread != own)


def is_busy(frame: FrameType | None) -> bool:
    """Return whether a thread is in OpenCV, called by slanted, or in an import made by slanted."""
    if frame is None:
        return False
    code = frame.f_code
    if _is_ours(frame) and "cv2" in (*code.co_names, *code.co_varnames):
        return True
    importing = False
    while frame is not None:
        importing = importing or frame.f_code.co_filename.startswith("<frozen importlib")
        # In this order: a script that is itself being imported may run slanted for hours.
        if importing and _is_ours(frame):
            return True
        frame = frame.f_back
    return False


def _is_ours(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__")).partition(".")[0] in OURS


if hasattr(os, "register_at_fork"):
    # Called before all that was registered earlier. So the modules that lock something of their own
    # for a fork are imported above: what other threads wait for must not be locked while we wait.
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after)
