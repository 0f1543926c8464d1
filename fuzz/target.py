"""What a target is, and what counts as a finding."""

from __future__ import annotations

import atexit
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from slanted.errors import SlantedError

SECONDS = 5.0
"""CPU time, because a busy machine is not the input's fault."""
WAITING_SECONDS = 60.0
"""Time by the clock."""
MEGABYTES = 400
"""Resident memory that an input may add: with what a command takes to start, 600 MB."""
ADDRESS_MEGABYTES = 1000
"""Address space that an input may add; allocations beyond it fail."""
LONGEST_MESSAGE = 1200

Try = Callable[[Path, bytes], None]


@dataclass(frozen=True)
class Target:
    """A parser to fuzz."""

    name: str
    read: Try
    """Gets a folder of its own and the bytes, writes them to a file and reads it."""
    seeds: Callable[[], list[bytes]]
    """Makes the first inputs."""
    tokens: tuple[bytes, ...] = ()
    """Words of the format, which mutations may insert."""


def file_target(
    name: str,
    file_name: str,
    read: Callable[[Path], object],
    seeds: Callable[[], list[bytes]],
    tokens: tuple[bytes, ...] = (),
) -> Target:
    """Return a target whose input is the content of one file, which `read` is called with."""

    def read_bytes(folder: Path, data: bytes) -> None:
        (folder / file_name).write_bytes(data)
        read(folder / file_name)

    return Target(name, read_bytes, seeds, tokens)


class Finding(Exception):  # noqa: N818 - the error is in what was fuzzed
    """An input did what no input may do."""


class _TooSlow(BaseException):
    """Not an Exception, so that parsers that catch too much do not catch it."""


@dataclass(frozen=True)
class Usage:
    """What an input took."""

    megabytes: float
    """Resident memory at its peak, beyond that before."""
    seconds: float
    """CPU time."""


def attempt(target: Target, data: bytes) -> Usage:
    """Read one input, and return what it took.

    Raises
    ------
    Finding
        If it neither succeeds nor is refused in one sentence, in time and memory.
    """
    _warm_up(target)
    before, start = _reset_peak(), time.process_time()
    try:
        with _limits(), warnings.catch_warnings():
            warnings.simplefilter("error")
            target.read(scratch(), data)
    except SlantedError as error:
        _check_sentence(str(error))
        _check_cause(error)
    except _TooSlow as error:
        raise Finding(f"took more than {error}") from None
    except (Exception, RecursionError) as error:
        raise Finding(f"{type(error).__name__}: {error}"[:500]) from error
    used = Usage((_peak() - before) / 1e6, time.process_time() - start)
    if used.megabytes > MEGABYTES:
        raise Finding(f"took more than {MEGABYTES} MB ({used.megabytes:.0f})")
    return used


def _check_cause(error: BaseException | None) -> None:
    """Refuse an error that hides that memory ran out; OpenCV has an exception of its own for it."""
    while error is not None:
        # Python's parser of expressions raises a MemoryError for what is nested too deeply.
        place = traceback.extract_tb(error.__traceback__)[-1].filename
        is_memory = isinstance(error, MemoryError) and not place.endswith("ast.py")
        if is_memory or "Failed to allocate" in str(error):
            raise Finding(f"ran out of memory: {type(error).__name__}: {error}"[:500])
        error = error.__cause__ or error.__context__


@cache
def _warm_up(target: Target) -> None:
    """Import and compile all that a target needs, which may take longer than the limit."""
    for data in target.seeds():
        with suppress(SlantedError):
            target.read(scratch(), data)


def _check_sentence(message: str) -> None:
    if not message.isprintable():
        raise Finding(f"a message that is not one printable line: {message[:300]!r}")
    if len(message) > LONGEST_MESSAGE:
        raise Finding(f"a message of {len(message)} characters: {message[:200]!r}")


@cache
def scratch() -> Path:
    """Return a folder for the files of this process, in memory where the system allows it."""
    memory = Path("/dev/shm")
    folder = tempfile.mkdtemp(prefix="slanted-fuzz-", dir=memory if memory.is_dir() else None)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


@contextmanager
def _limits() -> Iterator[None]:
    """Raise if an input takes too long, and let allocations beyond the limit fail."""
    before = [signal.signal(number, _alarm) for number in (signal.SIGALRM, signal.SIGPROF)]
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = _address_space() + ADDRESS_MEGABYTES * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (most if hard < 0 else min(most, hard), hard))
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    signal.setitimer(signal.ITIMER_REAL, WAITING_SECONDS)
    try:
        yield
    finally:
        for timer in (signal.ITIMER_PROF, signal.ITIMER_REAL):
            signal.setitimer(timer, 0)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        for number, handler in zip((signal.SIGALRM, signal.SIGPROF), before, strict=True):
            signal.signal(number, handler)


def _alarm(number: int, _: object) -> None:
    # The message says which, because a process that was stopped for a while has waited too.
    waited = number == signal.SIGALRM
    raise _TooSlow(f"{WAITING_SECONDS:g} s by the clock" if waited else f"{SECONDS:g} s")


def _address_space() -> int:
    if not sys.platform.startswith("linux"):
        return 2**40
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def _reset_peak() -> int:
    """Let the peak of resident memory start anew, and return the bytes of now.

    Only Linux can; elsewhere only a new peak of the whole process counts.
    """
    with suppress(OSError):
        os.pwrite(_opened("/proc/self/clear_refs", os.O_WRONLY), b"5", 0)
    return _peak()


def _peak() -> int:
    try:
        status = os.pread(_opened("/proc/self/status", os.O_RDONLY), 4096, 0)
        return int(status.partition(b"VmHWM:")[2].split(maxsplit=1)[0]) * 1024
    except (OSError, IndexError):
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


@cache
def _opened(name: str, flags: int) -> int:
    """Return a file that stays open, because opening it takes longer than using it."""
    return os.open(name, flags)
