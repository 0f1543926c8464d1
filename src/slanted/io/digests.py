"""Short names for texts and for the contents of files."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path


def digest(*parts: str) -> str:
    """Return a short name for texts."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:24]


def file_digest(path: Path) -> str:
    """Return a digest of a file's content; of one that cannot be read, nothing."""
    try:
        found = path.stat()
        return _content_digest(path, found.st_mtime_ns, found.st_size)
    except OSError:
        return ""


@cache
def _content_digest(path: Path, _changed: int, _size: int) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:24]
