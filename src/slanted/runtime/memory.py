"""How much memory is available, how many workers fit into it, and when it is given back."""

from __future__ import annotations

import functools
from pathlib import Path

USABLE = 0.9
"""Share of the available memory that all workers may take together."""
RAISES_THRESHOLD = 2**25 - 2**16
"""Bytes of an array after which glibc's threshold is as high as it can be: nearly 32 MB."""


@functools.cache
def keep_freed_memory() -> None:
    """Have the C library keep up to 64 MB of what each thread frees, for the rest of the process.

    glibc gives freed memory back to the system above a threshold, which is twice the size of the
    largest array that was freed so far, counting arrays of up to 32 MB. Inference frees 40 MB more
    than once in a run. To get them back took 9,800 page faults, or 6 to 11 of 230 ms on two threads
    of a virtual machine; without them, the process stays 30 MB larger between runs. So an array of
    nearly 32 MB is freed here. It is never touched and takes no memory itself. Nothing happens with
    other C libraries, whose rules are others, nor if the environment variable
    ``MALLOC_TRIM_THRESHOLD_`` sets the threshold.
    """
    import numpy as np

    np.empty(RAISES_THRESHOLD, np.uint8)


def workers_that_fit(wanted: int, needed: int, available: int) -> int:
    """Return how many workers may run at a time; at least one, even if that does not fit."""
    return max(1, min(wanted, int(USABLE * available) // max(needed, 1)))


def available_bytes() -> int:
    """Return the memory that is free now, on this machine or, if less, in this container."""
    found = [_meminfo(), _cgroup()]
    known = [value for value in found if value is not None]
    return min(known) if known else 2**62


def _meminfo() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        return None
    return None


def _cgroup() -> int | None:
    folder = Path("/sys/fs/cgroup")
    try:
        limit = int((folder / "memory.max").read_text())  # "max" if there is none
        statistics = dict(
            line.split() for line in (folder / "memory.stat").read_text().splitlines()
        )
        used = int((folder / "memory.current").read_text())
    except (OSError, ValueError):
        return None
    # The kernel gives up cached pages of files when memory is needed.
    return limit - used + int(statistics.get("inactive_file", 0))
