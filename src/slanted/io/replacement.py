"""Several files of a folder, replaced together.

New files are written to a hidden folder, ``.<random>.partial``. Renaming it to
``.<random>.replacing`` inside the folder decides: before that the old files count, after it the new
ones. Then they are moved one by one. If the process is killed in between, `complete_replacement`
moves the rest; whoever opens the folder next calls it. So a kill at any moment leaves the old files
or the new ones, never some of each.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from slanted.errors import FileError
from slanted.io.files import PARTIAL, make_directories, remove_empty
from slanted.io.locks import locked_folder
from slanted.io.names import FOLDER_FILES, PAIR_RECORD, RECORD
from slanted.io.texts import read_json_object

REPLACING = ".replacing"
STALE = "stale.json"
"""Beside the new files: the names of the old ones to remove."""
WAIT_SECONDS = 10
"""Longest wait for another process that is moving files, which takes it milliseconds."""
MOST_READS = 5
_HIDDEN = re.compile(r"\.[0-9a-f]{12}\.(partial|replacing)")
_HIDDEN_FILE = re.compile(r"\..*\.[0-9a-f]{12}\.partial(\.[^.]*)?")
_LAST = (RECORD, PAIR_RECORD)
"""Moved last, and removed first: a folder that holds them is complete."""
_Read = TypeVar("_Read")


@contextmanager
def own_folder(folder: Path) -> Iterator[None]:
    """Make a folder this process's own: create it, lock it, and tidy up after a killed process.

    A folder that is new and still empty at the end is removed again.

    Raises
    ------
    FileError
        If the folder cannot be created, or another process is writing to it.
    """
    created: list[Path] = []
    with _file_errors(folder):
        make_directories(folder, created)
    with locked_folder(folder) as is_mine:
        if not is_mine:
            raise FileError(
                folder, "another run is writing to this folder; wait for it, or name another"
            )
        try:
            with _file_errors(folder):
                _complete_all(folder)
                remove_partial(folder)
            yield
        finally:
            remove_empty(created)


@contextmanager
def replaced_files(
    folder: Path, stale: Iterable[str], *, inside: Path | None = None, fsync: bool = True
) -> Iterator[Path]:
    """Yield a hidden folder; its files move to `folder` when the block ends without an error.

    Parameters
    ----------
    folder
        The folder; if it is missing, it appears in one step with all files.
    stale
        Names of files in `folder` that are removed unless the block writes them.
    inside
        Where to put the hidden folder, on the same file system; by default in `folder`.
    fsync
        Whether to wait until all files are on the disk, so that a power failure cannot tear them.
    """
    staging = (inside or folder) / f".{uuid.uuid4().hex[:12]}{PARTIAL}"
    try:
        with _file_errors(folder):
            staging.mkdir()
        yield staging
        with _file_errors(folder):
            _publish(staging, folder, set(stale), fsync)
    except FileError as error:
        if not error.path.is_relative_to(staging):
            raise
        raise FileError(folder / error.path.name, error.problem) from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def is_being_replaced(folder: Path) -> bool:
    """Return whether a process is replacing files of a folder, or was killed while it did."""
    return bool(_hidden(folder, REPLACING))


def complete_replacement(folder: Path) -> None:
    """Move the files that a killed process could no longer move.

    Raises
    ------
    FileError
        If that is not possible, as in a folder that cannot be written to.
    """
    if not is_being_replaced(folder):
        return
    try:
        with locked_folder(folder, WAIT_SECONDS) as is_mine:
            if is_mine:
                _complete_all(folder)
                return
        why = "another run is still writing to it"
    except OSError as error:
        why = error.strerror or type(error).__name__
    raise FileError(
        folder,
        f"a run was stopped while it replaced this result, which cannot be completed ({why}); "
        "repeat the command when the folder can be written to",
    )


def read_settled(folder: Path, read: Callable[[], _Read]) -> _Read:
    """Return what `read` returns of a result, all of which was there at one time.

    Another process may replace the result meanwhile; then it is read again.
    """
    for _ in range(MOST_READS):
        complete_replacement(folder)
        before = _identity(folder)
        try:
            found = read()
        except FileError:
            if before == _identity(folder) and not is_being_replaced(folder):
                raise
        else:
            if before == _identity(folder):
                return found
    raise FileError(folder, "is replaced again and again; wait for the runs that write to it")


def remove_partial(folder: Path) -> None:
    """Remove what killed processes left half-written; only for the owner of the folder."""
    for left in _hidden(folder, PARTIAL):
        shutil.rmtree(left, ignore_errors=True)
    with suppress(OSError):
        for file in folder.iterdir():
            if _HIDDEN_FILE.fullmatch(file.name) and file.is_file():
                file.unlink()


@contextmanager
def _file_errors(folder: Path) -> Iterator[None]:
    """Turn the operating system's errors into one of the user's folder."""
    try:
        yield
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise FileError(folder, f"cannot be written to ({why})") from error


def _identity(folder: Path) -> tuple[int, int] | None:
    """Return what changes when a result is replaced."""
    try:
        found = (folder / RECORD).stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


def _hidden(folder: Path, suffix: str) -> list[Path]:
    """Return our hidden folders; a link, which may lead anywhere, is none of ours."""
    with suppress(OSError), os.scandir(folder) as entries:
        return [
            Path(entry.path)
            for entry in entries
            if entry.name.endswith(suffix)
            and _HIDDEN.fullmatch(entry.name)
            and entry.is_dir(follow_symlinks=False)
        ]
    return []


def _publish(staging: Path, folder: Path, stale: set[str], fsync: bool) -> None:
    names = {file.name for file in staging.iterdir()}
    for name in names | stale:
        if (folder / name).is_dir():
            raise FileError(folder / name, "expected a file to replace, but it is a folder")
    is_new = not folder.exists()
    if not is_new:
        (staging / STALE).write_text(json.dumps({"stale": sorted(stale - names)}), "utf-8")
    if fsync:
        for path in (*staging.iterdir(), staging):
            _fsync(path)
    if is_new:
        staging.rename(folder)
    else:
        decided = folder / staging.with_suffix(REPLACING).name
        try:
            staging.rename(decided)
            if fsync:
                _fsync(folder)
            _complete(folder, decided)
        except BaseException:  # an interrupt comes too late to keep the old files
            if decided.is_dir():
                _complete(folder, decided)
            raise
    if fsync:
        _fsync(folder.parent if is_new else folder)


def _complete_all(folder: Path) -> None:
    for decided in _hidden(folder, REPLACING):
        _complete(folder, decided)


def _complete(folder: Path, decided: Path) -> None:
    """Remove stale files and move the new ones; may have been begun by another process."""
    new = {file.name for file in decided.iterdir()} - {STALE}
    if not new <= FOLDER_FILES:  # a stranger's, who would have us replace the user's files
        return
    for name in (*(name for name in _LAST if name in new), *_stale_names(decided)):
        if not (folder / name).is_dir():
            (folder / name).unlink(missing_ok=True)
    for name in sorted(new, key=lambda name: (name in _LAST, name)):
        (decided / name).replace(folder / name)
    (decided / STALE).unlink(missing_ok=True)
    decided.rmdir()


def _stale_names(decided: Path) -> list[str]:
    """Return the names of the old files to remove, none of which is the user's."""
    try:
        names = read_json_object(decided / STALE).get("stale")
    except FileError:  # missing, or torn by a power failure
        return []
    return [name for name in names if name in FOLDER_FILES] if isinstance(names, list) else []


def _fsync(path: Path) -> None:
    if os.name == "nt" and path.is_dir():  # Windows cannot open a folder
        return
    file = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
