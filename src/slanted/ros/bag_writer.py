"""Writing a recording of ROS 2, which others read: complete, or with what there was to write."""

from __future__ import annotations

import shutil
import sqlite3
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from slanted.errors import FileError, plural
from slanted.io.files import PARTIAL, write_problem
from slanted.ros.bags import message_types, rosbag2_module
from slanted.ros.messages import Message
from slanted.runtime.interrupts import uninterrupted

VERSION = 8
"""Of rosbag2's format: the last one that Humble, Iron and Jazzy all read."""
UNENDED = {
    "mcap": "without an index; `mcap recover FILE` makes one",
    "sqlite3": "without metadata.yaml; `ros2 bag reindex FOLDER` makes one",
}
"""What a recording lacks that could not be ended, by its storage, and how it is made."""


class BagWriter:
    """A recording that is being written; made by `new_bag`."""

    def __init__(self, folder: Path, writer: Any, types: Any) -> None:
        self._folder, self._writer, self._types = folder, writer, types
        self._connections: dict[str, Any] = {}
        self.frames = 0
        """Frames that were written."""

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics that were written to."""
        return tuple(self._connections)

    def write(self, messages: Mapping[str, Message], logged: int) -> None:
        """Write the messages of a frame, by topic, as recorded at a time in nanoseconds."""
        # All are made before any is written, and Ctrl-C waits, so that a frame is complete or
        # missing. Only a full disk can leave a part of one, the last one of an MCAP file.
        made = {
            topic: self._types.serialize_cdr(message.made(self._make), message.type)
            for topic, message in messages.items()
        }
        with uninterrupted():
            with _write_errors(self._folder), self._transaction():
                for topic, raw in made.items():
                    self._writer.write(self._connection(topic, messages[topic].type), logged, raw)
            self.frames += 1

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Let SQLite keep what a block writes, or nothing of it if it fails.

        rosbags would keep all or nothing of the whole recording.
        """
        database = getattr(self._writer.storage, "conn", None)
        if database is None:  # MCAP
            yield
            return
        counts = dict(self._writer.counts)
        try:
            yield
            database.commit()
        except BaseException:
            database.rollback()
            self._writer.counts.update(counts)
            raise

    def _connection(self, topic: str, kind: str) -> Any:
        if topic not in self._connections:
            self._connections[topic] = self._writer.add_connection(
                topic, kind, typestore=self._types
            )
        return self._connections[topic]

    def _make(self, kind: str, fields: dict[str, Any]) -> Any:
        return self._types.types[kind](**fields)


@contextmanager
def new_bag(folder: Path, storage: str) -> Iterator[BagWriter]:
    """Yield a writer of a recording that appears as `folder` when the block ends.

    It appears even if the block raises, with the frames that were written until then; without any,
    nothing is left. If the disk has no place for its end, it appears without: other programs can
    make it.

    Parameters
    ----------
    folder
        The folder of the recording, which must not exist; its parent must.
    storage
        ``mcap`` or ``sqlite3``.

    Raises
    ------
    FileError
        If the folder is there already, or cannot be written to.
    """
    rosbag2 = rosbag2_module()
    if folder.exists():
        raise FileError(folder, "is there already; name another --output, or remove it")
    # The files of a recording have the name of its folder, so that only the folder above is hidden.
    hidden = folder.parent / f".{uuid.uuid4().hex[:12]}{PARTIAL}"
    plugin = rosbag2.StoragePlugin[storage.upper()]
    writer = rosbag2.Writer(hidden / folder.name, version=VERSION, storage_plugin=plugin)
    try:
        with _write_errors(folder):
            writer.open()
        bag = BagWriter(folder, writer, message_types())
        try:
            yield bag
        finally:
            with uninterrupted():
                _end(bag, writer, hidden / folder.name, folder)
    finally:
        shutil.rmtree(hidden, ignore_errors=True)


def _end(bag: BagWriter, writer: Any, hidden: Path, folder: Path) -> None:
    """Close a recording and give it its name; without a frame, leave nothing."""
    if not bag.frames:
        with suppress(Exception):
            writer.abort()
        return
    storage = writer.storage_plugin.name.lower()
    try:
        with _write_errors(folder):
            writer.close()
    except FileError as error:
        with suppress(Exception):
            writer.abort()
        hidden.rename(folder)
        written = plural(bag.frames, "frame")
        raise FileError(
            folder, f"{error.problem}; what was written of {written} is kept, {UNENDED[storage]}"
        ) from error
    with _write_errors(folder):
        hidden.rename(folder)


@contextmanager
def _write_errors(folder: Path) -> Iterator[None]:
    """Turn the errors of the disk and of SQLite into one of the user's folder."""
    try:
        yield
    except OSError as error:
        raise FileError(folder, write_problem(error)) from error
    except sqlite3.Error as error:  # it does not tell the system's own error
        raise FileError(
            folder, f"cannot be written ({error}); free space or choose another directory"
        ) from error
