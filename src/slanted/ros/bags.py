"""Reading recordings of ROS 2: rosbag2, stored as MCAP or in SQLite."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from slanted.errors import FileError, InputError, plural
from slanted.io.files import open_input
from slanted.ros.messages import stamp_of
from slanted.ros.pairing import Stamps
from slanted.runtime.extras import how_to_install, require

METADATA = "metadata.yaml"
"""A folder that holds this file is a recording."""
STORAGES = {".mcap": "mcap", ".db3": "sqlite3"}
"""Suffixes of the files of a recording, and rosbag2's names of their storages."""
MAGIC = {".mcap": b"\x89MCAP0\r\n", ".db3": b"SQLite format 3\0"}
"""How files of a recording begin."""
CURE = f"which is not installed; {how_to_install('ros')}"


def rosbag2_module() -> Any:
    """Return the module that reads and writes recordings; raise if it is not installed."""
    return require("rosbags.rosbag2", "rosbags", "recordings need", CURE)


@cache
def message_types() -> Any:
    """Return the definitions of messages, with which rosbags packs and unpacks them.

    Those of images and cameras are the same in all versions of ROS 2, and old recordings do not
    hold any.
    """
    typesys = require("rosbags.typesys", "rosbags", "recordings need", CURE)
    return typesys.get_typestore(typesys.Stores.ROS2_HUMBLE)


def is_recording(source: Path) -> bool:
    """Return whether a file or folder is a recording, by its name or by what the folder holds."""
    if source.is_dir():
        return (source / METADATA).is_file() or bool(_storage_files(source))
    return source.suffix.lower() in (*STORAGES, ".bag")


@dataclass(frozen=True)
class RecordedMessage:
    """A message of a recording."""

    number: int
    """Its place among those of its topic."""
    logged: int
    """When it was recorded, nanoseconds."""
    raw: bytes


class Recording:
    """A recording that is read.

    Parameters
    ----------
    path
        A folder of rosbag2, or one of its files.

    Raises
    ------
    FileError
        If it is none, or damaged.
    MissingExtraError
        If rosbags is not installed.
    """

    def __init__(self, path: Path) -> None:
        self.path = _one_storage(path)
        self._rosbag2 = rosbag2_module()
        self._types = message_types()
        with self._reader() as reader:
            self.storage: str = _storage(self.path, reader)
            self.types = {each.topic: str(each.msgtype) for each in reader.connections}
            """The type of each topic."""

    def describe(self) -> dict[str, object]:
        """Describe the recording for `slanted info`: how long it is, and what each topic has."""
        with self._reader() as reader:
            counts = dict.fromkeys(self.types, 0)
            for each in reader.connections:
                counts[each.topic] += each.msgcount
            # Without messages, the end is before the start.
            lasts = max(reader.duration, 0) / 1e9 if sum(counts.values()) else 0.0
        kinds = {"mcap": "MCAP", "sqlite3": "SQLite"}
        return {
            "format": f"rosbag2 ({kinds[self.storage]})",
            "meaning": "recording of ROS 2; `slanted batch` estimates the pairs of its cameras",
            "seconds": lasts,
            "messages": sum(counts.values()),
            "topics": {
                topic: f"{plural(count, 'message')} of {self.types[topic]}"
                for topic, count in sorted(counts.items())
            },
        }

    def messages(self, topic: str) -> Iterator[RecordedMessage]:
        """Yield the messages of a topic in the order in which they were recorded.

        Raises
        ------
        FileError
            If the recording ends early or is damaged; what came before is good.
        """
        with self._reader() as reader:
            wanted = [each for each in reader.connections if each.topic == topic]
            for number, (_, logged, raw) in enumerate(reader.messages(connections=wanted)):
                yield RecordedMessage(number, logged, bytes(raw))

    def decoded(self, topic: str, message: RecordedMessage) -> Any:
        """Return a message with its fields as attributes.

        Raises
        ------
        InputError
            If its bytes are not those of a message of the topic's type.
        """
        try:
            return self._types.deserialize_cdr(message.raw, self.types[topic])
        except Exception as error:  # whatever bytes make the decoder stumble
            raise InputError(
                f"{topic}: message {message.number + 1} is damaged ({_why(error)}); it is left out"
            ) from error

    def stamps(self, topic: str) -> Stamps:
        """Return when the messages of a topic were taken, as far as they can be read."""
        rows, unreadable, problem = [], 0, ""
        try:
            for message in self.messages(topic):
                try:
                    taken = stamp_of(self.decoded(topic, message).header)
                except InputError:
                    unreadable += 1
                else:
                    rows.append((message.number, taken, message.logged))
        except FileError as error:
            problem = str(error)
        number, stamp, logged = np.array(rows, np.int64).reshape(-1, 3).T
        return Stamps(topic, number, stamp, logged, unreadable, problem)

    @contextmanager
    def _reader(self) -> Iterator[Any]:
        """Open the recording; each user has a place of its own in the file."""
        try:
            with self._rosbag2.Reader(self.path) as reader:
                yield reader
        except (FileError, InputError, GeneratorExit):
            raise
        except Exception as error:  # damaged files make it raise almost anything
            raise FileError(self.path, _problem(self.path, error)) from error


def _one_storage(path: Path) -> Path:
    """Return the folder with the metadata, or the only file in a folder without."""
    if path.suffix.lower() == ".bag" and not path.is_dir():
        raise FileError(
            path,
            "is a recording of ROS 1; convert it with rosbags-convert --src FILE --dst FOLDER, and "
            "give the folder",
        )
    if not path.exists():
        raise FileError(path, "expected a recording, but nothing is there; check the path")
    files = _storage_files(path) if path.is_dir() else [path]
    for file in files:
        _check_beginning(file)
    if not path.is_dir() or (path / METADATA).exists():
        return path
    if len(files) != 1:
        raise FileError(
            path,
            f"expected a {METADATA} beside {', '.join(file.name for file in files)}, found none; "
            "give one of the files",
        )
    return files[0]


def _check_beginning(path: Path) -> None:
    """Refuse a file that never was a recording: there is nothing in it to be saved."""
    expected = MAGIC.get(path.suffix.lower())
    if expected is None or path.stat().st_size == 0:
        return
    with open_input(path) as file:
        begins = file.read(len(expected))
    if not expected.startswith(begins):
        kind = "an MCAP" if path.suffix.lower() == ".mcap" else "an SQLite"
        raise FileError(path, f"is not {kind} file, though its name says so; check what it is")


def _storage_files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.iterdir() if file.suffix.lower() in STORAGES)


def _storage(path: Path, reader: Any) -> str:
    if not path.is_dir():
        return STORAGES[path.suffix.lower()]
    # A folder has files of one kind, which rosbags opens with readers of one class.
    names = {type(each).__name__ for each in reader.storage.storages}
    return "mcap" if names == {"McapReader"} else "sqlite3"


def _problem(path: Path, error: Exception) -> str:
    """Return the rest of a sentence about a recording that cannot be read."""
    files = _storage_files(path) if path.is_dir() else [path]
    is_sqlite = any(STORAGES.get(file.suffix.lower()) == "sqlite3" for file in files)
    cure = "sqlite3 FILE .recover" if is_sqlite else "mcap recover FILE"
    return (
        f"the recording is cut short or damaged ({_why(error)}); what is left of it can be saved "
        f"with `{cure}`"
    )


def _why(error: Exception) -> str:
    return str(error).rstrip(".") or type(error).__name__
