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
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from slanted.errors import FileError
from slanted.io.files import PARTIAL, make_directories, remove_empty
from slanted.io.locks import locked_folder
from slanted.io.names import PAIR_RECORD, RECORD
from slanted.io.texts import read_json_object

REPLACING = ".replacing"
STALE = "stale.json"
"""Beside the new files: the names of the old ones to remove."""
WAIT_SECONDS = 10
"""Longest wait for another process that is moving files, which takes it milliseconds."""
_HIDDEN = re.compile(r"\.[0-9a-f]{12}\.(partial|replacing)")
_HIDDEN_FILE = re.compile(r"\..*\.[0-9a-f]{12}\.partial(\.[^.]*)?")
_LAST = (RECORD, PAIR_RECORD)
"""Moved last, and removed first: a folder that holds them is complete."""


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
    try:
        make_directories(folder, created)
        with locked_folder(folder) as is_mine:
            if not is_mine:
                raise FileError(
                    folder, "another run is writing to this folder; wait for it, or name another"
                )
            try:
                _complete_all(folder)
                remove_partial(folder)
                yield
            finally:
                remove_empty(created)
    except OSError as error:
        raise FileError(folder, f"cannot be written to ({error.strerror})") from error


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
        staging.mkdir()
        yield staging
        _publish(staging, folder, set(stale), fsync)
    except OSError as error:
        raise FileError(folder, f"cannot be written to ({error.strerror})") from error
    except FileError as error:
        if not error.path.is_relative_to(staging):
            raise
        raise FileError(folder / error.path.name, error.problem) from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def complete_replacement(folder: Path) -> None:
    """Move the files that a killed process could no longer move.

    Raises
    ------
    FileError
        If that is not possible, as in a folder that cannot be written to.
    """
    if not _hidden(folder, REPLACING):
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


def remove_partial(folder: Path) -> None:
    """Remove what killed processes left half-written; only for the owner of the folder."""
    for left in _hidden(folder, PARTIAL):
        shutil.rmtree(left, ignore_errors=True)
    with suppress(OSError):
        for file in folder.iterdir():
            if _HIDDEN_FILE.fullmatch(file.name) and file.is_file():
                file.unlink()


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
    new = sorted(file.name for file in decided.iterdir() if file.name != STALE)
    stale = _stale_names(decided) if (decided / STALE).exists() else []
    for name in (*(name for name in _LAST if name in new), *stale):
        (folder / name).unlink(missing_ok=True)
    for name in sorted(new, key=lambda name: name in _LAST):
        (decided / name).replace(folder / name)
    (decided / STALE).unlink(missing_ok=True)
    decided.rmdir()


def _stale_names(decided: Path) -> list[str]:
    """Return the names of the old files to remove, which are never paths to somewhere else."""
    names = read_json_object(decided / STALE).get("stale")
    plain = (name for name in names or () if isinstance(name, str) and Path(name).name == name)
    return [name for name in plain if name not in ("", "..") and "\0" not in name]


def _fsync(path: Path) -> None:
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
