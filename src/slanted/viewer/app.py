"""The web application: the page, tiles, clouds, meshes, and requests to run and to cancel."""

from __future__ import annotations

import asyncio
import functools
import io
import json
import zipfile
from collections.abc import Awaitable, Callable
from threading import Lock
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route

from slanted.errors import FileError, InputError
from slanted.evaluation.region import Region
from slanted.output.pictures import COLOUR_MAPS
from slanted.viewer.answers import frame_metrics, frame_profile
from slanted.viewer.geometry import MOST_POINTS, MOST_TRIANGLES
from slanted.viewer.guard import Receive, Scope, Send
from slanted.viewer.layers import Look
from slanted.viewer.maps import MAPS, colour_scales, map_picture
from slanted.viewer.pixel import describe_pixel
from slanted.viewer.responses import (
    FOREVER,
    NEVER,
    asset_response,
    is_number,
    json_response,
    number,
    page_response,
    problem_response,
)
from slanted.viewer.session import NotThereError
from slanted.viewer.tiles import cut_tile, texture

if TYPE_CHECKING:
    from slanted.viewer.session import Session
    from slanted.viewer.strip import Strip

LARGEST_BODY = 100_000
LARGEST_LEVEL = 12
MOST_AT_ONCE = 2
"""Most clouds, meshes and exports made at a time: each takes a core and much memory."""

Answer = Callable[[Request], Response]


def make_app(
    session: Session, strip: Strip | None = None, busy: asyncio.Semaphore | None = None
) -> Starlette:
    """Return the ASGI application that shows a session, and the other pairs of its batch if any.

    Slow answers take turns by `busy`, which all pairs share.
    """
    frame = "/api/frames/{key}"
    busy = asyncio.Semaphore(MOST_AT_ONCE) if busy is None else busy
    routes: list[BaseRoute] = [
        _get("/", lambda request: page_response("index.html")),
        _get("/assets/{path:path}", asset_response),
        _get("/api/state", lambda request: json_response(session.state())),
        _get("/api/others/{name}", functools.partial(_other, session), busy),
        _get(frame, functools.partial(_frame, session)),
        _get(frame + "/tiles/{layer}/{level}/{column}/{row}", functools.partial(_tile, session)),
        _get(frame + "/textures/{layer}", functools.partial(_texture, session)),
        _get(frame + "/pixels/{u}/{v}", functools.partial(_pixel, session)),
        _get(frame + "/metrics", functools.partial(_metrics, session), busy),
        _get(frame + "/profile", functools.partial(_profile, session)),
        _get(frame + "/cloud", functools.partial(_cloud, session), busy),
        _get(frame + "/mesh", functools.partial(_mesh, session), busy),
        _get(frame + "/exports/{name}", functools.partial(_export, session), busy),
        _get(frame + "/maps/{name}", functools.partial(_map, session)),
        _get("/api/scales", lambda request: json_response({"scales": colour_scales()})),
        *_strip_routes(strip, busy),
        Route("/api/run", functools.partial(_run, session), methods=["POST"]),
        Route("/api/cancel", functools.partial(_cancel, session), methods=["POST"]),
    ]
    handlers: dict[Any, Any] = {
        NotThereError: lambda request, error: problem_response(404, str(error)),
        InputError: lambda request, error: problem_response(400, str(error)),
        FileError: lambda request, error: problem_response(400, str(error)),
    }
    app = Starlette(routes=routes, exception_handlers=handlers)
    app.router.redirect_slashes = False
    return app


def _strip_routes(strip: Strip | None, busy: asyncio.Semaphore) -> list[BaseRoute]:
    """Return the routes of a batch: its pairs, their pictures, and everything else of each pair.

    What the page asks of a pair is what it asks of a single result, below /pairs/NUMBER.
    """
    if strip is None:
        return [_get("/api/pairs", lambda request: json_response({"pairs": []}))]
    turns = asyncio.Semaphore(MOST_AT_ONCE)
    apps: dict[Session, Starlette] = {}
    changing = Lock()

    def app_of(text: str) -> Starlette:
        session = strip.session(_small(text))
        with changing:  # several threads ask at once
            if session not in apps:
                for old in [old for old in apps if not strip.is_open(old)]:
                    del apps[old]
                apps[session] = make_app(session, busy=busy)
            return apps[session]

    async def other_pair(scope: Scope, receive: Receive, send: Send) -> None:
        if not scope["path"].startswith(scope["root_path"] + "/api/"):
            raise NotThereError("page")
        app = await run_in_threadpool(app_of, scope["path_params"]["number"])
        await app(scope, receive, send)

    return [
        _get("/api/pairs", lambda request: json_response(strip.listing())),
        _get("/api/thumbnails/{key}/{kind}/{number}", functools.partial(_thumbnail, strip), turns),
        Mount("/pairs/{number}", app=other_pair),
    ]


def _get(path: str, answer: Answer, turns: asyncio.Semaphore | None = None) -> Route:
    """Return a route whose response is made in a thread, since painting and packing take time.

    Slow responses take turns before they get a thread, which leaves threads for the others.
    """

    async def endpoint(request: Request) -> Response:
        if turns is None:
            return await run_in_threadpool(answer, request)
        async with turns:
            if await request.is_disconnected():
                return Response(status_code=499)  # the client is gone
            return await run_in_threadpool(answer, request)

    made: Callable[[Request], Awaitable[Response]] = endpoint
    return Route(path, made, methods=["GET"])


def _key(request: Request) -> str:
    return str(request.path_params["key"])


def _tile(session: Session, request: Request) -> Response:
    params = request.path_params
    level, column, row = (_small(params[name]) for name in ("level", "column", "row"))
    if level > LARGEST_LEVEL:
        raise NotThereError("tile")
    layer = session.layer(_key(request), str(params["layer"]), _look(request))
    content = cut_tile(layer, level, column, row)
    if content is None:
        raise NotThereError("tile")
    return Response(content, media_type="image/png", headers=FOREVER)


def _small(text: str) -> int:
    """Return a number in an address."""
    if not is_number(text):
        raise NotThereError("place")
    return int(text)


def _texture(session: Session, request: Request) -> Response:
    layer = session.layer(_key(request), str(request.path_params["layer"]), _look(request))
    return Response(texture(layer), media_type="image/jpeg", headers=FOREVER)


def _map(session: Session, request: Request) -> Response:
    name = str(request.path_params["name"])
    if name not in MAPS:
        raise NotThereError(name)
    content = map_picture(session.scene, session.frame(_key(request)), name)
    return Response(content, media_type="image/png", headers=FOREVER)


def _thumbnail(strip: Strip, request: Request) -> Response:
    params = request.path_params
    if params["key"] != strip.key:  # of another server at this port
        raise NotThereError("picture")
    content = strip.thumbnail(_small(params["number"]), str(params["kind"]))
    return Response(content, media_type="image/jpeg", headers=FOREVER)


def _pixel(session: Session, request: Request) -> Response:
    u, v = _small(request.path_params["u"]), _small(request.path_params["v"])
    return json_response(describe_pixel(session.scene, session.shown(_key(request)), u, v))


def _frame(session: Session, request: Request) -> Response:
    return json_response(session.describe_frame(_key(request), _look(request).colours))


def _other(session: Session, request: Request) -> Response:
    """Answer with what the result is compared with, as with a frame."""
    other = session.other(str(request.path_params["name"]))
    return json_response(session.describe_frame(other.key, _look(request).colours))


def _metrics(session: Session, request: Request) -> Response:
    text = request.query_params.get("region")
    region = None if text is None else Region.parse(text)
    frame = session.shown(_key(request))
    return json_response(frame_metrics(session.scene, frame, _percent(request), region))


def _profile(session: Session, request: Request) -> Response:
    ends = (_pixel_of(request, name) for name in ("from", "to"))
    return json_response(frame_profile(session.scene, session.shown(_key(request)), *ends))


def _pixel_of(request: Request, name: str) -> tuple[int, int]:
    """Return a pixel in the query of an address, column and row."""
    text = request.query_params.get(name, "")
    parts = text.split(",")
    if len(parts) != 2 or not all(map(is_number, parts)):
        raise InputError(f"{name}: expected a pixel, U,V, got {text[:40]!r}")
    return int(parts[0]), int(parts[1])


def _cloud(session: Session, request: Request) -> Response:
    most = number(request, "points", 250_000)
    return _packed(session, request, "cloud", min(most, MOST_POINTS))


def _mesh(session: Session, request: Request) -> Response:
    most = number(request, "triangles", MOST_TRIANGLES)
    return _packed(session, request, "mesh", min(most, MOST_TRIANGLES))


def _packed(session: Session, request: Request, kind: str, most: int) -> Response:
    content = session.packed(_key(request), kind, most, _percent(request))
    return Response(content, media_type="application/octet-stream", headers=FOREVER)


def _percent(request: Request) -> int:
    """Return the least confidence of pixels to show, in percent."""
    return min(number(request, "confidence", 0), 100)


def _look(request: Request) -> Look:
    """Return how a layer is to look: what is hidden, and in which colours."""
    colours = request.query_params.get("colours", COLOUR_MAPS[0])
    if colours not in COLOUR_MAPS:
        raise InputError(f"colours: expected one of {', '.join(COLOUR_MAPS)}, got {colours[:30]!r}")
    return Look(_percent(request), colours)


def _export(session: Session, request: Request) -> Response:
    """Answer with a file to save; several files are packed into one archive."""
    name = str(request.path_params["name"])
    files = session.export(_key(request), name, _percent(request))
    content = files[name]
    if len(files) > 1:
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for part, data in files.items():
                archive.writestr(part, data)
        name, content = f"{name.rpartition('.')[0]}_obj.zip", stream.getvalue()
    headers = {"content-disposition": f'attachment; filename="{name}"', **NEVER}
    return Response(content, media_type="application/octet-stream", headers=headers)


async def _run(session: Session, request: Request) -> Response:
    changes = await _body(request)
    replace = request.query_params.get("replace") == "true"
    if not await run_in_threadpool(session.run, changes, replace=replace):
        return problem_response(409, "a run is under way; cancel it first")
    return json_response(session.state(), 202)


async def _cancel(session: Session, request: Request) -> Response:
    run = number(request, "run", 0)
    session.cancel(run or None)
    return json_response(session.state(), 202)


async def _body(request: Request) -> dict[str, Any]:
    if not request.headers.get("content-type", "").startswith("application/json"):
        raise InputError("body: expected application/json")
    data = b""
    async for part in request.stream():
        data += part
        if len(data) > LARGEST_BODY:
            raise InputError("body: expected a few settings, got more than 100 kB")
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        raise InputError("body: expected JSON") from None
    if not isinstance(found, dict):
        raise InputError("body: expected settings by name, a JSON object")
    return found
