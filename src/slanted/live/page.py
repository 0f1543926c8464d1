"""The page of a live session, and its server."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from slanted.errors import InputError
from slanted.live.shown import Parts, as_bytes, describe, parts_of
from slanted.viewer.cache import Cache
from slanted.viewer.responses import (
    NEVER,
    asset_response,
    number,
    page_response,
    problem_response,
)
from slanted.viewer.serve import address_of, guarded_server
from slanted.viewer.session import NotThereError

if TYPE_CHECKING:
    import socket

    from slanted.live.session import LiveSession
    from slanted.viewer.access import Keys

WAIT_SECONDS = 0.5
"""A request waits this long for a new frame, then it is answered without one."""
LOOK_SECONDS = 0.01
"""Time between two looks for a new frame."""
USUAL_POINTS = 60_000
FAREWELL_SECONDS = 1.5
"""Time in which pages learn that the session has ended, before their server does."""


def make_live_app(session: LiveSession) -> Starlette:
    """Return the ASGI application that shows a live session."""
    made: Cache[Parts] = Cache(2)

    async def newest(request: Request) -> Response:
        after, points = number(request, "after", 0), number(request, "points", USUAL_POINTS)
        until = time.monotonic() + WAIT_SECONDS
        while (frame := session.newest) is None or frame.number <= after:
            if time.monotonic() > until or session.state().ended:
                frame = None
                break
            await asyncio.sleep(LOOK_SECONDS)
        content = await run_in_threadpool(_content, session, made, frame, points)
        return Response(content, media_type="application/octet-stream", headers=NEVER)

    async def page(request: Request) -> Response:
        return page_response("live.html")

    async def asset(request: Request) -> Response:
        return asset_response(request)

    handlers: dict[Any, Any] = {
        NotThereError: lambda request, error: problem_response(404, str(error)),
        InputError: lambda request, error: problem_response(400, str(error)),
    }
    routes = [Route("/", page), Route("/live", page)]
    routes += [Route("/assets/{path:path}", asset), Route("/api/live", newest)]
    return Starlette(routes=routes, exception_handlers=handlers)


def _content(session: LiveSession, made: Cache[Parts], frame: Any, points: int) -> bytes:
    """Return an answer; several tabs share what was painted."""
    parts = None
    if frame is not None:
        key = f"{frame.number}", f"{points}"
        parts = made.get(*key, lambda: parts_of(session.name, frame, points))
    return as_bytes(describe(session), parts)


def serve_live(
    session: LiveSession,
    listening: socket.socket,
    *,
    keys: Keys | None,
    host: str = "127.0.0.1",
    others: Iterable[str] = (),
    announce: Callable[[str, str], None] = lambda address, opened: None,
) -> None:
    """Run a session and show it until it has ended or is interrupted; see `viewer.serve.serve`."""
    port = listening.getsockname()[1]
    server = guarded_server(make_live_app(session), listening, host, keys, others)

    def end_with_the_session() -> None:
        while not session.wait(1.0):
            pass
        time.sleep(FAREWELL_SECONDS)
        server.should_exit = True

    token, once = ("", "") if keys is None else (keys.token, keys.make_single_use())
    announce(address_of(host, port, token), address_of(host, port, once))
    session.start()
    Thread(target=end_with_the_session, daemon=True).start()
    try:
        with suppress(KeyboardInterrupt):
            server.run(sockets=[listening])
    finally:
        session.stop()
