"""Descriptions of texts and folders that slanted writes: records, summaries, tables, reports."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

from slanted.errors import FileError
from slanted.io.files import read_bytes
from slanted.io.names import BATCH_MARKER, RECORD, SEGMENTS, SUMMARY_TABLE
from slanted.io.replacement import is_being_replaced
from slanted.io.tables import table_rows, text_lines
from slanted.io.texts import load_json

SHOWN = ("width", "height", "segments", "disparity_min", "disparity_max", "matched_percent",
         "confidence_median", "low_confidence_percent", "dropped_percent",
         "doubts", "energy", "gap_percent", "version")  # fmt: skip
"""Fields of a result's record that are shown."""
SUMMARY_MEANING = "summary of a batch, one line for each pair"
STATUSES = ("done", "failed", "waiting")
GENERATOR = b'<meta name="generator" content="slanted'
"""The mark that `slanted.output.html` leaves in its pages."""
PLAIN = {
    ".toml": "settings",
    ".mtl": "material of a mesh, which names the picture of its texture",
    ".svg": "plot or drawing",
    ".md": "text",
}
RECORDS = {
    "stopped_after": "record of a run that stopped after matching",
    "features": "record of a result",
    "status": "record of a pair of a batch",
    "experiment": "outcome of an experiment",
    "mean": "outcome of `slanted evaluate`",
}
"""Meaning of a record by a field that only this kind has."""
STATED = ("status", "error", "experiment")
TABLES: dict[tuple[str, ...], str] = {
    ("left", "right"): "manifest of pairs, for `slanted batch`",
    ("name", "status"): SUMMARY_MEANING,
    ("search", "candidate"): "log of `slanted tune`",
}
"""Meaning of a table by its first two columns."""


def describe_text(path: Path, data: bytes) -> dict[str, object] | None:
    """Describe a text that slanted writes, or return None if it may be something else."""
    suffix = path.suffix.lower()
    format = suffix[1:].upper()
    if path.name == BATCH_MARKER:
        return {"format": "text", "meaning": "mark of a folder that `slanted batch` writes to"}
    if is_page(data):
        return _describe_page(data)
    if suffix in PLAIN:
        return {"format": format, "meaning": PLAIN[suffix]}
    if suffix not in PARSED:
        return None
    try:
        return {"format": format, **PARSED[suffix](data)}
    except (csv.Error, ValueError) as error:
        problem = f"expected {format}, but it fails to parse: {error}"
        return {"format": format, "meaning": f"damaged, or not {format}", "problem": problem}


def is_page(data: bytes) -> bool:
    """Return whether a file starts like HTML."""
    return data[:100].lstrip().lower().startswith((b"<!doctype html", b"<html"))


def describe_folder(path: Path) -> dict[str, object]:
    """Describe the folder of a result, of a batch or of segments."""
    folder: dict[str, object] = {"format": "folder"}
    if is_being_replaced(path):
        return folder | {
            "meaning": "result of slanted that a run is replacing, or was stopped while it did; "
            "the next run or `slanted view` completes it"
        }
    if (path / RECORD).is_file():
        folder["meaning"] = "result of slanted; `slanted view` shows it"
        return folder | _numbers(_record(path / RECORD))
    if (path / BATCH_MARKER).is_file():
        summary = path / SUMMARY_TABLE
        counts = describe_text(summary, read_bytes(summary)) if summary.is_file() else None
        folder["meaning"] = (
            "results of `slanted batch`, a folder for each pair; `slanted report` shows them"
        )
        return (counts or {}) | folder
    if (path / SEGMENTS).is_file():
        return folder | {"meaning": "segments, of `slanted segment`"}
    raise FileError(
        path,
        f"expected a file, or the folder of a result with {RECORD} in it, got another folder; "
        "`slanted batch` finds pairs in folders",
    )


def _record(path: Path) -> dict[str, Any]:
    try:
        return _object(read_bytes(path))
    except ValueError as error:
        raise FileError(path, f"expected JSON, but it fails to parse: {error}") from error


def _object(data: bytes) -> dict[str, Any]:
    content = load_json(data)
    return content if isinstance(content, dict) else {}


def _numbers(record: dict[str, Any]) -> dict[str, object]:
    doubts = record.get("doubts")
    if isinstance(doubts, list) and doubts:
        record = {**record, "doubts": "; ".join(map(str, doubts))}
    return {name: record[name] for name in SHOWN if isinstance(record.get(name), int | float | str)}


def _describe_record(data: bytes) -> dict[str, object]:
    record = _object(data)
    meaning = next((RECORDS[field] for field in RECORDS if field in record), None)
    if meaning is None:
        return {"meaning": "record of a run or a dataset"}
    stated: dict[str, object] = {name: str(record[name]) for name in STATED if name in record}
    return {"meaning": meaning, **stated, **_numbers(record)}


def _describe_lines(data: bytes) -> dict[str, object]:
    counts: Counter[str] = Counter()
    are_pairs = True
    for line in text_lines(data):
        if not line.isspace():
            row = load_json(line)
            is_pair = isinstance(row, dict) and {"name", "status"} <= set(row)
            are_pairs = are_pairs and is_pair
            counts[str(row["status"]) if is_pair else ""] += 1
    if counts and are_pairs:
        return {"meaning": SUMMARY_MEANING, **_pairs(counts)}
    return {"meaning": "records, one per line", "rows": counts.total()}


def _describe_table(data: bytes) -> dict[str, object]:
    rows = table_rows(data, "replace", skipinitialspace=True)
    columns = [column.strip() for column in next(rows, [])]
    meaning = TABLES.get(tuple(columns[:2]), "table")
    if meaning == SUMMARY_MEANING:
        counts = Counter(row[1] if len(row) > 1 else "" for row in rows if row)
        return {"meaning": meaning, **_pairs(counts)}
    return {"meaning": meaning, "rows": sum(1 for row in rows if row), "columns": len(columns)}


def _pairs(counts: Counter[str]) -> dict[str, object]:
    """Return the number of all pairs, and of those of each status that a batch knows."""
    known = {status: counts[status] for status in STATUSES if counts[status]}
    return {"pairs": counts.total(), **known}


def _describe_page(data: bytes) -> dict[str, object]:
    head = data[:4096]
    title = re.search(rb"<title>(.*?)</title>", head, re.DOTALL | re.IGNORECASE)
    ours = GENERATOR in head
    found: dict[str, object] = {"format": "HTML"}
    found["meaning"] = "report of slanted; open it in a browser" if ours else "web page"
    if title is not None:
        found["title"] = unescape(title.group(1).decode("utf-8", "replace")).strip()
    return found


PARSED: dict[str, Callable[[bytes], dict[str, object]]] = {
    ".json": _describe_record,
    ".jsonl": _describe_lines,
    ".csv": _describe_table,
}
