"""`Stream`: the pipeline for pairs that follow each other."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from slanted.errors import SlantedError
from slanted.images.given import channels_from_user
from slanted.io.calibration_files import given_calibration
from slanted.pipeline import estimate
from slanted.settings import Settings, SettingsLike, settings_from_user
from slanted.settings.given import names_arguments
from slanted.stages.pair_run import prepare
from slanted.stream.follow import UnlikeError, follow
from slanted.stream.last_frame import LastFrame
from slanted.stream.pace import Pace, rate_from_user
from slanted.stream.state import StreamState, frame_record

if TYPE_CHECKING:
    from slanted.images.given import Channels, ImageLike
    from slanted.io import Calibration
    from slanted.io.calibration_files import CalibrationLike
    from slanted.result import Result


class Stream:
    """The pipeline for a video or a pair of cameras.

    A frame is estimated with what the last one told: its range of disparities, its rectification,
    where things are and their planes. The first frame, and one after a cut or a change of size or
    cameras, is estimated as `slanted.estimate` does, to the byte. Results depend on the frames
    alone, not on time or threads.

    Parameters
    ----------
    settings, calibration, preset, min_disparity, max_disparity, channels
        As for `slanted.estimate`.
    rate
        Frames a second that `offer` takes at most; by default it takes as many as it can.

    Attributes
    ----------
    state
        A `slanted.stream.state.StreamState`: how many frames there were, and how sure they are.

    Examples
    --------
    >>> import slanted
    >>> from slanted.synthetic import make_video
    >>> stream = slanted.Stream(preset="fast", max_disparity=64)
    >>> for frame in make_video(96, 64, frames=2, max_disparity=20, seed=1):
    ...     result = stream(frame.left, frame.right)
    >>> stream.state.frames, stream.state.fresh
    (2, None)
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
        self.calibration = calibration
        self.channels: Channels = channels_from_user(channels)
        self.rate = None if rate is None else rate_from_user(rate)
        self.state = StreamState()
        self._last: LastFrame | None = None
        self._pace = Pace()

    @property
    def calibration(self) -> Calibration | None:
        """The cameras of the next frames; a file of them is read once, when it is set."""
        return self._calibration

    @calibration.setter
    def calibration(self, given: CalibrationLike | None) -> None:
        self._calibration = None if given is None else given_calibration(given)

    def __call__(
        self, left: ImageLike, right: ImageLike, *, names: tuple[str, str] = ("left", "right")
    ) -> Result:
        """Estimate the next pair.

        Arguments, errors and what is returned are those of `slanted.estimate`. After an error the
        next frame follows the last one that was estimated.
        """
        start = time.perf_counter()
        result, fresh = self._next(left, right, names)
        self._last = LastFrame.of(result)
        seconds = time.perf_counter() - start
        self.state = self.state.after(frame_record(result, seconds, fresh))
        return result

    def offer(
        self,
        left: ImageLike,
        right: ImageLike,
        stamp: float,
        *,
        names: tuple[str, str] = ("left", "right"),
    ) -> Result | None:
        """Estimate a pair unless it came too early: before the last one was done, or was due.

        Parameters
        ----------
        left, right, names
            As for `slanted.estimate`.
        stamp
            When the pair was taken, in seconds of any clock that runs forwards.

        Returns
        -------
        result
            None if the pair was dropped; ``state.dropped`` counts these.

        Raises
        ------
        slanted.errors.InputError
            If the stamp is no time, or is before the last one; or as for `slanted.estimate`.

        Examples
        --------
        >>> from slanted.synthetic import make_video
        >>> stream = Stream(preset="fast", max_disparity=64, rate=2)
        >>> for number, frame in enumerate(make_video(96, 64, frames=5, seed=1)):
        ...     result = stream.offer(frame.left, frame.right, stamp=60 + number / 4)
        >>> stream.state.frames + stream.state.dropped
        5
        """
        if not self._pace.is_due(stamp):
            self.state = replace(self.state, dropped=self.state.dropped + 1)
            return None
        result = self(left, right, names=names)
        self._pace.took(self.state.seconds, self.rate)
        return result

    def forget(self) -> None:
        """Estimate the next frame by itself, as after a cut; its clock may be another."""
        self._last, self._pace = None, Pace()

    def resume(self, last: LastFrame | None) -> None:
        """Let the next frame follow one that another stream has estimated."""
        self._last = last

    def _next(
        self, left: ImageLike, right: ImageLike, names: tuple[str, str]
    ) -> tuple[Result, str | None]:
        """Return the result of a frame, and why it was estimated by itself."""
        fresh = "it is the first"
        if self._last is not None:
            followed = self._followed(left, right, names, self._last)
            if not isinstance(followed, str):
                return followed, None
            fresh = followed
        calibration, channels = self.calibration, self.channels
        alone = estimate(
            left, right, self.settings, calibration=calibration, channels=channels, names=names
        )
        return alone, fresh

    def _followed(
        self, left: ImageLike, right: ImageLike, names: tuple[str, str], last: LastFrame
    ) -> Result | str:
        """Return the result of a frame that follows the last one, or why it does not."""
        cameras = self.calibration, self.channels
        with prepare(left, right, self.settings, None, names, None, *cameras) as run:
            try:
                return follow(run, last)
            except (UnlikeError, SlantedError) as reason:
                return str(reason)  # what is wrong with the pair itself, `estimate` will say
