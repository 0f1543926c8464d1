"""The newest frame, for a worker that cannot keep up with the cameras."""

from __future__ import annotations

import threading
from typing import Generic, TypeVar

T = TypeVar("T")


class Latest(Generic[T]):
    """A place for one frame: a newer one takes the place of one that nobody has fetched."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._frame: T | None = None
        self._closed = False
        self.dropped = 0
        """Frames that came and went while the worker was busy."""

    def put(self, frame: T) -> None:
        """Offer a frame."""
        with self._changed:
            self.dropped += self._frame is not None
            self._frame = frame
            self._changed.notify()

    def take(self) -> T | None:
        """Wait for a frame and return it; None after `close`."""
        with self._changed:
            self._changed.wait_for(lambda: self._frame is not None or self._closed)
            frame, self._frame = self._frame, None
            return None if self._closed else frame

    def close(self) -> None:
        """End the wait."""
        with self._changed:
            self._closed = True
            self._changed.notify()
