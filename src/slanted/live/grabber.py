"""The newest images of a live source, which a thread of its own takes and replaces."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from slanted.errors import first_line
from slanted.live.sources import without_password

if TYPE_CHECKING:
    from slanted.images import Image
    from slanted.live.sources import Source

RETRY_SECONDS = 0.5
"""Time between two attempts to bring back a source that is lost."""
STALE_SECONDS = 2.0
"""A source that gives nothing new for this long is told of."""
KEPT_IMAGES = 2
"""The newest image may have come before its partner, which the one before it already has."""
TIMED_IMAGES = 30
"""Images over which the period is measured."""

Clock = Callable[[], float]


@dataclass(frozen=True, eq=False)
class Grabbed:
    """An image of a source."""

    image: Image
    stamp: float
    """When it came, seconds of the clock."""
    number: int
    """How many came before it."""


class Grabber:
    """Takes images of a live source, on a thread, and keeps only the newest two.

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
        clock: Clock = time.monotonic,
    ) -> None:
        self.source = source
        self.recent: tuple[Grabbed, ...] = ()
        self.period: float | None = None
        self._changed, self._clock = changed, clock
        self._since = clock()  # when the newest image came, or when we began to wait
        self._stamps: deque[float] = deque(maxlen=TIMED_IMAGES)
        self._is_lost = self._repeats = False
        self._problem = ""
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, name="slanted-grab", daemon=True)
        self._thread.start()

    @property
    def newest(self) -> Grabbed | None:
        """The last image that came."""
        recent = self.recent
        return recent[-1] if recent else None

    def trouble(self) -> str:
        """Return what is wrong with the source now; "" if nothing is."""
        name = self.source.name
        if self._is_lost:
            why = f" ({self._problem})" if self._problem else ""
            return f"{name}: lost{why}; waiting for it"
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
            if not self._read() and not self._stop.is_set():
                self._wait_for_it()
        self.source.close()  # here, since it must not be closed while it is read

    def _read(self) -> bool:
        """Take an image; return whether there was one.

        Whatever goes wrong is kept for `trouble`: nobody would hear of it if it ended the thread.
        """
        try:
            image = self.source.read()
            if image is not None:
                self._keep(image)
        except Exception as error:
            self._problem = _said(error)
            return False
        self._problem = ""
        return image is not None

    def _reopen(self) -> bool:
        try:
            return self.source.reopen()
        except Exception as error:
            self._problem = _said(error)
            return False

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
            self.recent = (*self.recent, Grabbed(image, self._since, number))[-KEPT_IMAGES:]
            self._stamps.append(self._since)
            if len(self._stamps) > 1:
                # The mean: a network that holds images back and then sends many has the same one.
                self.period = (self._stamps[-1] - self._stamps[0]) / (len(self._stamps) - 1)
            self._changed.notify_all()

    def _wait_for_it(self) -> None:
        """Announce that the source is lost, and return when it is back or nobody wants it.

        It stays lost until it sends a picture, which one that is just plugged in may not do.
        """
        with self._changed:
            self._is_lost = True
            self._stamps.clear()  # the time without it is no period
            self._changed.notify_all()
        while not self._stop.wait(RETRY_SECONDS):
            if self._reopen():
                return


def _said(error: Exception) -> str:
    """Return what an error says, on one line, without a password that it may quote."""
    return without_password(first_line(error))
