"""The newest image of a live source, which a thread of its own takes and replaces."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from slanted.errors import SlantedError

if TYPE_CHECKING:
    from slanted.images import Image
    from slanted.live.sources import Source

RETRY_SECONDS = 0.5
"""Time between two attempts to bring back a source that is lost."""
STALE_SECONDS = 2.0
"""A source that gives nothing new for this long is told of."""


@dataclass(frozen=True, eq=False)
class Grabbed:
    """An image of a source."""

    image: Image
    stamp: float
    """When it came, seconds of the clock."""
    number: int
    """How many came before it."""


class Grabber:
    """Takes images of a live source, on a thread, and keeps only the newest.

    Parameters
    ----------
    source
        The source, which is read on that thread only.
    changed
        Notified when there is a new image, or the source is lost or back.
    clock
        Gives the time in seconds.
    """

    def __init__(
        self,
        source: Source,
        changed: threading.Condition,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.source = source
        self.newest: Grabbed | None = None
        self._changed, self._clock = changed, clock
        self._since = clock()  # when the newest image came, or when we began to wait
        self._is_lost = self._repeats = False
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, name="slanted-grab", daemon=True)
        self._thread.start()

    def trouble(self) -> str:
        """Return what is wrong with the source now; "" if nothing is."""
        name = self.source.name
        if self._is_lost:
            return f"{name}: lost; waiting for it"
        silent = self._clock() - self._since
        if silent < STALE_SECONDS:
            return ""
        what = "has shown the same picture" if self._repeats else "has sent no picture"
        return f"{name}: {what} for {silent:.0f} s; waiting for a new one"

    def close(self) -> None:
        """Stop; the thread ends when the source lets go of it."""
        self._stop.set()
        self._thread.join(STALE_SECONDS)

    def _work(self) -> None:
        while not self._stop.is_set():
            image = self._read()
            if image is not None:
                self._keep(image)
            elif not self._stop.is_set():
                self._wait_for_it()
        self.source.close()  # here, since it must not be closed while it is read

    def _read(self) -> Image | None:
        try:
            return self.source.read()
        except SlantedError:
            return None

    def _keep(self, image: Image) -> None:
        before = self.newest
        # Noise makes every picture of a real camera another one: equal ones are one picture.
        self._repeats = (
            before is not None and not self._is_lost and np.array_equal(before.image, image)
        )
        if self._repeats:
            return
        with self._changed:
            self._is_lost, self._since = False, self._clock()
            number = 0 if before is None else before.number + 1
            self.newest = Grabbed(image, self._since, number)
            self._changed.notify_all()

    def _wait_for_it(self) -> None:
        """Announce that the source is lost, and return when it is back or nobody wants it.

        It stays lost until it sends a picture, which one that is just plugged in may not do.
        """
        with self._changed:
            self._is_lost = True
            self._changed.notify_all()
        while not self._stop.wait(RETRY_SECONDS):
            if self.source.reopen():
                return
