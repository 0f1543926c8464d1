"""JSON and TOML files from users: parsed within limits, or refused with an error of one sentence.

Parsers take far more memory and time than a text has bytes: a JSON object of ten bytes becomes one
of 232, and ``tomllib`` takes gigabytes for a key of 40,000 parts. So each text is scanned first.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

from slanted.errors import FileError
from slanted.io.files import read_bytes

LARGEST_TEXT = 2**24
"""Bytes of a JSON file."""
LARGEST_TOML = 2**19
"""Bytes; ``tomllib`` reads about a megabyte per second."""
MOST_VALUES = 2**19
"""Values of a JSON file; each takes up to 300 bytes once it is parsed."""
DEEPEST = 64
"""Nested brackets; no file of slanted has ten."""
MOST_PARTS = 16
"""Parts of a TOML key, such as ``model.weights.seg``; no setting has more than three."""

MOST_DOTS = 1000
"""Dots in a line of TOML, lest quotation marks of several lines hide a key from the scan."""

# Quantifiers are possessive (++), so that no text makes the search go back.
_JSON_MARKS = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}]', re.DOTALL)
_KEY_PART = r"""(?:[\w-]++|"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"|'[^'\n]*+')"""
_TOML_KEYS = re.compile(rf"\#[^\n]*+|{_KEY_PART}(?:[ \t]*+\.[ \t]*+{_KEY_PART})*+")


def read_toml(path: Path | str, expected: str = "settings in TOML") -> dict[str, Any]:
    """Read a TOML file; `expected` says in messages what it should have been.

    Raises
    ------
    FileError
        If it cannot be read, is larger than `LARGEST_TOML`, too complex, or fails to parse.
    """
    content: dict[str, Any] = _parse(path, expected, _load_toml, LARGEST_TOML)
    return content


def read_json_object(path: Path | str, expected: str = "a JSON file") -> dict[str, Any]:
    """Read a JSON file whose top level is an object; otherwise like `read_toml`."""
    content = _parse(path, expected, load_json, LARGEST_TEXT)
    if not isinstance(content, dict):
        raise FileError(
            path, f"expected {expected}, a JSON object, got {type(content).__name__}; correct it"
        )
    return content


def load_json(text: str | bytes) -> Any:
    """Parse JSON from a stranger.

    Raises
    ------
    ValueError
        If it fails to parse, has more than `MOST_VALUES` values or is nested deeper than `DEEPEST`.
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8-sig")
    if len(text) > LARGEST_TEXT:
        raise ValueError(f"expected at most {LARGEST_TEXT} characters, got {len(text)}")
    depth = 0
    # A value has at most a key, itself and two brackets.
    for found in islice(_JSON_MARKS.finditer(text), 4 * MOST_VALUES):
        mark = found[0]
        depth += (mark in "[{") - (mark in "]}")
        if depth > DEEPEST:
            raise ValueError("it is nested too deeply")
    # Marks within strings count too, which is no harm.
    values = sum(text.count(mark) for mark in ",[{")
    if values > MOST_VALUES:
        raise ValueError(f"expected at most {MOST_VALUES} values, got {values}")
    try:
        return json.loads(text)
    except RecursionError:  # a recursion limit below the default
        raise ValueError("it is nested too deeply") from None


def _load_toml(text: str) -> Any:
    if any(line.count(".") > MOST_DOTS for line in text.splitlines()):
        raise ValueError(f"a line has more than {MOST_DOTS} dots")
    for found in _TOML_KEYS.finditer(text):
        is_comment = found[0].startswith("#")
        if found[0].count(".") >= MOST_PARTS and not is_comment and _parts(found[0]) > MOST_PARTS:
            raise ValueError(f"a key has more than {MOST_PARTS} parts")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _parts(key: str) -> int:
    return len(re.findall(_KEY_PART, key))


def _parse(path: Path | str, expected: str, parse: Callable[[str], Any], most: int) -> Any:
    data = read_bytes(path, most, may_be_empty=True)
    try:
        return parse(data.decode("utf-8"))
    # Both parsers raise ValueError for bad syntax, as does Python for bytes that are not UTF-8 and
    # for numbers of thousands of digits.
    except ValueError as error:
        raise FileError(path, f"expected {expected}, but it fails to parse: {error}") from error
