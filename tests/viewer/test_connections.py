"""Clients that send or take nothing, over real sockets, are not waited for."""

import socket
import time
from contextlib import ExitStack
from threading import Event, Thread

import pytest

from slanted.viewer import connections
from viewer.client import TOKEN, served
from viewer.waiting import PATIENCE, until
from viewer.worlds import session

HEAD = "{} {} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer " + TOKEN + "\r\n"


@pytest.fixture
def client(monkeypatch):
    for name in ("REQUEST_SECONDS", "READING_SECONDS"):
        monkeypatch.setattr(connections, name, 0.4)
    monkeypatch.setattr(connections, "LOOK_SECONDS", 0.05)
    with served(session()) as found:
        yield found


def connect(client, sent=b""):
    opened = socket.create_connection(("127.0.0.1", client.port), PATIENCE)
    opened.sendall(sent)
    return opened


def head(client, method, path, more=""):
    return (HEAD.format(method, path, client.port) + more).encode()


def ends(opened):
    """Wait until the server has closed a connection; what it said before is returned."""
    said = b""
    try:
        while part := opened.recv(65536):
            said += part
    except ConnectionResetError:
        pass
    return said


def test_who_sends_nothing_or_half_a_request_is_not_waited_for(client):
    post = "Content-Type: application/json\r\nContent-Length: 20\r\n\r\n"
    for sent in (
        b"",
        b"G",
        head(client, "GET", "/"),  # without the empty line at its end
        head(client, "POST", "/api/run", post) + b'{"segme',
        head(client, "POST", "/api/run", "Transfer-Encoding: chunked\r\n\r\n5\r\n"),
        head(client, "GET", "/", "\r\n") + head(client, "GET", "/"),  # the second of two
    ):
        with connect(client, sent) as opened:
            ends(opened)
    assert client.get("/api/state").json()["job"]["number"] == 0


def test_a_head_that_trickles_in_is_cut_off(client):
    done = Event()
    with connect(client, head(client, "GET", "/")) as opened:

        def trickle():
            while not done.wait(0.05):
                try:
                    opened.sendall(b"X-A: b\r\n")
                except OSError:
                    return

        thread = Thread(target=trickle)
        thread.start()
        try:
            ends(opened)
        finally:
            done.set()
            thread.join()


def test_an_answer_that_nobody_takes_is_dropped(client, monkeypatch):
    monkeypatch.setattr("slanted.viewer.session.pack_mesh", lambda *_: bytes(40_000_000))
    with connect(client, head(client, "GET", "/api/frames/0-0/mesh", "\r\n")) as opened:
        opened.recv(1)
        until(lambda: not client.server.server_state.connections)
        assert len(ends(opened)) < 40_000_000
    assert client.get("/api/state").status_code == 200


def test_the_server_may_take_its_time(client, monkeypatch):
    """The limits are for clients; a mesh may take the server minutes."""

    def slow(*_):
        time.sleep(2)
        return b"mesh"

    monkeypatch.setattr("slanted.viewer.session.pack_mesh", slow)
    assert client.get("/api/frames/0-0/mesh").content == b"mesh"


def test_many_idle_connections_leave_room_for_a_request(monkeypatch):
    """1,100 connections without a request were held open, and nobody else got in."""
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 20)
    monkeypatch.setattr(
        connections, "REQUEST_SECONDS", 10 * PATIENCE
    )  # it is not time that ends them
    with served(session()) as client, ExitStack() as stack:
        opened = [stack.enter_context(connect(client)) for _ in range(100)]
        for _ in range(5):
            assert client.get("/api/state").status_code == 200
        for early in opened[:75]:  # the first to come are the first to go
            assert ends(early) == b""
        assert len(client.server.server_state.connections) <= 21  # one more may be on its way out


def test_a_request_that_is_answered_is_not_sent_away_for_another(monkeypatch):
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 5)
    inside, go_on = Event(), Event()

    def slow(*_):
        inside.set()
        assert go_on.wait(PATIENCE)
        return b"mesh"

    monkeypatch.setattr("slanted.viewer.session.pack_mesh", slow)
    with served(session()) as client, ExitStack() as stack:
        wanted = head(client, "GET", "/api/frames/0-0/mesh", "Connection: close\r\n\r\n")
        first = stack.enter_context(connect(client, wanted))
        assert inside.wait(PATIENCE)
        for _ in range(30):
            stack.enter_context(connect(client))
        assert client.get("/api/state").status_code == 200
        go_on.set()
        assert ends(first).endswith(b"mesh")
