"""Looking for files, shared by the layouts."""

from __future__ import annotations

from pathlib import Path

from slanted.errors import FileError


def first_file(folder: Path, stem: str, suffixes: tuple[str, ...]) -> Path | None:
    """Return the first of `stem` + suffix that exists in `folder`, None if none does."""
    candidates = (folder / f"{stem}{suffix}" for suffix in suffixes)
    return next((path for path in candidates if path.is_file()), None)


def require_right_image(right: Path | None, left: Path, expected: Path) -> Path:
    """Return `right`; a scene with ground truth and half a pair is a hole worth naming.

    Raises
    ------
    FileError
        If it is None; the message names `expected`.
    """
    if right is None:
        raise FileError(
            expected,
            f"expected the right image of {left}, found no such file; unpack the archive again.",
        )
    return right
