"""Connections that do nothing are closed, so that nobody can fill the server with them.

uvicorn ends a connection that is idle after an answer. Here, a client must also send a request in
time and take its answer, and there is a limit on the number of connections.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_CONNECTIONS = 128
"""A browser opens up to six, whatever the number of its tabs."""
REQUEST_SECONDS = 15.0
"""Time for a request from the first byte to the last, or from the connection on if none comes."""
READING_SECONDS = 60.0
"""Time in which a client must take something of its answer."""
LOOK_SECONDS = 1.0
"""Time between two looks at a connection."""


class Connection(H11Protocol):  # type: ignore[misc]
    """A connection to a client that must not keep the server waiting."""

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Take the connection, in the place of an idle one if there are too many."""
        super().connection_made(transport)
        self._waits_for, self._since = self._what_is_awaited(), self.loop.time()
        self._timer = self.loop.call_later(LOOK_SECONDS, self._look)
        self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._timer.cancel()
        super().connection_lost(exc)

    def _what_is_awaited(self) -> tuple[str, Any] | None:
        """Return what the client has to do next, or None if it waits for the server."""
        unsent = self.transport.get_write_buffer_size()
        if unsent:
            return "reading", unsent
        if self.cycle is None or self.cycle.response_complete:
            return "request", self.cycle
        return ("body", self.cycle) if self.cycle.more_body else None

    def _look(self) -> None:
        """Close the connection if the client has not moved for too long."""
        awaited, now = self._what_is_awaited(), self.loop.time()
        if awaited != self._waits_for:
            self._waits_for, self._since = awaited, now
        elif awaited is not None:
            limit = READING_SECONDS if awaited[0] == "reading" else REQUEST_SECONDS
            if now - self._since >= limit:
                self.transport.abort()
                return
        self._timer = self.loop.call_later(LOOK_SECONDS, self._look)

    def _make_room(self) -> None:
        """If there are too many, close the one that has been idle for longest."""
        alive = [one for one in self.connections if not one.transport.is_closing()]
        if len(alive) > MOST_CONNECTIONS:
            idle = [one for one in alive if (one._what_is_awaited() or "-")[0] == "request"]
            longest = min(idle, key=lambda one: one._since, default=self)
            longest.transport.abort()
