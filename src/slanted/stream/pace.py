"""Which frames of a camera to take, if it is faster than the computer or than is asked for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from slanted.errors import InputError
from slanted.settings.fields import shortened


def rate_from_user(rate: Any) -> float:
    """Return a rate in frames a second.

    Raises
    ------
    InputError
        If it is none.
    """
    try:
        found = math.nan if isinstance(rate, str | bytes) else float(rate)
    except (TypeError, ValueError, OverflowError):
        found = math.nan
    if not (math.isfinite(found) and found > 0):
        raise InputError(
            f"rate: expected frames a second above 0, got {shortened(rate)}; leave it out to take "
            "as many as the computer can"
        )
    return found


@dataclass
class Pace:
    """Says which frames to take; it reads no clock itself, and knows only the stamps of frames.

    Examples
    --------
    A camera of four frames a second, of which two are wanted:

    >>> pace, taken = Pace(), []
    >>> for stamp in (0, 0.25, 0.5, 0.75, 1):
    ...     if pace.is_due(stamp):
    ...         taken.append(stamp)
    ...         pace.took(0.1, rate=2)
    >>> taken
    [0, 0.5, 1]
    """

    stamp: float = -math.inf
    """Time of the last frame that was offered, in seconds."""
    free: float = -math.inf
    """Time at which the last frame that was taken will be done."""
    due: float = -math.inf
    """Time from which on the next frame is wanted."""

    def is_due(self, stamp: Any) -> bool:
        """Return whether to take a frame, and note its time.

        Raises
        ------
        InputError
            If `stamp` is no time, or is before the last one.
        """
        try:
            seconds = float(stamp)
        except (TypeError, ValueError):
            seconds = math.nan
        if not math.isfinite(seconds):
            raise InputError(
                f"stamp: expected the time of the pair in seconds, got {stamp!r}; give the "
                "camera's clock or time.monotonic()"
            )
        if seconds < self.stamp:
            raise InputError(
                f"stamp: expected a time from the last pair's {self.stamp:.6f} s on, got "
                f"{seconds:.6f}: the clock ran backwards; leave the pair out, or call forget() if "
                "the camera was started anew"
            )
        self.stamp = seconds
        return seconds >= max(self.free, self.due)

    def took(self, seconds: float, rate: float | None) -> None:
        """Note how long the frame took that was just taken; `rate` is that of frames to take."""
        self.free = self.stamp + seconds
        if rate is not None:
            # On average: a frame that comes a little late does not make the next one late, too.
            late = self.stamp - self.due
            self.due = (self.due if late < 1 / rate else self.stamp) + 1 / rate
