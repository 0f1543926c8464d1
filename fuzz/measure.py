"""Run ``slanted`` on the bombs, and print the memory and time that each takes.

``python -m fuzz.measure`` runs ``slanted info`` on each, and ``slanted run`` with each as settings
or calibration; ``python -m fuzz.measure NAME …`` only those files.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from fuzz.bombs import BOMBS

MOST_ADDRESSES = 12 * 2**30
"""Bytes; a bomb that goes off must not take the machine with it."""


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


def measure(*arguments: str, most_seconds: int = 60) -> Measured:
    """Run ``python -m slanted`` with some arguments."""
    command = [sys.executable, "-m", "slanted", *arguments]
    with tempfile.TemporaryFile() as text:
        child = subprocess.Popen(
            command,
            stdout=text,
            stderr=text,
            stdin=subprocess.DEVNULL,
        )
        for kind, most in (
            (resource.RLIMIT_CPU, most_seconds),
            (resource.RLIMIT_AS, MOST_ADDRESSES),
        ):
            resource.prlimit(child.pid, kind, (most, most))
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        text.seek(0)
        told = text.read().decode(errors="replace")
    unit = 1 if sys.platform == "darwin" else 1024
    megabytes = used.ru_maxrss * unit / 1e6
    return Measured(megabytes, used.ru_utime + used.ru_stime, child.returncode, told)


def main() -> int:
    """Measure the bombs whose file names are given, or all."""
    wanted = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        for bomb in BOMBS:
            if wanted and bomb.file_name not in wanted:
                continue
            file = Path(folder) / bomb.file_name
            file.write_bytes(bomb.make(1.0))
            commands = [["info", str(file)]]
            if file.suffix == ".toml":
                commands = [["run", "a.png", "b.png", "--settings", str(file)]]
            for arguments in commands:
                found = measure(*arguments)
                last = found.text.strip().rpartition("\n")[2]
                size = file.stat().st_size / 1e6
                sys.stdout.write(
                    f"{bomb.name:16} {size:6.2f} MB  {arguments[0]:5}{found.megabytes:6.0f} MB"
                    f" {found.seconds:6.2f} s  exit {found.code}  {last[-90:]}\n"
                )
                sys.stdout.flush()
            file.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
