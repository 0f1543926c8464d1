"""Live sessions on a server of their own."""

import json
import struct
from contextlib import contextmanager
from threading import Thread

import slanted
from live.made import write_videos
from slanted.live.page import make_live_app
from slanted.live.pairs import pair_sources
from slanted.live.session import LiveSession
from slanted.live.sources import open_source
from slanted.viewer.access import Keys
from slanted.viewer.serve import bind, guarded_server
from viewer.client import TOKEN, Client
from viewer.waiting import PATIENCE

SETTINGS = slanted.Settings.preset("fast").with_text({"matching.max_disparity": "32"})


@contextmanager
def shown(session):
    """Give a client of a server that shows a session, which runs."""
    listening = bind("127.0.0.1", 0)
    server = guarded_server(make_live_app(session), listening, "127.0.0.1", Keys(TOKEN))
    thread = Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    session.start()
    try:
        yield Client(listening.getsockname()[1])
    finally:
        session.stop()
        server.should_exit = True
        thread.join(PATIENCE)
        listening.close()


def videos(folder, count, rate=20):
    sources = [open_source(str(path)) for path in write_videos(folder, count)]
    return LiveSession(pair_sources(sources, rate=rate), SETTINGS)


def unpacked(content):
    """The state and the parts of an answer."""
    (length,) = struct.unpack("<I", content[:4])
    state = json.loads(content[4 : 4 + length])
    parts, start = {}, 4 + length
    for name, size in state["parts"]:
        parts[name] = content[start : start + size]
        start += size
    assert start == len(content)
    return state, parts
