"""What a target is, and what counts as a finding."""

from __future__ import annotations

import resource
import signal
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

SECONDS = 5.0
"""Of CPU time: a busy machine is no fault of the input."""
WAITING_SECONDS = 60.0
MEGABYTES = 600
LONGEST_MESSAGE = 1200

Try = Callable[[Path, bytes], None]


@dataclass(frozen=True)
class Target:
    """A parser to fuzz.

    Parameters
    ----------
    name
        For the command line.
    read
        Gets a folder of its own and the bytes; puts them in a file and reads it.
    seeds
        Makes the first inputs, by code.
    tokens
        What mutations may insert: words of the format.
    """

    name: str
    read: Try
    seeds: Callable[[], list[bytes]]
    tokens: tuple[bytes, ...] = ()


class Finding(Exception):  # noqa: N818 - it is no error of ours
    """An input did what none may do."""


class _TooSlow(BaseException):
    """Not an Exception: parsers that catch too much must not catch it."""


def attempt(target: Target, data: bytes) -> None:
    """Read one input.

    Raises
    ------
    Finding
        If it neither succeeds nor is refused in one sentence, in time and memory.
    """
    from slanted.errors import SlantedError

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
    """Import and compile all that a target needs: that takes more than an input may."""
    from slanted.errors import SlantedError

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
    """Return a folder for the files of this process, in memory where there is such a place."""
    memory = Path("/dev/shm")
    holder = tempfile.TemporaryDirectory(
        prefix="slanted-fuzz-", dir=memory if memory.is_dir() else None
    )
    _HOLDERS.append(holder)  # removed with the process
    return Path(holder.name)


_HOLDERS: list[tempfile.TemporaryDirectory[str]] = []


@contextmanager
def _limits() -> Iterator[None]:
    """Raise where an input takes too long, and let no allocation pass a limit."""
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
    # A process that somebody stops for a while waits, too: then the input is not to blame.
    waited = number == signal.SIGALRM
    raise _TooSlow(f"{WAITING_SECONDS:g} s by the clock" if waited else f"{SECONDS:g} s")


def _address_space() -> int:
    if not sys.platform.startswith("linux"):
        return 2**40
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
