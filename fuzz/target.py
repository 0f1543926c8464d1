"""What a target is, and what counts as a finding."""

from __future__ import annotations

import atexit
import resource
import shutil
import signal
import sys
import tempfile
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
MEGABYTES = 600
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


def attempt(target: Target, data: bytes) -> None:
    """Read one input.

    Raises
    ------
    Finding
        If it neither succeeds nor is refused in one sentence, in time and memory.
    """
    _warm_up(target)
    try:
        with _limits(), warnings.catch_warnings():
            warnings.simplefilter("error")
            target.read(scratch(), data)
    except SlantedError as error:
        _check_sentence(str(error))
    except _TooSlow as error:
        raise Finding(f"took more than {error}") from None
    except (Exception, RecursionError) as error:
        raise Finding(f"{type(error).__name__}: {error}"[:500]) from error


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
    most = _address_space() + MEGABYTES * 2**20
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
