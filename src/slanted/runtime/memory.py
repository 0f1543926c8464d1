"""How much memory is available, and how many workers fit into it."""

from __future__ import annotations

from pathlib import Path

USABLE = 0.9
"""Share of the available memory that all workers may take together."""


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
