"""The log of a search: a CSV table with a row for each candidate and pair.

A row does not depend on metric, weights, rungs or split, so a search may continue from the log of
an earlier one that differs in these. What a row does depend on (the settings that do not vary, the
search space and the seed) is in the column ``search``.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from slanted import __version__
from slanted.errors import FileError
from slanted.evaluation.metrics import METRIC_NAMES
from slanted.io.files import read_bytes, write_bytes
from slanted.research.tuning.measure import Measurement
from slanted.research.tuning.search_space import WITHOUT_EFFECT
from slanted.settings import Settings, leaves
from slanted.settings.fields import toml_value
from slanted.settings.renames import FORMER, current_names

if TYPE_CHECKING:
    from slanted.research.tuning.candidates import Candidate
    from slanted.research.tuning.search_space import Dimension

Key = tuple[int, str]
"""A candidate's number and a pair's name."""


def search_name(start: Settings, space: Sequence[Dimension], change: int | None) -> str:
    """Return a short digest of what determines the candidate of each number."""
    fixed = [
        (FORMER.get(leaf.path, leaf.path), leaf.value)
        for leaf in leaves(start)
        if not leaf.path.startswith(WITHOUT_EFFECT)
    ]
    varied = [repr(replace(d, path=FORMER.get(d.path, d.path))) for d in space]
    parts = [__version__, fixed, varied, change]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]


class TuningLog:
    """A log on disk, and the measurements in it.

    The file is created if missing, and continued if it belongs to this `search`, a name from
    `search_name`. A FileError says that it cannot be used, or belongs to another search.
    """

    def __init__(
        self, path: Path, search: str, space: Sequence[Dimension], candidates: Sequence[Candidate]
    ) -> None:
        self.path, self.search = path, search
        settings = (dimension.path for dimension in space)
        ends = ("seconds", "problem")
        self.columns = ("search", "candidate", *settings, "pair", *METRIC_NAMES, *ends)
        self._values = {str(c.number): _texts(c) for c in candidates}
        self.found: dict[Key, Measurement] = self._read() if path.exists() else {}
        if not path.exists():
            self._write([])

    def append(self, candidate: Candidate, pair: str, measurement: Measurement) -> None:
        """Add a row in a single write, which a kill can truncate but not mix with another."""
        scores = {name: repr(value) for name, value in measurement.scores.items()}
        row = [
            self.search,
            str(candidate.number),
            *_texts(candidate),
            pair,
            *(scores.get(name, "") for name in METRIC_NAMES),
            f"{measurement.seconds:.3f}",
            measurement.problem,
        ]
        try:
            with self.path.open("ab", buffering=0) as file:
                file.write(_line(row))
        except OSError as error:
            raise FileError(self.path, f"cannot be written ({error.strerror}); free it") from error
        self.found[candidate.number, pair] = measurement

    def _read(self) -> dict[Key, Measurement]:
        data = read_bytes(self.path)
        whole = data[: data.rfind(b"\n") + 1]
        try:
            rows = list(csv.reader(io.StringIO(whole.decode("utf-8"), newline=""), strict=True))
        except (UnicodeDecodeError, csv.Error) as error:
            raise self._unlike(f"it cannot be read as CSV ({error})") from error
        names = current_names(dict.fromkeys(rows[0] if rows else ()), str(self.path))
        if tuple(names) != self.columns:
            raise self._unlike("its columns are others")
        found: dict[Key, Measurement] = {}
        for number, row in enumerate(rows[1:], 2):
            if len(row) != len(self.columns):
                raise self._unlike(f"line {number} has {len(row)} columns")
            cells = dict(zip(self.columns, row, strict=True))
            found |= self._entry(cells, number)
        if whole != data:  # a kill truncated the last row
            self._write(rows[1:])
        return found

    def _entry(self, cells: Mapping[str, str], number: int) -> dict[Key, Measurement]:
        if cells["search"] != self.search:
            raise self._unlike("other settings, ranges or seed")
        known = self._values.get(cells["candidate"])
        if known is None:  # the earlier search drew more
            return {}
        if [cells[path] for path in self.columns[2 : 2 + len(known)]] != known:
            raise self._unlike(f"line {number} has other values for its candidate")
        try:
            scores = {name: float(cells[name]) for name in METRIC_NAMES if cells[name]}
            measured = Measurement(scores, float(cells["seconds"]), cells["problem"])
        except ValueError as error:
            raise self._unlike(f"line {number}: {error}") from error
        return {(int(cells["candidate"]), cells["pair"]): measured}

    def _write(self, rows: Sequence[Sequence[str]]) -> None:
        write_bytes(self.path, b"".join(map(_line, [self.columns, *rows])))

    def _unlike(self, how: str) -> FileError:
        return FileError(
            self.path,
            f"expected the log of this search, found another file or search ({how}); name another "
            "with --log, or move this one away to start anew",
        )


def _texts(candidate: Candidate) -> list[str]:
    return [toml_value(value).strip('"') for value in candidate.values]


def _line(row: Sequence[str]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(row)
    return text.getvalue().encode()
