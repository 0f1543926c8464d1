"""JSON and TOML of strangers: whatever a file holds, a tree or a sentence."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from slanted.errors import FileError
from slanted.io.files import read_bytes

LARGEST_TEXT = 2**24
"""Bytes; parsed, JSON takes twenty times as much memory."""


def read_toml(path: Path | str, expected: str = "settings in TOML") -> dict[str, Any]:
    """Read a TOML file.

    Parameters
    ----------
    path
        The file.
    expected
        What it should be, for messages.

    Raises
    ------
    FileError
        If it cannot be read, is larger than `LARGEST_TEXT` or fails to parse.
    """
    content: dict[str, Any] = _parsed(Path(path), expected, tomllib.loads)
    return content


def read_json_object(path: Path | str, expected: str = "a JSON file") -> dict[str, Any]:
    """Read a JSON file whose top level is an object; arguments as for `read_toml`."""
    path = Path(path)
    content = _parsed(path, expected, json.loads)
    if not isinstance(content, dict):
        raise FileError(
            path, f"expected {expected}, a JSON object, got {type(content).__name__}; correct it"
        )
    return content


def _parsed(path: Path, expected: str, parse: Callable[[str], Any]) -> Any:
    data = read_bytes(path, LARGEST_TEXT, may_be_empty=True)
    try:
        return parse(data.decode("utf-8"))
    # ValueError is both parsers' own error, bytes that are no text, and numbers of thousands of
    # digits; brackets may be nested deeper than Python can follow.
    except (ValueError, RecursionError) as error:
        raise FileError(
            path, f"expected {expected}, but it fails to parse: {_why(error)}"
        ) from error


def _why(error: Exception) -> str:
    return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
