"""A real server on a thread, and a plain client that sends what it is told to, word for word."""

import http.client
import json
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Thread

from slanted.viewer.serve import bind, make_server


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
    def __init__(self, port):
        self.port = port

    def ask(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        try:
            connection.request(method, path, body, headers or {})
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
def served(session):
    """Give a client of a server that shows the session."""
    listening = bind("127.0.0.1", 0)
    server = make_server(session, listening, "127.0.0.1")
    thread = Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        yield Client(listening.getsockname()[1])
    finally:
        server.should_exit = True
        thread.join(10)
        session.close()
        listening.close()
