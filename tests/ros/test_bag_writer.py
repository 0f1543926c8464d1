"""Recordings that are written: what is left of them when something goes wrong midway."""

import os
import signal
import struct
import subprocess
import sys

import numpy as np
import pytest

from ros import bags
from ros.bags import read_bag
from slanted.errors import FileError
from slanted.ros.bag_writer import new_bag
from slanted.ros.bags import Recording
from slanted.ros.messages import float_image, header_at

TOPICS = ("/one", "/two", "/three")


def frame(number, side=300):
    """Three images of a frame, a megabyte together."""
    values = np.full((side, side), number, np.float32)
    return dict.fromkeys(TOPICS, float_image(values, header_at(number, "left")))


FILLED = """
import resource, sys
from pathlib import Path
from ros.test_bag_writer import frame
from slanted.errors import FileError
from slanted.ros.bag_writer import new_bag

resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), resource.RLIM_INFINITY))
try:
    with new_bag(Path(sys.argv[1]), sys.argv[2]) as bag:
        for number in range(100):
            bag.write(frame(number), logged=number)
except FileError as error:
    print(bag.frames, error)
"""


def filled(folder, storage, limit):
    """Write a recording until its file may not grow; return the frames and the sentence."""
    pytest.importorskip("resource", reason="there are no limits of files on this system")
    # Python ignores the signal that comes with the error.
    done = subprocess.run(
        [sys.executable, "-c", FILLED, str(folder), storage, str(limit)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    frames, _, sentence = done.stdout.partition(" ")
    return int(frames), sentence.strip()


def mcap_topics(data):
    """Yield the number of the channel of each message in an MCAP file that has no end."""
    place = 8
    while place + 9 <= len(data):
        code, length = struct.unpack_from("<BQ", data, place)
        body = data[place + 9 : place + 9 + length]
        if len(body) < length:
            return
        if code == 5:
            yield struct.unpack_from("<H", body)[0]
        elif code == 6:  # a chunk, of which the records begin after 40 bytes
            yield from mcap_topics(bytes(8) + body[40:])
        place += 9 + length


def test_a_full_disk_leaves_what_was_written_to_mcap(tmp_path):
    frames, sentence = filled(tmp_path / "drive", "mcap", 8_000_000)
    assert 5 <= frames <= 8
    assert sentence == (
        f"{tmp_path / 'drive'}: cannot be written (file too large); free space or choose another "
        f"directory; what was written of {frames} frames is kept, without an index; "
        "`mcap recover FILE` makes one"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["drive"]
    found = list(mcap_topics((tmp_path / "drive" / "drive.mcap").read_bytes()))
    assert min(found.count(channel) for channel in (1, 2, 3)) >= frames - 1


def test_a_full_disk_leaves_whole_frames_in_sqlite(tmp_path):
    frames, sentence = filled(tmp_path / "drive", "sqlite3", 8_000_000)
    assert 5 <= frames <= 8
    assert "cannot be written (" in sentence
    assert "free space or choose another directory" in sentence
    assert [path.name for path in tmp_path.iterdir()] == ["drive"]
    recording = Recording(tmp_path / "drive")
    assert recording.storage == "sqlite3"
    for topic in TOPICS:
        np.testing.assert_array_equal(recording.stamps(topic).stamp, range(frames))
    if (tmp_path / "drive" / "metadata.yaml").exists():
        assert {len(each) for each in read_bag(tmp_path / "drive").values()} == {frames}


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
def test_an_end_that_cannot_be_written_costs_no_frame(tmp_path, storage, monkeypatch):
    def full(self):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(bags.Writer, "close", full)
    missing = {"mcap": r"an index; `mcap recover", "sqlite3": r"metadata\.yaml; `ros2 bag reindex"}
    with (
        pytest.raises(
            FileError,
            match=rf"\(no space left on device\).* of 2 frames .* without {missing[storage]}",
        ),
        new_bag(tmp_path / "drive", storage) as bag,
    ):
        bag.write(frame(0), logged=0)
        bag.write(frame(1), logged=1)
    file = next((tmp_path / "drive").iterdir())
    if storage == "mcap":
        found = list(mcap_topics(file.read_bytes()))
        assert len(found) >= 3
    else:
        np.testing.assert_array_equal(Recording(file).stamps("/three").stamp, [0, 1])


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
def test_an_interrupt_amid_a_frame_waits_until_it_is_complete(tmp_path, storage, monkeypatch):
    write = bags.Writer.write

    def interrupted(self, *message):
        write(self, *message)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(bags.Writer, "write", interrupted)
    # Not what the tests were started with: a shell's jobs in the background ignore it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    with pytest.raises(KeyboardInterrupt), new_bag(tmp_path / "drive", storage) as bag:
        bag.write(frame(0), logged=0)
    assert signal.signal(signal.SIGINT, before) is signal.default_int_handler
    found = read_bag(tmp_path / "drive")
    assert {topic: len(each) for topic, each in found.items()} == dict.fromkeys(TOPICS, 1)


def test_a_folder_that_may_not_be_written_to_is_told_so(tmp_path, monkeypatch):
    def refused(self):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(bags.Writer, "open", refused)
    with (
        pytest.raises(FileError, match=r"because permission is denied; choose another directory$"),
        new_bag(tmp_path / "drive", "mcap"),
    ):
        pass
    assert list(tmp_path.iterdir()) == []
