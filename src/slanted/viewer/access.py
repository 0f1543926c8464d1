"""Who may use the server: those who know its token.

Every user of this machine can reach a server on 127.0.0.1, so its address alone must not open it.
The token is part of the address that `slanted view` prints. The page's own requests carry it as a
cookie, and scripts may send it as a header.
"""

from __future__ import annotations

import secrets
from urllib.parse import parse_qs

from slanted.viewer.guard import App, Receive, Scope, Send, header_values, refuse

COOKIE = "slanted-token"
PROBLEM = (
    "the token is missing or wrong: open the whole address that slanted view printed, or send the "
    "header Authorization: Bearer TOKEN"
)


class Keys:
    """The token of a server, random by default, and a key for the browser that it opens."""

    def __init__(self, token: str | None = None) -> None:
        self.token = secrets.token_urlsafe(32) if token is None else token
        self._once: str | None = None

    def make_single_use(self) -> str:
        """Return a new key that is accepted once.

        All users of the machine can read the address in the command line of a browser, for as long
        as it runs.
        """
        self._once = secrets.token_urlsafe(32)
        return self._once

    def fits(self, given: str) -> bool:
        """Return whether a text is the token or the key that is accepted once, which it uses up."""
        if _same(given, self.token):
            return True
        if self._once is None or not _same(given, self._once):
            return False
        self._once = None
        return True


class Access:
    """ASGI middleware that refuses requests without the token."""

    def __init__(self, app: App, keys: Keys) -> None:
        self.app = app
        self.keys = keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, refuse it, or turn the token in the page's address into a cookie."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        headers = header_values(scope)
        in_address = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [])
        # The headers first, so that a page that is loaded again does not use up the key.
        if not any(map(self.keys.fits, [*_sent_along(headers), *in_address])):
            await refuse(scope, send, PROBLEM)
        elif in_address and scope.get("path") == "/" and scope.get("method") == "GET":
            await _let_in(send, headers, self.keys.token)
        else:
            await self.app(scope, receive, send)


def _same(given: str, wanted: str) -> bool:
    """Compare in a time that does not tell how much of it is right."""
    return secrets.compare_digest(given.encode(errors="replace"), wanted.encode())


def _sent_along(headers: dict[str, list[str]]) -> list[str]:
    """Return the tokens in the headers of a request."""
    found = []
    for value in headers.get("authorization", []):
        scheme, _, text = value.partition(" ")
        if scheme.lower() in ("bearer", "token"):
            found.append(text.strip())
    for value in headers.get("cookie", []):
        pairs = (pair.strip().partition("=") for pair in value.split(";"))
        found += [text for name, _, text in pairs if name == _cookie_name(headers)]
    return found


def _cookie_name(headers: dict[str, list[str]]) -> str:
    """Return the name of the cookie, with the port: browsers share cookies between ports."""
    host = "".join(headers.get("host", []))
    port = host.rpartition("]")[2].rpartition(":")[2]
    return f"{COOKIE}-{port}" if port.isdecimal() else COOKIE


async def _let_in(send: Send, headers: dict[str, list[str]], token: str) -> None:
    """Keep the token as a cookie, and send the browser to the page's address without it."""
    cookie = f"{_cookie_name(headers)}={token}; Path=/; HttpOnly; SameSite=Strict"
    answer = [(b"set-cookie", cookie.encode()), (b"cache-control", b"no-store")]
    answer += [(b"content-length", b"0"), (b"referrer-policy", b"no-referrer")]
    if headers.get("sec-fetch-site") == ["cross-site"]:
        # A redirect would still count as a link of the other page, and such a request carries no
        # strict cookie; a refresh is a request of this server's own page.
        start = {"status": 200, "headers": [*answer, (b"refresh", b"0; url=./")]}
    else:
        start = {"status": 303, "headers": [*answer, (b"location", b"./")]}
    await send({"type": "http.response.start", **start})
    await send({"type": "http.response.body", "body": b""})
