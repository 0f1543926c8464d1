"""Whole files as bytes, and writing that either happens completely or not at all."""

from __future__ import annotations

import os
import stat
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from slanted.errors import FileError


def read_bytes(path: Path | str, most: int | None = None, *, may_be_empty: bool = False) -> bytes:
    """Read a file that must exist and must not be empty.

    Parameters
    ----------
    path
        The file; a regular one, because devices and pipes may never end.
    most
        The most bytes that make sense; None for any number.
    may_be_empty
        Whether a file without content has a meaning.

    Returns
    -------
    bytes
        Its content.

    Raises
    ------
    FileError
        If the file is missing, a directory, a device, empty, too large or unreadable.
    """
    path = Path(path)
    try:
        found = path.stat()
        if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
            raise FileError(path, "expected a regular file, but it is a device or pipe; copy it")
        if most is not None and found.st_size > most:
            raise FileError(
                path,
                f"expected a file of at most {most} bytes, but it has {found.st_size}; is it "
                "another file?",
            )
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise FileError(path, "expected a file, but nothing is there; check the path") from error
    except IsADirectoryError as error:
        raise FileError(
            path, "expected a file, but it is a directory; name a file in it"
        ) from error
    except PermissionError as error:
        raise FileError(
            path, "the file exists, but may not be read; check its permissions"
        ) from error
    except (OSError, ValueError) as error:  # ValueError: a null byte in the name
        raise FileError(
            path, f"the file cannot be read ({_reason(error)}); check the path"
        ) from error
    if not data and not may_be_empty:
        raise FileError(path, "the file is empty (0 bytes); fetch or write it again")
    return data


def write_bytes(path: Path | str, data: bytes) -> None:
    """Write a file completely or not at all.

    Parameters
    ----------
    path
        The file; missing parent directories are created.
    data
        Its content.
    """
    with atomic_path(path) as temporary:
        temporary.write_bytes(data)


@contextmanager
def atomic_path(path: Path | str) -> Iterator[Path]:
    """Give a temporary path that becomes `path` when the block ends without an exception.

    The temporary path has the same suffix, because many writers choose their format by it, and lies
    in the same directory, because only there is the final rename atomic. If the block raises, the
    temporary file and the parent directories made for it are removed, and a file that was there
    before stays as it was.

    Parameters
    ----------
    path
        The file to write; missing parent directories are created.

    Yields
    ------
    Path
        Where to write instead. The block must create a file there.

    Raises
    ------
    FileError
        If the file cannot be written.
    """
    path = Path(path)
    target = _final_target(path)
    # A name that nobody else has, instead of a mkstemp file, lets the block's own open() apply the
    # umask; mkstemp would leave every result readable by its owner only.
    temporary = target.with_name(f".{target.stem[:32]}.{uuid.uuid4().hex[:12]}{target.suffix}")
    created: list[Path] = []
    try:
        _make_directories(target.parent, created)
        yield temporary
        os.replace(temporary, target)  # noqa: PTH105 - the call whose atomicity POSIX promises
    except BaseException as error:
        _remove(temporary, created)
        if isinstance(error, OSError) and _concerns(error, temporary, target):
            raise FileError(path, _write_problem(error)) from error
        raise


def _final_target(path: Path) -> Path:
    """Follow symbolic links, and refuse what a rename must not replace."""
    # pathlib answers "no" to every question about such a name instead of raising.
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
        raise FileError(path, _write_problem(error)) from error


def _make_directories(directory: Path, created: list[Path]) -> None:
    """Create a directory and its parents, recording in `created` those that did not exist."""
    missing = []
    while not directory.exists():
        missing.append(directory)
        directory = directory.parent
    for new in reversed(missing):
        # Another process may be quicker; its directory is then not ours to remove.
        with suppress(FileExistsError):
            new.mkdir()
            created.append(new)


def _remove(temporary: Path, created: list[Path]) -> None:
    with suppress(OSError):
        temporary.unlink()
    for directory in reversed(created):
        with suppress(OSError):  # not empty: somebody else uses it by now
            directory.rmdir()


def _concerns(error: OSError, temporary: Path, target: Path) -> bool:
    """Tell an error of this write from one of another file used inside the block."""
    if error.filename is None:  # write() on an open file, e.g. no space left, names no file
        return error.errno is not None
    named = Path(os.fsdecode(error.filename))
    return named in (temporary, target) or named in target.parents


def _write_problem(error: OSError) -> str:
    if isinstance(error, NotADirectoryError):
        return "cannot be written, because a part of its path is a file; choose another directory"
    if isinstance(error, PermissionError):
        return "cannot be written, because permission is denied; choose another directory"
    return f"cannot be written ({_reason(error)}); free space or choose another directory"


def _reason(error: OSError | ValueError) -> str:
    text = error.strerror if isinstance(error, OSError) else str(error)
    return (text or type(error).__name__).lower()
