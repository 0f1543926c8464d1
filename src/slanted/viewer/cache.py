"""A cache of what was made for frames, with limited memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class Cache(Generic[T]):
    """A cache of items made for frames; the least recently used are dropped first.

    Their sizes add up to at most `most`, though one item is always kept. By default each has size
    1.
    """

    def __init__(self, most: int, size: Callable[[T], int] = lambda thing: 1) -> None:
        self._most, self._size_of = most, size
        self._things: OrderedDict[tuple[str, str], T] = OrderedDict()
        self._making: dict[tuple[str, str], Lock] = {}
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._things)

    def get(self, frame: str, name: str, make: Callable[[], T]) -> T:
        """Return an item of a frame; make it if it is missing.

        The page asks for many tiles at once: of several calls for the same item, one makes it and
        the others wait; calls for other items go ahead.
        """
        key = (frame, name)
        with self._lock:
            if key in self._things:
                self._things.move_to_end(key)
                return self._things[key]
            turn = self._making.setdefault(key, Lock())
        with turn:
            with self._lock:
                if key in self._things:
                    return self._things[key]
            try:
                thing = make()
                self._keep(key, thing)
            finally:
                with self._lock:
                    self._making.pop(key, None)
            return thing

    def keep_only(self, frames: Collection[str]) -> None:
        """Drop what was made for all other frames."""
        with self._lock:
            for key in [key for key in self._things if key[0] not in frames]:
                del self._things[key]

    def _keep(self, key: tuple[str, str], thing: T) -> None:
        with self._lock:
            self._things[key] = thing
            self._things.move_to_end(key)
            while len(self._things) > 1 and self._size() > self._most:
                self._things.popitem(last=False)

    def _size(self) -> int:
        return sum(map(self._size_of, self._things.values()))
