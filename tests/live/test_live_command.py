"""``slanted live``: what it prints, records and shows, and how it ends."""

import json
import re
import signal
import subprocess
import sys

import numpy as np
import pytest

import slanted
from live.made import frames, streaming, write_videos
from live.showing import unpacked
from slanted.batch.summary import find_results, read_summary
from slanted.cli import main
from slanted.live.sources import open_source
from slanted.runtime.extras import how_to_install
from viewer.client import Client
from viewer.waiting import PATIENCE, until

FAST = ["--max-disparity", "32", "--rate", "1000"]


@pytest.fixture
def videos(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_videos(tmp_path, 3)
    return tmp_path


def run(*arguments):
    with pytest.raises(SystemExit) as exited:
        main(["live", *map(str, arguments), *FAST])
    return exited.value.code or 0


def test_two_videos_are_recorded(videos, capsys):
    assert run("left.avi", "right.avi", "--no-view", "--record", "out", "--json") == 0
    outcome = json.loads(capsys.readouterr().out)
    assert (outcome["frames"], outcome["dropped"], outcome["output"]) == (3, 0, "out")
    assert list(find_results(videos / "out")) == ["000000", "000001", "000002"]
    for command in (["info", "out"], ["export", "out", "cloud.ply"]):
        with pytest.raises(SystemExit) as exited:
            main(command)
        assert not exited.value.code
    assert (videos / "out" / "000002" / "cloud.ply").is_file()


def test_one_video_with_both_views_gives_the_same(videos, capsys):
    assert run("left.avi", "right.avi", "--no-view", "--record", "two", "--frames", 1) == 0
    assert run("both.avi", "--no-view", "--record", "one", "--frames", 1) == 0
    assert "1 frame in" in capsys.readouterr().out
    two, one = (slanted.Result.load(videos / name / "000000") for name in ("two", "one"))
    # JPEG treats the seam between the views in its own way.
    assert np.median(abs(two.disparity - one.disparity)) < 0.1


def test_numbers_give_depth(videos):
    cameras = ("--fx", 150, "--baseline", 0.2)
    assert (
        run("left.avi", "right.avi", "--no-view", "--record", "out", "--frames", 1, *cameras) == 0
    )
    assert (videos / "out" / "000000" / "depth.npy").is_file()


def test_without_the_viewer_it_prints(videos, monkeypatch, capsys):
    monkeypatch.setattr("slanted.viewer.serve.find_spec", lambda name: None)
    assert run("left.avi", "right.avi") == 0
    said = capsys.readouterr()
    assert f"there is no page; {how_to_install('viewer')}, or give --no-view" in said.err
    assert re.search(r"^3 frames in [\d.]+ s, 0 dropped$", said.out, re.MULTILINE)


def test_some_that_fail_are_exit_code_1(videos, capsys):
    for side in ("lefts", "rights"):
        (videos / side).mkdir()
        for number in range(2):
            source = open_source(f"{side[:-1]}.avi")
            slanted.write_image(videos / side / f"{number}.png", source.read())
    (videos / "lefts" / "0.png").write_bytes(b"no image")
    assert run("lefts", "rights", "--no-view") == 1
    said = capsys.readouterr()
    assert "1 frame in" in said.out
    assert "1 failed" in said.out
    assert "slanted: lefts/0.png: " in said.err


def test_if_all_fail_the_last_reason_is_the_error(videos, capsys):
    for side in ("lefts", "rights"):
        (videos / side).mkdir()
        (videos / side / "0.png").write_bytes(b"no image")
    assert run("lefts", "rights", "--no-view") == 2
    assert capsys.readouterr().err.splitlines()[-1].startswith("slanted: error: lefts/0.png")


def test_a_password_is_not_repeated(capsys):
    address = "rtsp://me:se@cret@127.0.0.1/x"
    assert run(address, address) == 2
    assert "got rtsp://…@127.0.0.1/x twice" in capsys.readouterr().err


def start(folder, *arguments, sources=("left.avi", "right.avi")):
    command = [sys.executable, "-m", "slanted", "live", *sources, *arguments]
    return subprocess.Popen(
        [*command, "--max-disparity", "32"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_leaves_whole_results(videos):
    write_videos(videos, 200)
    process = start(videos, "--no-view", "--record", "out", "--rate", "1000")
    until((videos / "out" / "000001").is_dir)
    process.send_signal(signal.SIGINT)
    said, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors
    assert "Traceback" not in errors
    assert "recorded in out" in said
    rows = read_summary(videos / "out")
    assert 2 <= len(rows) < 200
    for name, place in find_results(videos / "out").items():
        assert slanted.Result.load(place).disparity.shape == (96, 160), name
    assert not list((videos / "out").glob(".*partial*"))


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_the_page_is_served_until_the_videos_end(videos):
    process = start(videos, "--no-browser", "--port", "0", "--rate", "2")
    port, token = re.search(r":(\d+)/\?token=(\S+)", process.stdout.readline()).groups()
    client = Client(int(port), token)
    state, _ = unpacked(client.get("/api/live?after=0").content)
    assert state["name"] == "left.avi and right.avi"
    said, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors
    assert "3 frames in" in said
    assert "Traceback" not in errors


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_ends_the_page(videos):
    write_videos(videos, 200)
    process = start(videos, "--no-browser", "--port", "0")
    port, token = re.search(r":(\d+)/\?token=(\S+)", process.stdout.readline()).groups()
    client = Client(int(port), token)
    until(lambda: unpacked(client.get("/api/live?after=0").content)[0]["frames"])
    process.send_signal(signal.SIGINT)
    said, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors
    assert re.search(r"^\d+ frames? in", said, re.MULTILINE)
    assert "Traceback" not in errors


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_network_camera_is_lost_and_back(tmp_path):
    """The whole way: a camera of both views on the network is killed, announced and resumed."""
    with streaming([np.hstack(pair) for pair in frames(3)]) as camera:
        process = start(tmp_path, "--no-view", "--quiet", sources=[camera.address])
        until(lambda: camera.sent > 5)
        camera.plugged.clear()
        assert process.stderr.readline() == f"slanted: {camera.address}: lost; waiting for it\n"
        camera.plugged.set()
        assert process.stderr.readline() == f"slanted: {camera.address}: back\n"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, errors
