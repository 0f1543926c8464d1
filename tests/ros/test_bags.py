"""Recordings that are damaged anywhere: one of slanted's sentences, or what is left of them."""

import re

import numpy as np
import pytest

from ros.bags import camera, image, write_bag
from slanted.errors import FileError, SlantedError
from slanted.ros.bags import Recording

PIXELS = np.arange(64, dtype=np.uint8).reshape(8, 8)


@pytest.fixture(scope="module", params=["mcap", "sqlite3"])
def stored(request, tmp_path_factory):
    """The file of a recording, and its name."""
    folder = tmp_path_factory.mktemp("bag")
    messages = [
        message
        for stamp in range(20)
        for message in (("/left", stamp, image(PIXELS, stamp)), ("/info", stamp, camera(stamp)))
    ]
    bag = write_bag(folder / "drive", messages, request.param)
    file = next(file for file in bag.iterdir() if file.suffix != ".yaml")
    return file.name, file.read_bytes()


def test_stamps_are_those_of_the_headers(stored, tmp_path):
    (tmp_path / stored[0]).write_bytes(stored[1])
    recording = Recording(tmp_path / stored[0])
    found = recording.stamps("/left")
    np.testing.assert_array_equal(found.stamp, range(20))
    np.testing.assert_array_equal(found.number, range(20))
    assert (found.unreadable, found.problem) == (0, "")
    assert recording.types == {
        **{"/left": "sensor_msgs/msg/Image", "/info": "sensor_msgs/msg/CameraInfo"},
    }


@pytest.mark.parametrize("seed", range(30))
def test_damage_anywhere_is_told_in_a_sentence(stored, tmp_path, seed):
    name, data = stored
    chance = np.random.default_rng(seed)
    damaged = bytearray(data)
    for _ in range(chance.integers(1, 20)):
        damaged[chance.integers(len(damaged))] = chance.integers(256)
    if seed % 3 == 0:
        del damaged[chance.integers(len(damaged)) :]
    (tmp_path / name).write_bytes(damaged)
    try:
        recording = Recording(tmp_path / name)
        stamps = [recording.stamps(topic) for topic in recording.types]
    except SlantedError as error:
        assert isinstance(error, FileError)
        assert str(error).startswith(str(tmp_path / name))
    else:
        assert all(len(each.stamp) <= 40 for each in stamps)


def test_a_damaged_folder_is_told_the_cure_of_its_storage(tmp_path):
    for storage, cure in (("mcap", "`mcap recover FILE`"), ("sqlite3", "`sqlite3 FILE .recover`")):
        bag = write_bag(tmp_path / storage, [("/left", 0, image(PIXELS, 0))], storage)
        file = next(file for file in bag.iterdir() if file.suffix != ".yaml")
        file.write_bytes(file.read_bytes()[:16] + b"no recording" * 100)
        for given in (bag, file):
            with pytest.raises(FileError, match=re.escape(cure)):
                Recording(given)
        file.write_bytes(b"no recording" * 100)
        for given in (bag, file):
            with pytest.raises(FileError, match=r"is not an (MCAP|SQLite) file, though") as told:
                Recording(given)
            assert "recover" not in str(told.value)
