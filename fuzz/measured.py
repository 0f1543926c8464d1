"""The memory and time that ``slanted`` takes, in a process of its own."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

MOST_MEGABYTES, MOST_SECONDS = 600.0, 5.0
"""What no file of less than 16 MB may take, resident memory at its peak and CPU time."""
ENOUGH_BYTES, ENOUGH_SECONDS = 12 * 2**30, 60
"""Address space and CPU time at which a command is ended: it must not take the machine with it."""


@dataclass(frozen=True)
class Measured:
    """What a command took."""

    megabytes: float
    """Peak of its resident memory."""
    seconds: float
    """CPU time."""
    code: int
    text: str
    """What it wrote to standard error and output."""

    @property
    def is_modest(self) -> bool:
        """Whether it took no more than any file may."""
        return self.megabytes <= MOST_MEGABYTES and self.seconds <= MOST_SECONDS


@contextmanager
def bounded(megabytes: float = 30, seconds: float = 5.0) -> Iterator[None]:
    """Fail if the block takes more memory of Python and NumPy, or more CPU time."""
    start = time.process_time()
    tracemalloc.start()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < megabytes * 2**20
    assert time.process_time() - start < seconds


def measure(*arguments: str) -> Measured:
    """Run ``python -m slanted`` with some arguments.

    A process in between starts it, because Linux counts the memory of whoever starts a process as
    its own.
    """
    command = [sys.executable, "-m", "fuzz.measure", "--one", *arguments]
    paths = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=paths)
    return Measured(**json.loads(done.stdout))


def measure_here(arguments: list[str]) -> Measured:
    """Run ``python -m slanted``, and limit this process and it."""
    command = [sys.executable, "-m", "slanted", *arguments]
    for kind, most in ((resource.RLIMIT_CPU, ENOUGH_SECONDS), (resource.RLIMIT_AS, ENOUGH_BYTES)):
        resource.setrlimit(kind, (most, most))  # for the command, which inherits them
    with tempfile.TemporaryFile() as text:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=text, stderr=text)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        text.seek(0)
        told = text.read().decode(errors="replace")
    unit = 1 if sys.platform == "darwin" else 1024
    seconds = used.ru_utime + used.ru_stime
    return Measured(used.ru_maxrss * unit / 1e6, seconds, child.returncode, told[-5000:])


def measure_file(file: Path) -> Measured:
    """Give a file to the command that reads such files."""
    if file.suffix == ".toml":
        return measure("run", "left.png", "right.png", "--settings", str(file))
    return measure("info", str(file))
