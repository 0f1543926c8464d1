"""Forks while other threads run slanted.

A forked process has only the thread that forked it, and what other threads had locked at that
moment stays locked in it for ever: a module that was being imported, Numba's compiler, OpenCV's
pool of threads. A first run is in one of these for most of its time. So a fork waits here until no
other thread is in one of them because of slanted: a moment, or the time that one kernel compiles.
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
SWITCH_SECONDS = 0.5
"""Seconds for which no other thread takes over between the look and the fork."""
OURS = ("slanted", "lazy_loader")
"""The packages on whose behalf something is imported; the second loads the names of the first."""

_one_fork = threading.Lock()
_must_be_free: list[Any] = [
    # Python takes these for a fork, after us; to wait for them would let other threads go on.
    getattr(logging, "_lock", None),
    getattr(concurrent.futures.thread, "_global_shutdown_lock", None),
]
_of_thread = threading.local()


def free_in_forks(lock: Any) -> Any:
    """Return a lock of ours, after making sure that no other thread has it during a fork."""
    _must_be_free.append(lock)
    return lock


def _before() -> None:
    end = time.monotonic() + LONGEST_SECONDS
    _of_thread.held, _of_thread.interval, safe = [], None, len(sys._current_frames()) == 1
    while not safe and time.monotonic() < end:
        if _wait_for_locks(end):
            _of_thread.interval = sys.getswitchinterval()
            sys.setswitchinterval(SWITCH_SECONDS)
            # Threads that wait for their turn notice the new interval when the old one is over.
            time.sleep(2 * _of_thread.interval)
            safe = _is_safe()
        if not safe:
            _after()
            time.sleep(LOOK_SECONDS)
    if not safe:
        warnings.warn(
            f"fork: another thread has been loading or compiling for {LONGEST_SECONDS:.0f} s, so "
            "slanted may hang in the new process; start processes with the method spawn",
            SlantedWarning,
            stacklevel=2,
        )


def _after() -> None:
    """Undo `_before`, in the parent and in the child."""
    # Nothing is there if this module was imported while the fork was under way.
    held: list[Any] = getattr(_of_thread, "held", [])
    interval: float | None = getattr(_of_thread, "interval", None)
    if interval is not None:
        sys.setswitchinterval(interval)
        _of_thread.interval = None
    while held:
        held.pop().release()


def _wait_for_locks(end: float) -> bool:
    """Let no other thread fork nor, if Numba is loaded, compile; return whether that worked."""
    numba = sys.modules.get("numba.core.compiler_lock")
    compiler = getattr(getattr(numba, "global_compiler_lock", None), "_lock", None)
    for lock in (_one_fork, compiler):
        if lock is None:
            continue
        if not lock.acquire(timeout=max(0.0, end - time.monotonic())):
            return False
        _of_thread.held.append(lock)
    return True


def _is_safe() -> bool:
    own = threading.get_ident()
    others = [frame for thread, frame in sys._current_frames().items() if thread != own]
    return all(map(_is_free, _must_be_free)) and not any(map(is_busy, others))


def _is_free(lock: Any) -> bool:
    if lock is None or not lock.acquire(blocking=False):
        return lock is None
    lock.release()
    return True


def is_busy(frame: FrameType | None) -> bool:
    """Return whether a thread is in LLVM, or because of slanted in OpenCV or an import."""
    if frame is None:
        return False
    code = frame.f_code
    if _package(frame) == "llvmlite":
        return True
    # A function that was made inside another one may have the module from there.
    names = *code.co_names, *code.co_varnames, *code.co_freevars
    if _package(frame) in OURS and "cv2" in names:
        return True
    importing = False
    while frame is not None:
        importing = importing or frame.f_code.co_filename.startswith("<frozen importlib")
        # In this order: a script that is itself being imported may run slanted for hours.
        if importing and _package(frame) in OURS:
            return True
        frame = frame.f_back
    return False


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__")).partition(".")[0]


if hasattr(os, "register_at_fork"):
    # Registered after logging and concurrent.futures, it is called before they take their locks:
    # what other threads wait for must not be locked while we wait for them.
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after)
