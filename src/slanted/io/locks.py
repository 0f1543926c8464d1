"""Locks between processes, which end with the process that holds them."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows, where nobody is locked out
    fcntl = None  # type: ignore[assignment]

POLL_SECONDS = 0.05


@contextmanager
def locked_folder(folder: Path, wait_seconds: float = 0) -> Iterator[bool]:
    """Lock an existing folder for this process, and yield whether that succeeded.

    The lock is on the folder itself, so no file is left behind. Where the file system has no locks,
    as on some network drives, nobody is locked out.
    """
    if fcntl is None:
        yield True
        return
    deadline = time.monotonic() + wait_seconds
    while True:
        file = os.open(folder, os.O_RDONLY)
        try:
            if try_lock(file):
                if _is_at(file, folder):
                    yield True
                    return
            elif time.monotonic() >= deadline:
                yield False
                return
        finally:
            unlock(file)
            os.close(file)
        time.sleep(POLL_SECONDS)


def try_lock(file: int) -> bool:
    """Lock an open file until it is unlocked or this process ends; False if another has it."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in (errno.EWOULDBLOCK, errno.EACCES)
    return True


def unlock(file: int) -> None:
    """Unlock a file; closing it is not enough if a forked process has it too."""
    if fcntl is not None:
        try:
            fcntl.flock(file, fcntl.LOCK_UN)
        except OSError:  # the file system has no locks
            return


def _is_at(file: int, folder: Path) -> bool:
    """Return whether an open folder still has that name; its last owner may have removed it."""
    return folder.exists() and os.path.samestat(os.fstat(file), folder.stat())
