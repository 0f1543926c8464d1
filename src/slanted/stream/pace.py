"""Which frames of a camera to take, if it is faster than the computer or than is asked for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from slanted.errors import InputError


@dataclass
class Pace:
    """The clock of a camera."""

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
        """Note how long the frame took that was just taken."""
        self.free = self.stamp + seconds
        if rate is not None:
            # On average: a frame that comes a little late does not make the next one late, too.
            late = self.stamp - self.due
            self.due = (self.due if late < 1 / rate else self.stamp) + 1 / rate
