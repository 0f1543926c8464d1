"""The results of a stream, kept in a folder that is that of a batch."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slanted.batch import records
from slanted.batch.pairs import output_folder
from slanted.batch.run import locked_folder
from slanted.batch.work import numbers_of
from slanted.errors import SlantedError
from slanted.io.names import PAIR_RECORD
from slanted.runtime.versions import versions

if TYPE_CHECKING:
    from slanted.result import Result
    from slanted.settings import Settings


class LiveResults:
    """Keeps results under `output`, as ``slanted batch`` does.

    Nothing of them stays in memory, since a recording may last for hours.
    """

    def __init__(self, output: Path, settings: Settings) -> None:
        self.output = output
        self._settings = settings
        self._has_summary = False
        self._same: dict[str, Any] = {"versions": versions()}
        self._same["settings"] = records.settings_digest(settings)

    def keep(
        self,
        name: str,
        result: Result,
        sources: tuple[str, str],
        seconds: float,
        warnings: Sequence[str] = (),
    ) -> None:
        """Write a result of a pair, whole or not at all.

        Parameters
        ----------
        name
            The name of the pair.
        result
            Its result, with the images.
        sources
            Where the two images came from.
        seconds
            Wall time that it took.
        warnings
            What was said about it.
        """
        from slanted.output.folder import write_result
        from slanted.output.result_data import json_text

        record = self._begin(name, sources) | numbers_of(result)
        record |= {"status": "done", "seconds": {**result.seconds, "total": seconds}}
        record |= {"inputs": _pixels_digest(result), "warnings": list(warnings)}
        folder = output_folder(self.output, name)
        # The threads and times of a run are in the record alone, as in a batch.
        kept = replace(result, seconds={}, settings=self._settings)
        with records.published(self.output, folder, fsync=self._settings.fsync) as staging:
            write_result(staging, kept, inputs=dict(zip(("left", "right"), sources, strict=True)))
            record["files"] = records.file_digests(staging)
            (staging / PAIR_RECORD).write_text(json_text(record) + "\n", "utf-8")
        self._add(records.row_of(record))

    def fail(self, name: str, sources: tuple[str, str], error: SlantedError) -> None:
        """Record why a pair has no result."""
        record = self._begin(name, sources) | {"status": "failed", "error": str(error)}
        records.write_failure(self.output, name, record)
        self._add(records.row_of(record))

    def _begin(self, name: str, sources: tuple[str, str]) -> dict[str, Any]:
        pair = {"name": name, "left": sources[0], "right": sources[1]}
        return {**pair, **self._same, "recorded_at": time.time()}

    def _add(self, row: dict[str, Any]) -> None:
        if self._has_summary:
            records.append_summary(self.output, row)
        else:  # in place of what the folder may hold
            records.write_summary(self.output, [row])
            self._has_summary = True


@contextmanager
def live_results(
    output: Path, settings: Settings, option: str = "--record"
) -> Iterator[LiveResults]:
    """Keep results in a new folder, with a summary that grows with them.

    Raises
    ------
    InputError
        If the folder holds a batch; the message names the `option`.
    FileError
        If it cannot be written to.

    Examples
    --------
    >>> from pathlib import Path
    >>> import slanted
    >>> from slanted.synthetic import make_video
    >>> stream = slanted.Stream(preset="fast", max_disparity=64)
    >>> with live_results(Path("out"), stream.settings) as kept:
    ...     for number, frame in enumerate(make_video(96, 64, frames=2, seed=1)):
    ...         result = stream(frame.left, frame.right)
    ...         kept.keep(f"{number:06}", result, ("left", "right"), stream.state.seconds)
    >>> slanted.Result.load("out/000001").disparity.shape
    (64, 96)
    """
    with locked_folder(output, "name another folder", option):
        yield LiveResults(output, settings)


def _pixels_digest(result: Result) -> str:
    """Return a digest of the pair, whose pixels came from no file."""
    made = hashlib.sha256()
    for image in (result.left, result.right):
        if image is not None:
            made.update(image.tobytes())
    return made.hexdigest()[:24]
