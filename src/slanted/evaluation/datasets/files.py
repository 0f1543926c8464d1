"""Looking for files, shared by the layouts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

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


def read_json_object(path: Path) -> dict[str, Any]:
    """Read a JSON file whose top level is an object.

    Raises
    ------
    FileError
        If it cannot be read, is not JSON or holds something else.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FileError(
            path, f"expected a JSON file, got an error ({error}); correct the file."
        ) from error
    if not isinstance(content, dict):
        raise FileError(
            path,
            f"expected a JSON object at the top level, got {type(content).__name__}; correct the "
            "file.",
        )
    return content
