"""A real server on a thread, and a plain client that sends what it is told to, word for word."""

import http.client
import json
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Thread

from slanted.viewer.access import Keys
from slanted.viewer.serve import address_of, bind, make_server
from viewer.waiting import PATIENCE

TOKEN = "the-token-of-the-tests"


@dataclass
class Answer:
    status_code: int
    headers: dict
    content: bytes

    @property
    def text(self):
        return self.content.decode()

    def json(self):
        return json.loads(self.content)


class Client:
    """Sends the token with every request, unless it has none."""

    def __init__(self, port, token=TOKEN):
        self.port = port
        self.token = token

    @property
    def address(self):
        """The page's address, as it is printed."""
        return address_of("127.0.0.1", self.port, self.token)

    def ask(self, method, path, body=None, headers=None):
        known = {"authorization": f"Bearer {self.token}"} if self.token else {}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        try:
            connection.request(method, path, body, {**known, **(headers or {})})
            response = connection.getresponse()
            names = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, names, response.read())
        finally:
            connection.close()

    def get(self, path, headers=None):
        return self.ask("GET", path, headers=headers)

    def post(self, path, data=None, headers=None):
        body = data if isinstance(data, bytes) else json.dumps(data or {})
        kind = {"content-type": "application/json"} if headers is None else headers
        return self.ask("POST", path, body, kind)


@contextmanager
def served(session, token=TOKEN, strip=None):
    """Give a client of a server that shows the session, and the other pairs of a strip."""
    listening = bind("127.0.0.1", 0)
    keys = Keys(token) if token else None
    server = make_server(session, listening, "127.0.0.1", keys, strip=strip)
    thread = Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        client = Client(listening.getsockname()[1], token)
        client.server = server
        yield client
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
        session.close()
        if strip is not None:
            strip.close()
        listening.close()
