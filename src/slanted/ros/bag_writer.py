"""Writing a recording of ROS 2, which others read: complete, or with what there was to write."""

from __future__ import annotations

import shutil
import sqlite3
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from slanted.errors import FileError
from slanted.io.files import PARTIAL
from slanted.ros.bags import message_types, rosbag2_module
from slanted.ros.messages import Message

VERSION = 8
"""Of rosbag2's format: the last one that Humble, Iron and Jazzy all read."""


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
        # All are made before any is written, so that a frame is complete or missing.
        made = {
            topic: self._types.serialize_cdr(message.made(self._make), message.type)
            for topic, message in messages.items()
        }
        with _write_errors(self._folder):
            for topic, raw in made.items():
                self._writer.write(self._connection(topic, messages[topic].type), logged, raw)
        self.frames += 1

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
    nothing is left.

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
            if bag.frames:
                with _write_errors(folder):
                    writer.close()
                    (hidden / folder.name).rename(folder)
            else:
                with suppress(Exception):
                    writer.abort()
    finally:
        shutil.rmtree(hidden, ignore_errors=True)


@contextmanager
def _write_errors(folder: Path) -> Iterator[None]:
    """Turn the errors of the disk and of SQLite into one of the user's folder."""
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise FileError(folder, f"cannot be written to ({why}); free space") from error
