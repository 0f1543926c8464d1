"""JSON and TOML files from users: parsed, or refused with an error of one sentence."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from slanted.errors import FileError
from slanted.io.files import read_bytes

LARGEST_TEXT = 2**24
"""Bytes; parsed JSON takes twenty times as much memory."""


def read_toml(path: Path | str, expected: str = "settings in TOML") -> dict[str, Any]:
    """Read a TOML file; `expected` says in messages what it should have been.

    Raises
    ------
    FileError
        If it cannot be read, is larger than `LARGEST_TEXT` or fails to parse.
    """
    content: dict[str, Any] = _parse(path, expected, tomllib.loads)
    return content


def read_json_object(path: Path | str, expected: str = "a JSON file") -> dict[str, Any]:
    """Read a JSON file whose top level is an object; otherwise like `read_toml`."""
    content = _parse(path, expected, json.loads)
    if not isinstance(content, dict):
        raise FileError(
            path, f"expected {expected}, a JSON object, got {type(content).__name__}; correct it"
        )
    return content


def _parse(path: Path | str, expected: str, parse: Callable[[str], Any]) -> Any:
    data = read_bytes(path, LARGEST_TEXT, may_be_empty=True)
    try:
        return parse(data.decode("utf-8"))
    # Both parsers raise ValueError for bad syntax, as does Python for bytes that are not UTF-8 and
    # for numbers of thousands of digits.
    except (ValueError, RecursionError) as error:
        why = "it is nested too deeply" if isinstance(error, RecursionError) else error
        raise FileError(path, f"expected {expected}, but it fails to parse: {why}") from error
