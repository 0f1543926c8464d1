"""`Stream`: the pipeline for pairs that follow each other."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from slanted.pipeline import estimate
from slanted.settings import Settings, SettingsLike, settings_from_user
from slanted.settings.given import names_arguments

if TYPE_CHECKING:
    from slanted.images.given import Channels, ImageLike
    from slanted.inference.previous_frame import PreviousFrame
    from slanted.io import Calibration
    from slanted.io.calibration_files import CalibrationLike
    from slanted.result import Result


@dataclass(frozen=True)
class StreamState:
    """What a stream knows beside its last result."""

    frames: int = 0
    """Frames that were estimated."""
    dropped: int = 0
    """Frames that were left out to hold the rate."""
    fresh: str | None = None
    """Why the last frame was estimated without the one before it; None if it was not."""
    seconds: float = 0.0
    """Wall time of the last frame."""


class Stream:
    """The pipeline for a video or a pair of cameras.

    A frame is estimated with what the last one told: its range of disparities and its planes. The
    first frame, and one after a cut or a change of size, is estimated as `slanted.estimate` does.

    Parameters
    ----------
    settings, calibration, preset, min_disparity, max_disparity, channels
        As for `slanted.estimate`.
    rate
        Frames a second that `offer` holds; by default it takes as many as it can.

    Examples
    --------
    >>> import slanted
    >>> from slanted.synthetic import make_video
    >>> stream = slanted.Stream(preset="fast", max_disparity=64)
    >>> for frame in make_video(96, 64, frames=2, seed=1):
    ...     result = stream(frame.left, frame.right)
    >>> stream.state.frames
    2
    """

    @names_arguments
    def __init__(
        self,
        settings: SettingsLike | None = None,
        calibration: CalibrationLike | None = None,
        *,
        preset: str | None = None,
        min_disparity: int | None = None,
        max_disparity: int | None = None,
        channels: Channels = "rgb",
        rate: float | None = None,
    ) -> None:
        ends = {"matching.min_disparity": min_disparity, "matching.max_disparity": max_disparity}
        self.settings: Settings = settings_from_user(settings, preset, ends)
        self.calibration: Calibration | CalibrationLike | None = calibration
        self.channels: Channels = channels
        self.rate = rate
        self.state = StreamState()
        self._before: PreviousFrame | None = None
        self._free_at = float("-inf")

    def __call__(
        self, left: ImageLike, right: ImageLike, *, names: tuple[str, str] = ("left", "right")
    ) -> Result:
        """Estimate the next pair; arguments are as for `slanted.estimate`."""
        start = time.perf_counter()
        result = estimate(
            left,
            right,
            self.settings,
            calibration=self.calibration,
            channels=self.channels,
            previous_frame=self._before,
            names=names,
        )
        fresh = "it is the first" if self._before is None else None
        self._before = result.previous_frame()
        state = replace(self.state, frames=self.state.frames + 1, fresh=fresh)
        self.state = replace(state, seconds=time.perf_counter() - start)
        return result

    def offer(
        self,
        left: ImageLike,
        right: ImageLike,
        stamp: float,
        *,
        names: tuple[str, str] = ("left", "right"),
    ) -> Result | None:
        """Estimate a pair unless it came, at `stamp` in seconds, before the last one was done.

        A dropped pair returns None.
        """
        if stamp < self._free_at:
            self.state = replace(self.state, dropped=self.state.dropped + 1)
            return None
        result = self(left, right, names=names)
        wait = 0.0 if self.rate is None else 1 / self.rate
        self._free_at = stamp + max(self.state.seconds, wait)
        return result

    def forget(self) -> None:
        """Estimate the next frame afresh, as after a cut."""
        self._before = None
