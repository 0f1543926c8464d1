"""Recordings that are damaged anywhere: one of slanted's sentences, or what is left of them."""

import json
import re

import numpy as np
import pytest

from ros.bags import camera, image, write_bag
from slanted.cli import main
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


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
def test_info_tells_what_a_recording_holds(tmp_path, capsys, storage):
    messages = [("/left", k * 10**9, image(PIXELS, k * 10**9)) for k in range(3)]
    bag = write_bag(tmp_path / "drive", [*messages, ("/right", 0, image(PIXELS, 0))], storage)
    file = next(file for file in bag.iterdir() if file.suffix != ".yaml")
    for given in (bag, file):
        with pytest.raises(SystemExit) as exited:
            main(["info", str(given), "--json"])
        assert not exited.value.code
        found = json.loads(capsys.readouterr().out)
        assert found["format"] == f"rosbag2 ({'MCAP' if storage == 'mcap' else 'SQLite'})"
        assert found["messages"] == 4
        assert found["seconds"] == pytest.approx(2.0, abs=0.01)
        assert found["topics"]["/left"] == "3 messages of sensor_msgs/msg/Image"
        assert found["topics"]["/right"] == "1 message of sensor_msgs/msg/Image"
    (tmp_path / "text.mcap").write_text("hello")
    with pytest.raises(SystemExit) as exited:
        main(["info", str(tmp_path / "text.mcap")])
    assert exited.value.code == 2
    assert "text.mcap: is not an MCAP file" in capsys.readouterr().err
