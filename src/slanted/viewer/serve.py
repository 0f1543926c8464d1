"""Starting and stopping the server."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from slanted.errors import InputError

if TYPE_CHECKING:
    from slanted.viewer.access import Keys
    from slanted.viewer.session import Session
    from slanted.viewer.strip import Strip

FIRST_PORT = 8650
PORTS_TRIED = 20
WAITING_CONNECTIONS = 128
NEEDED = {"starlette": "starlette", "uvicorn": "uvicorn", "trimesh": "trimesh", "PIL": "pillow"}
"""Modules that the viewer needs, and the packages that they come in."""


def bind(host: str, port: int | None) -> socket.socket:
    """Return a socket that listens on an address of this machine.

    Port 0 stands for any free one, None for the first free one from 8650. An InputError says that
    there is no such address, or that the port is taken.
    """
    ports = range(FIRST_PORT, FIRST_PORT + PORTS_TRIED) if port is None else (port,)
    problem = ""
    for number in ports:
        try:
            family, kind, protocol, _, address = socket.getaddrinfo(
                host, number, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )[0]
            listening = socket.socket(family, kind, protocol)
        except (OSError, OverflowError, UnicodeError) as error:
            raise InputError(
                f"--host: expected an address of this machine, got {host!r} ({error})"
            ) from None
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address)
            listening.listen(WAITING_CONNECTIONS)
            return listening
        except OSError as error:
            listening.close()
            problem = (error.strerror or "taken").lower()
    raise InputError(
        f"--port: cannot listen on {host}, port {ports[0]} ({problem}); choose another, or 0 for "
        "any that is free"
    )


def address_of(host: str, port: int, key: str = "") -> str:
    """Return the page's address for a browser on this machine, with a key if there is one."""
    from slanted.viewer.guard import EVERY_ADDRESS

    # A server on all IPv6 addresses may have no IPv4 address.
    name = ("[::1]" if ":" in host else "127.0.0.1") if host in EVERY_ADDRESS else host
    name = name.strip("[]")
    place = f"[{name}]:{port}" if ":" in name else f"{name}:{port}"
    return f"http://{place}/?token={key}" if key else f"http://{place}/"


def make_server(
    session: Session,
    listening: socket.socket,
    host: str,
    keys: Keys | None,
    others: Iterable[str] = (),
    strip: Strip | None = None,
) -> Any:
    """Return a uvicorn server for a session; ``run(sockets=[listening])`` starts it.

    No token is asked for if `keys` is None. With a `strip`, the page can show its other pairs.
    """
    from slanted.viewer.app import make_app

    return guarded_server(make_app(session, strip), listening, host, keys, others)


def guarded_server(
    app: Any,
    listening: socket.socket,
    host: str,
    keys: Keys | None,
    others: Iterable[str] = (),
) -> Any:
    """Return a uvicorn server for a web application, which only its own users reach."""
    import uvicorn

    from slanted.viewer.access import Access
    from slanted.viewer.connections import Connection
    from slanted.viewer.guard import Guard, allowed_hosts

    port = listening.getsockname()[1]
    if keys is not None:
        app = Access(app, keys)
    config = uvicorn.Config(
        Guard(app, allowed_hosts(host, port, others)),
        log_level="warning",
        access_log=False,
        http=Connection,
        ws="none",
        lifespan="off",
        server_header=False,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=1,
        # asyncio takes up to this many connections before it looks at the first of them.
        backlog=WAITING_CONNECTIONS,
    )
    return uvicorn.Server(config)


def serve(
    session: Session,
    listening: socket.socket,
    *,
    keys: Keys | None,
    host: str = "127.0.0.1",
    others: Iterable[str] = (),
    announce: Callable[[str, str], None] = lambda address, opened: None,
    strip: Strip | None = None,
) -> None:
    """Serve a session until interrupted.

    The socket is from `bind`, which was given `host`; `others` are further names of the server.
    Requests need the token of `keys`, unless that is None. `announce` is called when the page can
    be opened, with the address to print and the one to open in a browser, which works once.
    """
    port = listening.getsockname()[1]
    try:
        server = make_server(session, listening, host, keys, others, strip)
        token, once = ("", "") if keys is None else (keys.token, keys.make_single_use())
        announce(address_of(host, port, token), address_of(host, port, once))
        with suppress(KeyboardInterrupt):
            server.run(sockets=[listening])
    finally:
        session.close()
        if strip is not None:
            strip.close()


def missing_package() -> str | None:
    """Return a package that the viewer needs and that is not installed, if there is one."""
    return next((name for module, name in NEEDED.items() if find_spec(module) is None), None)


def require_viewer() -> None:
    """Raise an error that says how to install what the viewer needs, if it is missing."""
    from slanted.output.export import CURE

    missing = missing_package()
    if missing is not None:
        raise InputError(f"the viewer needs {missing}, {CURE}")
