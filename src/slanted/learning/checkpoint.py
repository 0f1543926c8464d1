"""A run on disk: all evaluations so far, and the messages after the last one.

Optimisers are deterministic functions of the values they are given. So a run is resumed by giving
them the recorded values again and, when these are used up, restoring the messages: the rest of the
run is the same to the last bit. Nothing is pickled. ``steps.json`` is replaced last, so a run that
is killed at any moment leaves a complete checkpoint.
"""

from __future__ import annotations

import io
import json
import re
import shutil
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from slanted.errors import FileError, InputError
from slanted.io.arrays import StoredArrays
from slanted.io.files import write_bytes
from slanted.io.image_header import MAX_PIXELS
from slanted.io.texts import read_json_object
from slanted.learning.owner import Arrays

STEPS, RUN = "steps.json", "run.json"
_NAME = re.compile(r"messages-[0-9]{6,}\.npz")


@dataclass(frozen=True)
class Evaluation:
    """One evaluation of the objective."""

    weights: tuple[float, ...]
    """Scaled weights, as the optimiser and the regulariser see them."""
    epsilon: float
    max_sweeps: int
    """ε, and the largest number of sweeps."""
    value: float
    gradient: tuple[float, ...]
    """The whole objective and its gradient."""
    sweeps: int
    seconds: float
    """Sweeps over all images, and their wall time."""


class Checkpoint:
    """A folder with the state of a run.

    Parameters
    ----------
    folder, identity
        The folder, created by the first `save`, and what the run depends on: a checkpoint with
        another identity is refused.
    """

    def __init__(self, folder: Path, identity: dict[str, Any]) -> None:
        self.folder = folder
        self._identity = identity

    def load(self) -> list[Evaluation]:
        """Return the evaluations so far, none if there is no checkpoint.

        Raises
        ------
        InputError
            If the checkpoint is of another run.
        FileError
            If it cannot be read.
        """
        if not (self.folder / STEPS).exists():
            return []
        there = self._read(RUN)
        names = dict.fromkeys([*self._identity, *there])
        other = [name for name in names if there.get(name) != self._identity.get(name)]
        if other:
            raise InputError(
                f"{self.folder}: expected the checkpoint of this run, got one of other "
                f"{', '.join(other)}; repeat its command, name another output, or start anew with "
                "--restart"
            )
        rows = self._read(STEPS).get("evaluations")
        try:
            return [Evaluation(**{**row, **_tuples(row)}) for row in rows or []]
        except (TypeError, KeyError, AttributeError) as error:
            raise self._broken(STEPS, error) from error

    def save(self, evaluations: list[Evaluation], messages: list[Arrays]) -> None:
        """Write evaluations and the messages after the last of them."""
        if len(evaluations) == 1:
            write_bytes(
                self.folder / RUN, json.dumps(self._identity, indent=1).encode(), fsync=True
            )
        name = f"messages-{len(evaluations):06d}.npz"
        stream = io.BytesIO()
        arrays = {
            f"{k}/{field}": a for k, image in enumerate(messages) for field, a in image.items()
        }
        np.savez(stream, **arrays)  # type: ignore[arg-type]
        write_bytes(self.folder / name, stream.getvalue(), fsync=True)
        content = {"messages": name, "evaluations": [asdict(row) for row in evaluations]}
        write_bytes(self.folder / STEPS, json.dumps(content, indent=1).encode(), fsync=True)
        for old in self.folder.glob("messages-*.npz"):
            if old.name != name:
                with suppress(OSError):  # it only takes up space
                    old.unlink()

    def load_messages(self, images: int) -> list[Arrays]:
        """Return the messages after the last evaluation, image by image."""
        name = str(self._read(STEPS).get("messages"))
        if not _NAME.fullmatch(name):  # never a path to somewhere else
            raise self._broken(STEPS, "it names no file of messages")
        found: list[Arrays] = [{} for _ in range(images)]
        try:
            with StoredArrays(self.folder / name, "messages") as file:
                for key in file.names():
                    image, _, field = key.partition("/")
                    found[int(image)][field] = file.read(key, "f", None, MAX_PIXELS)
        except (ValueError, IndexError) as error:
            raise self._broken(name, error) from error
        except FileError as error:
            raise self._broken(name, error.problem) from error
        return found

    def remove(self) -> None:
        """Delete the folder."""
        with suppress(FileNotFoundError):
            shutil.rmtree(self.folder)

    def _read(self, name: str) -> dict[str, Any]:
        try:
            return read_json_object(self.folder / name, "a checkpoint")
        except FileError as error:
            raise self._broken(name, error.problem) from error

    def _broken(self, name: str, why: object) -> FileError:
        return FileError(
            self.folder / name, f"the checkpoint cannot be read ({why}); start anew with --restart"
        )


def _tuples(row: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(row[name]) for name in ("weights", "gradient")}
