"""How much memory there is, and how many workers therefore fit."""

from __future__ import annotations

from pathlib import Path

USABLE = 0.9
"""Share of the memory available that workers may fill together."""


def workers_that_fit(wanted: int, needed: int, available: int) -> int:
    """Return how many workers may run at a time; at least one, which may yet fail."""
    return max(1, min(wanted, int(USABLE * available) // max(needed, 1)))


def available_bytes() -> int:
    """Return the memory that processes may take now: the machine's, or this container's if less."""
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
    # Pages of files are given back when memory is asked for.
    return limit - used + int(statistics.get("inactive_file", 0))
