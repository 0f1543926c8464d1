"""The viewer's server: any request, without a network."""

from __future__ import annotations

import asyncio
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

from fuzz.target import Target
from fuzz.targets_results import result_folder

ANSWERS = (200, 202, 303, 400, 403, 404, 405, 409, 499)
TOKEN = b"fuzzed-token"


@cache
def _app() -> Any:
    import tempfile

    from slanted.result_folder import open_result
    from slanted.viewer.access import Access, Keys
    from slanted.viewer.app import make_app
    from slanted.viewer.guard import Guard, allowed_hosts
    from slanted.viewer.session import Session

    with tempfile.TemporaryDirectory() as folder:
        for name, data in result_folder().items():
            (Path(folder) / name).write_bytes(data)
        session = Session(open_result(Path(folder)), prefix="")
    session.run = lambda changes, replace=False: bool(session._settings) and not replace
    inner = Access(make_app(session), Keys(TOKEN.decode()))
    return Guard(inner, allowed_hosts("127.0.0.1", 80))


def read_as_request(folder: Path, data: bytes) -> None:
    """Send a request: a line of method and path, a line of headers, the body."""
    first, _, rest = data.partition(b"\n")
    second, _, body = rest.partition(b"\n")
    method, _, target = first.partition(b" ")
    path, _, query = target.partition(b"?")
    try:
        text = unquote_to_bytes(path).decode("utf-8")
    except UnicodeDecodeError:  # a server refuses such a line itself
        return
    pairs = [part.partition(b":") for part in second.split(b";") if b":" in part]
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method.decode("latin-1").upper() or "GET",
        "scheme": "http",
        "path": text if text.startswith("/") else "/" + text,
        "raw_path": path,
        "query_string": query,
        "headers": [(name.strip().lower(), value.strip()) for name, _, value in pairs],
        "server": ("127.0.0.1", 80),
        "client": ("127.0.0.1", 5000),
    }
    status, content = asyncio.run(_ask(scope, body))
    # 307 leads from a path that ends in a slash to the same without it.
    assert status in (*ANSWERS, 307), f"status {status} for {first!r}"
    assert b"root:" not in content
    # An address may spell the token in other ways, as %66uzzed-token.
    assert status == 403 or TOKEN in second or b"token=" in unquote_to_bytes(query)


async def _ask(scope: dict[str, Any], body: bytes) -> tuple[int, bytes]:
    sent: list[dict[str, Any]] = []
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> dict[str, Any]:
        if waiting:
            return waiting.pop()
        await asyncio.sleep(3600)
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await _app()(scope, receive, send)
    content = b"".join(message.get("body", b"") for message in sent)
    return sent[0]["status"], content


_HOST = b"\nHost: 127.0.0.1:80"
_HEADERS = _HOST + b"; Content-Type: application/json; Authorization: Bearer " + TOKEN + b"\n"
_PATHS = (
    *(b"/", b"/assets/main.js", b"/assets/..%2f..%2f..%2fetc/passwd", b"/api/state"),
    *(b"/api/frames/0", b"/api/frames/0/tiles/disparity/0/0/0", b"/api/frames/0/pixels/3/4"),
    *(b"/api/frames/0/textures/disparity", b"/api/frames/0/cloud?points=50&confidence=60"),
    *(
        b"/api/frames/0/tiles/confidence/0/0/0",
        b"/api/frames/0/tiles/disparity/0/0/0?confidence=50",
    ),
    *(b"/api/frames/0/mesh?triangles=50", b"/api/frames/0/exports/cloud.ply"),
)


def _seeds() -> list[bytes]:
    posts = [b"POST /api/run" + _HEADERS + b'{"seed": 3}', b"POST /api/cancel?run=1" + _HEADERS]
    visits = [b"GET /?token=" + TOKEN + _HOST + b"\n", b"GET /" + _HOST + b"\n"]
    visits.append(b"GET /" + _HOST + b"; Cookie: slanted-token-80=" + TOKEN + b"\n")
    return [b"GET " + path + _HEADERS for path in _PATHS] + posts + visits


VIEWER = (
    Target("viewer", read_as_request, _seeds,
           (b"..", b"%2e%2e", b"%00", b"Origin: http://evil", b"Host: evil", b"/", b"-1", b"?",
            b"?token=", b"Cookie: slanted-token-80=")),
)  # fmt: skip
