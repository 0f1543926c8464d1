"""Protection from other web pages: any page open on this machine can reach a server on it.

Another page may send requests here, or point its own name at 127.0.0.1 (DNS rebinding). So a
request is answered only if its Host header names this server and, if the browser says where the
request comes from, that is a page of this server.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
EVERY_ADDRESS = ("0.0.0.0", "::", "")
PROTECTION = (
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"frame-ancestors 'none'"),
)
"""Headers of all answers; the policy of the page itself contains the last of them too."""
FRIENDLY_SITES = ("same-origin", "none")
"""Values of Sec-Fetch-Site for requests by the page's own scripts, and for typed addresses."""


def allowed_hosts(host: str, port: int, others: Iterable[str] = ()) -> frozenset[str]:
    """Return the values of the Host header that name the server bound to `host` and `port`.

    `others` are further names of the server, with or without a port.
    """
    names = set(LOOPBACK)
    if host not in EVERY_ADDRESS:
        names.add(f"[{host}]" if ":" in host else host)
    hosts = {f"{name}:{port}" for name in names}
    if port == 80:
        hosts |= names
    for other in others:
        has_port = ":" in other.rpartition("]")[2]
        hosts |= {other} if has_port else {other, f"{other}:{port}"}
    return frozenset(name.lower() for name in hosts)


class Guard:
    """ASGI middleware that refuses requests of other pages; `hosts` is from `allowed_hosts`."""

    def __init__(self, app: App, hosts: frozenset[str]) -> None:
        self.app = app
        self.hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] == "http":
            send = _for_us_alone(send)
        problem = self.problem(scope)
        if problem is None:
            await self.app(scope, receive, send)
        else:
            await refuse(scope, send, problem)

    def problem(self, scope: Scope) -> str | None:
        """Return why a request is refused, or None."""
        headers = header_values(scope)
        host = headers.get("host", [])
        if len(host) != 1 or host[0].lower() not in self.hosts:
            return "this server does not go by that name; start it with --allow-host to add one"
        for origin in headers.get("origin", []):
            scheme, _, place = origin.partition("://")
            if scheme not in ("http", "https") or place.lower() not in self.hosts:
                return "requests of other pages are refused"
        for site in headers.get("sec-fetch-site", []):
            if site not in FRIENDLY_SITES and not _is_visit(scope, headers):
                return "requests of other pages are refused"
        return None


def header_values(scope: Scope) -> dict[str, list[str]]:
    """Return the values of each header of a request, by its name in lower case."""
    headers: dict[str, list[str]] = {}
    for name, value in scope.get("headers", ()):
        headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return headers


def _is_visit(scope: Scope, headers: dict[str, list[str]]) -> bool:
    """Return whether a user follows a link to the page itself, in a tab of its own."""
    mode, place = (headers.get(f"sec-fetch-{name}", [""]) for name in ("mode", "dest"))
    is_page = scope["method"] == "GET" and scope.get("path") == "/"
    return is_page and mode == ["navigate"] and place == ["document"]


def _for_us_alone(send: Send) -> Send:
    """Wrap `send` so that no other page may embed or frame the responses."""

    async def send_with_headers(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            headers = list(message.get("headers", ()))
            there = {name.lower() for name, _ in headers}
            headers += [pair for pair in PROTECTION if pair[0] not in there]
            message = {**message, "headers": headers}
        await send(message)

    return send_with_headers


async def refuse(scope: Scope, send: Send, problem: str) -> None:
    """Answer a request with why it is refused."""
    if scope["type"] != "http":
        await send({"type": "websocket.close", "code": 1008})
        return
    body = (problem + "\n").encode()
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
    ]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": body})
