"""Records of a batch: one beside each result, one for each failure, and the summary of all.

A result and its record appear together: whatever happens, the folder of a pair holds all of one
result, or does not exist.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slanted.errors import FileError
from slanted.io.files import append_bytes, digest, file_digest, write_bytes
from slanted.io.names import PAIR_RECORD, SUMMARY_LINES, SUMMARY_TABLE
from slanted.io.replacement import complete_replacement, own_folder, replaced_files
from slanted.io.texts import read_json_object

if TYPE_CHECKING:
    from slanted.io import Calibration
    from slanted.settings import Settings

FAILURES = "failures"
COLUMNS = (
    *("name", "status", "error", "left", "right", "width", "height", "segments"),
    *("energy", "bound", "gap_percent", "matched_percent", "confidence_median", "noise", "seconds"),
    *("vertical_shift", "vertical_turn", "vertical_rms", "straightened"),
    *("settings", "inputs", "version", "worker", "warnings"),
)
"""Columns of the summary. The vertical ones, over a day of a camera, show how it drifts."""


def settings_digest(settings: Settings) -> str:
    """Return a digest of what results depend on: all settings but the threads, and a network."""
    same, network = replace(settings, threads=None), []
    if settings.matching.method == "network" and settings.matching.network.model is not None:
        from slanted.matching.network.description import SUFFIX

        model = Path(settings.matching.network.model)
        network = [file_digest(model), file_digest(model.with_suffix(SUFFIX))]
    return digest(same.identity(), *network)


def inputs_digest(
    left: Path, right: Path, before: str = "", calibration: Calibration | None = None
) -> str:
    """Return a digest of a pair's files, its calibration and, in a sequence, the previous frame."""
    # Without a calibration it is the same as that of early versions.
    cameras = [] if calibration is None else [repr(calibration)]
    return digest(file_digest(left), file_digest(right), before, *cameras)


def read_record(folder: Path) -> dict[str, Any] | None:
    """Return the record in a pair's folder, or None if it is missing or not a record."""
    try:
        complete_replacement(folder)
        record = read_json_object(folder / PAIR_RECORD)
    except FileError:
        return None
    kinds = {"versions": dict, "seconds": dict, "files": dict, "warnings": list}
    whole = all(isinstance(record.get(name), kind) for name, kind in kinds.items())
    whole = whole and all(isinstance(warning, str) for warning in record["warnings"])
    return record if whole else None


def file_digests(folder: Path) -> dict[str, str]:
    """Return a digest of each file of a result, by name."""
    return {file.name: file_digest(file) for file in sorted(folder.iterdir())}


def is_same(record: dict[str, Any], folder: Path, settings: str, inputs: str) -> bool:
    """Return whether a record belongs to a complete result with these settings and inputs."""
    asked = (record.get("settings"), record.get("inputs")) == (settings, inputs)
    return asked and is_whole(record, folder)


def is_whole(record: dict[str, Any], folder: Path) -> bool:
    """Return whether all files of a result are there, with the content they had when written.

    After a power failure a file may exist without its content. Records of early versions have
    sizes instead of digests, which do not tell; their results count as torn.
    """
    files = record["files"].items()
    return all(known and file_digest(folder / name) == known for name, known in files)


def count_kept(output: Path, names: Sequence[str], settings: Settings) -> int:
    """Return how many results were made with these settings, without reading all of them."""
    asked = settings_digest(settings)
    found = (read_record(output / name) for name in names)
    return sum(record is not None and record.get("settings") == asked for record in found)


@contextmanager
def published(output: Path, folder: Path, *, fsync: bool) -> Iterator[Path]:
    """Yield a folder to write to, whose files are in `folder` when the block ends without an error.

    A result of an earlier batch is replaced; anything else at that path is left alone.
    """
    from slanted.output.folder import stale_files

    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(folder, f"cannot be written ({error.strerror})") from error
    if folder.is_symlink() or (folder.exists() and not (folder / PAIR_RECORD).is_file()):
        raise FileError(
            folder,
            "expected nothing, or a result of an earlier batch, found something else; move it away",
        )
    with ExitStack() as stack:
        if folder.exists():
            stack.enter_context(own_folder(folder))
        stale = [PAIR_RECORD, *stale_files(folder)]
        yield stack.enter_context(replaced_files(folder, stale, inside=output, fsync=fsync))


def write_failure(output: Path, name: str, record: dict[str, Any]) -> None:
    """Record why a pair failed."""
    from slanted.output.result_data import json_text

    write_bytes(failure_file(output, name), json_text(record).encode())


def forget_failure(output: Path, name: str) -> None:
    """Remove the record of a failure, after the pair has succeeded."""
    with suppress(OSError):
        failure_file(output, name).unlink()


def failure_file(output: Path, name: str) -> Path:
    """Return the file that records the failure of a pair."""
    return output / FAILURES / f"{name}.json"


def row_of(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record as a flat row of the summary."""
    row = {column: record.get(column) for column in COLUMNS}
    row["version"] = record.get("versions", {}).get("slanted")
    row["seconds"] = record.get("seconds", {}).get("total")
    row["warnings"] = "; ".join(record.get("warnings", ()))
    return row


def write_summary(output: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Write ``summary.csv`` and ``summary.jsonl``, a line for each pair."""
    for file, data in _summary_of(rows, header=True).items():
        write_bytes(output / file, data)


def append_summary(output: Path, row: dict[str, Any]) -> None:
    """Add a line to both files of a summary, which takes no longer if they are long.

    What a killed process leaves is the summary of all pairs up to then.
    """
    for file, data in _summary_of([row], header=False).items():
        append_bytes(output / file, data)


def _summary_of(rows: Sequence[dict[str, Any]], *, header: bool) -> dict[str, bytes]:
    """Return the lines of rows, by the name of the summary's file."""
    from slanted.output.result_data import json_text

    table = io.StringIO()
    writer = csv.DictWriter(table, COLUMNS, lineterminator="\n")
    if header:
        writer.writeheader()
    writer.writerows(rows)
    lines = [json.dumps(json.loads(json_text(row)), ensure_ascii=False) + "\n" for row in rows]
    texts = {SUMMARY_TABLE: table.getvalue(), SUMMARY_LINES: "".join(lines)}
    # File names may hold bytes that are not valid text.
    return {file: text.encode(errors="backslashreplace") for file, text in texts.items()}
