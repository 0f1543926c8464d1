"""``slanted view``: what it opens, what it refuses, and how it ends."""

import importlib.util
import re
import signal
import socket
import subprocess
import sys
from threading import Event

import cv2
import numpy as np
import pytest

from slanted.cli import main
from slanted.errors import InputError
from slanted.runtime.extras import how_to_install
from slanted.viewer.serve import NEEDED, address_of, bind
from viewer.client import Client
from viewer.waiting import PATIENCE
from viewer.worlds import estimated, scene


@pytest.fixture
def folder(tmp_path):
    estimated()[0].save(tmp_path / "out", scene().left, scene().right)
    for name, image in (("left.png", scene().left), ("right.png", scene().right)):
        cv2.imwrite(str(tmp_path / name), image[:, :, ::-1])
    return tmp_path


def refused(*arguments):
    with pytest.raises(SystemExit) as exited:
        main(["view", "--no-browser", "--quiet", *map(str, arguments)])
    return exited.value.code == 2


def test_what_cannot_be_shown_is_refused(folder, capsys):
    np.save(folder / "small.npy", np.ones((4, 5), np.float32))
    for arguments, message in (
        ((folder,), "expected the folder of a result"),
        (
            (folder / "left.png",),
            "got a file; for a pair give both images: slanted view LEFT RIGHT",
        ),
        ((folder / "out", "--seed", 3), "mean nothing with a RESULT"),
        ((folder, folder, folder), "expected the folder of a result, or LEFT and RIGHT, got 3"),
        ((folder / "out", "--ground-truth", folder / "small.npy"), "expected the size of the left"),
        ((folder / "out", "--ground-truth-scale", 2), "means nothing without --ground-truth"),
        ((folder / "out", "--compare", folder / "small.npy"), "expected the size of the left"),
        ((folder / "out", "--compare", folder), "expected the folder of a result"),
        ((folder / "out", "--compare", folder / "none.pfm"), "none.pfm"),
        ((folder / "out", "--host", "no.such.host.invalid"), "--host: expected an address"),
    ):
        assert refused(*arguments), message
        error = capsys.readouterr().err
        assert message in error
        assert len(error.splitlines()) == 1


def test_a_pair_is_not_run_for_nothing(folder, capsys, monkeypatch):
    """What is refused is refused before the run, which may take minutes."""
    monkeypatch.setattr("slanted.pipeline.estimate", lambda *_, **__: pytest.fail("ran"))
    np.save(folder / "small.npy", np.ones((4, 5), np.float32))
    pair = folder / "left.png", folder / "right.png"
    for arguments in (
        ("--ground-truth", folder / "small.npy"),
        ("--ground-truth", folder / "none.npy"),
        ("--compare", folder / "small.npy"),
        ("--host", "no.such.host.invalid"),
    ):
        assert refused(*pair, *arguments)
    with bind("127.0.0.1", 0) as other:
        assert refused(*pair, "--port", other.getsockname()[1])
    assert "Traceback" not in capsys.readouterr().err


def test_a_browser_that_is_waited_for_does_not_hold_up_the_server(folder, monkeypatch, capsys):
    opened, served, go_on, addresses = Event(), [], Event(), []

    def open_browser(address):
        addresses.append(address)
        opened.set()
        go_on.wait(PATIENCE)

    monkeypatch.setattr("webbrowser.open", open_browser)

    def run(self, sockets):
        assert opened.wait(PATIENCE)
        served.append(sockets)

    monkeypatch.setattr("uvicorn.Server.run", run)
    with pytest.raises(SystemExit) as exited:
        main(["view", str(folder / "out"), "--port", "0"])
    go_on.set()
    assert not exited.value.code
    assert served
    key, printed = (
        re.search(r"http://127\.0\.0\.1:\d+/\?token=(\S{40,})", text).group(1)
        for text in (addresses[0], capsys.readouterr().out)
    )
    assert key != printed  # others may read the command line of the browser


def test_a_port_that_is_taken_is_named(folder, capsys):
    with bind("127.0.0.1", 0) as other:
        port = other.getsockname()[1]
        assert refused(folder / "out", "--port", port)
        assert f"port {port}" in capsys.readouterr().err


def test_without_a_port_the_next_free_one_is_taken():
    with bind("127.0.0.1", None) as first, bind("127.0.0.1", None) as second:
        assert first.getsockname()[1] != second.getsockname()[1]
    with pytest.raises(InputError, match="--host"):
        bind("300.1.1.1", 0)
    assert address_of("0.0.0.0", 9) == "http://127.0.0.1:9/"
    assert address_of("::1", 9) == "http://[::1]:9/"
    assert address_of("::", 9) == "http://[::1]:9/"


@pytest.mark.parametrize(("module", "name"), NEEDED.items())
def test_what_is_missing_is_named_with_its_cure(folder, capsys, monkeypatch, module, name):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        "slanted.viewer.serve.find_spec", lambda asked: None if asked == module else find(asked)
    )
    assert refused(folder / "out")
    assert f"needs {name}, which is not installed; {how_to_install('viewer')}" in (
        capsys.readouterr().err
    )


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_pair_is_run_and_shown_until_interrupted(folder):
    command = [sys.executable, "-m", "slanted", "view", "left.png", "right.png", "--no-browser"]
    command += ["--port", "0", "--quiet", "--set", "segmentation.count=40"]
    server = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    said = server.stdout.readline()
    port, token = re.search(r"http://127\.0\.0\.1:(\d+)/\?token=(\S+)", said).groups()
    port = int(port)
    state = Client(port, token).get("/api/state").json()
    assert state["name"] == "left.png"
    assert len(state["frames"]) >= 3  # its iterations are known
    assert state["unit"] == "baselines"
    with pytest.raises(OSError), socket.create_connection(("127.0.0.2", port), 2):
        pass  # who listens on all addresses would answer here as well
    server.send_signal(signal.SIGINT)
    _, errors = server.communicate(timeout=PATIENCE)
    assert server.returncode in (0, 130)
    assert "Traceback" not in errors


def test_what_is_compared_is_a_map_or_a_result(folder, monkeypatch):
    sessions = []
    monkeypatch.setattr(
        "slanted.viewer.serve.serve", lambda session, *_, **__: sessions.append(session)
    )
    np.save(folder / "map.npy", estimated()[0].disparity + 1)
    for compared, title in (
        (folder / "map.npy", "map.npy"),
        (folder / "out", "out"),
    ):
        with pytest.raises(SystemExit) as done:
            main(["view", "--no-browser", "--quiet", "--port", "0", str(folder / "out"),
                  "--compare", str(compared)])  # fmt: skip
        assert not done.value.code
        told = sessions.pop().state()["others"]
        assert told[0]["title"] == title
        assert [each["name"] for each in told] == ["given", "sgbm"]
