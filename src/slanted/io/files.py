"""Whole files: read within limits, identified by a digest, written completely or not at all.

User files are opened by `open_input` only, which refuses devices, pipes and files of the kernel,
which may never end; `read_bytes` also refuses files larger than what the caller expects.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache, lru_cache
from pathlib import Path
from typing import BinaryIO

from slanted.errors import FileError

PARTIAL = ".partial"
"""Part of the name of what is being written; what a killed process leaves is known by it."""
KEPT_DIGESTS = 1024
"""Digests of files that are remembered; a batch may have millions of files."""
LARGEST_FILE = 2**34
"""Bytes; an image of `MAX_PIXELS` takes half as many, and sparse files claim terabytes."""


def read_bytes(path: Path | str, most: int = LARGEST_FILE, *, may_be_empty: bool = False) -> bytes:
    """Return the content of a regular file of at most `most` bytes.

    Raises
    ------
    FileError
        If the file is missing, a directory, a device, too large, unreadable, or empty while
        `may_be_empty` is False.
    """
    with open_input(Path(path)) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise FileError(
                path,
                f"expected a file of at most {most} bytes, but it has {size}; is it another file?",
            )
        try:
            data = file.read(size)  # no more, or a file that grows would never end
        except MemoryError as error:
            raise FileError(
                path, f"has {size} bytes, which do not fit into memory; split it"
            ) from error
    if not data and not may_be_empty:
        raise FileError(path, "the file is empty (0 bytes); fetch or write it again")
    return data


@contextmanager
def open_input(path: Path) -> Iterator[BinaryIO]:
    """Open a user's file; a pipe, device or file of the kernel is refused, not waited for."""
    try:
        _check_regular(path, path.stat())
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        with os.fdopen(os.open(path, flags), "rb") as file:
            _check_regular(path, os.fstat(file.fileno()))  # it may be another by now
            yield file
    except (OSError, ValueError) as error:  # ValueError: a null byte in the name
        raise FileError(path, _read_problem(error)) from error


def _check_regular(path: Path, found: os.stat_result) -> None:
    if stat.S_ISDIR(found.st_mode):  # opening it gives an error of its own
        return
    if not stat.S_ISREG(found.st_mode):
        raise FileError(path, "expected a regular file, but it is a device or pipe; copy it")
    if found.st_dev in _kernel_devices():
        raise FileError(
            path, "expected a file on a disk, but it is one of the kernel, which may block; copy it"
        )


@cache
def _kernel_devices() -> frozenset[int]:
    """Return the numbers of /proc and /sys, whose files look regular but may block or never end."""
    devices = set()
    for folder in ("/proc", "/sys", "/sys/kernel/debug", "/sys/kernel/tracing"):
        with suppress(OSError):
            devices.add(Path(folder).stat().st_dev)
    return frozenset(devices - {Path("/").stat().st_dev})


def digest(*parts: str) -> str:
    """Return a short digest of some texts, to identify what was made from them."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:24]


def file_digest(path: Path) -> str:
    """Return a short digest of a file's content, or "" if it cannot be read."""
    try:
        found = path.stat()
        return _content_digest(path, found.st_mtime_ns, found.st_size)
    except (OSError, FileError):
        return ""


@lru_cache(KEPT_DIGESTS)
def _content_digest(path: Path, _changed: int, _size: int) -> str:
    return hashlib.sha256(read_bytes(path, may_be_empty=True)).hexdigest()[:24]


def write_bytes(path: Path | str, data: bytes, *, fsync: bool = False) -> None:
    """Write a file completely or not at all; missing parent directories are created.

    With `fsync`, that holds after a power failure too.
    """
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        file.write(data)
        if fsync:
            file.flush()
            os.fsync(file.fileno())


def append_bytes(path: Path, data: bytes) -> None:
    """Add to the end of a file, all or nothing, as when the disk is full; create it if need be.

    Raises
    ------
    FileError
        If it cannot be written.
    """
    try:
        with path.open("ab", buffering=0) as file:
            before = file.seek(0, os.SEEK_END)
            try:
                if file.write(data) < len(data):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            except OSError:
                file.truncate(before)
                raise
    except OSError as error:
        raise FileError(path, f"cannot be written ({error.strerror})") from error


@contextmanager
def atomic_path(path: Path | str) -> Iterator[Path]:
    """Yield a temporary path that is renamed to `path` when the block ends without an exception.

    The temporary path has the same suffix, because many writers choose their format by it, and lies
    in the same directory, because only there is the final rename atomic. Missing parent directories
    are created. If the block raises, the temporary file and those directories are removed, and a
    file that existed before keeps its content.

    Raises
    ------
    FileError
        If the file cannot be written, or the block did not create it.
    """
    path = Path(path)
    target = _final_target(path)
    # The block creates the file itself, so that the umask applies; mkstemp would leave every result
    # readable by its owner only.
    hidden = f".{target.stem[:32]}.{uuid.uuid4().hex[:12]}{PARTIAL}"
    temporary = target.with_name(hidden + target.suffix)
    created: list[Path] = []
    try:
        make_directories(target.parent, created)
        yield temporary
        os.replace(temporary, target)  # noqa: PTH105 - the call whose atomicity POSIX promises
    except BaseException as error:
        _remove(temporary, created)
        if isinstance(error, OSError) and _concerns(error, temporary, target):
            raise FileError(path, write_problem(error)) from error
        raise


def _final_target(path: Path) -> Path:
    """Follow symbolic links, and refuse what a rename must not replace."""
    # pathlib's is_dir() and exists() return False for such a name instead of raising.
    if "\0" in str(path):
        raise FileError(path, "cannot be written, because its name has a null byte; rename it")
    try:
        if path.is_dir():
            raise FileError(path, "expected a file to write, but it is a directory; add a name")
        # Renaming onto /dev/null or a pipe would replace the device itself.
        if path.exists() and not path.is_file():
            raise FileError(
                path, "expected a regular file, but it is a device or pipe; name another"
            )
        if not path.name or path.name == "..":
            raise FileError(path, "expected a file to write, but the path has no file name")
        return Path(os.path.realpath(path)) if path.is_symlink() else path
    except OSError as error:
        raise FileError(path, write_problem(error)) from error


def make_directories(directory: Path, created: list[Path]) -> None:
    """Create a directory and its parents, recording in `created` those that did not exist."""
    missing = []
    while not directory.exists():
        missing.append(directory)
        directory = directory.parent
    for new in reversed(missing):
        # Another process may create it first; then it is not ours to remove.
        with suppress(FileExistsError):
            new.mkdir()
            created.append(new)


def _remove(temporary: Path, created: list[Path]) -> None:
    with suppress(OSError):
        temporary.unlink()
    remove_empty(created)


def remove_empty(created: list[Path]) -> None:
    """Remove directories that `make_directories` created, unless they are in use."""
    for directory in reversed(created):
        with suppress(OSError):  # not empty: somebody else is using it
            directory.rmdir()


def _concerns(error: OSError, temporary: Path, target: Path) -> bool:
    """Return whether an error is about this write, not about another file used in the block."""
    if error.filename is None:  # write() on an open file, e.g. no space left, names no file
        return error.errno is not None
    named = Path(os.fsdecode(error.filename))
    return named in (temporary, target) or named in target.parents


def _read_problem(error: OSError | ValueError) -> str:
    if isinstance(error, FileNotFoundError):
        return "expected a file, but nothing is there; check the path"
    if isinstance(error, IsADirectoryError):
        return "expected a file, but it is a directory; name a file in it"
    if isinstance(error, PermissionError):
        return "the file exists, but may not be read; check its permissions"
    return f"the file cannot be read ({_reason(error)}); check the path"


def write_problem(error: OSError) -> str:
    """Return the rest of a sentence about what cannot be written: why, and what to do."""
    if isinstance(error, NotADirectoryError):
        return "cannot be written, because a part of its path is a file; choose another directory"
    if isinstance(error, PermissionError):
        return "cannot be written, because permission is denied; choose another directory"
    return f"cannot be written ({_reason(error)}); free space or choose another directory"


def _reason(error: OSError | ValueError) -> str:
    text = error.strerror if isinstance(error, OSError) else str(error)
    return (text or type(error).__name__).lower()
