"""A session: pairs are taken, rectified, estimated, published and recorded, one after another."""

from __future__ import annotations

import re
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slanted.batch.work import collected_warnings
from slanted.errors import InputError, SlantedError
from slanted.images.checks import size_text
from slanted.images.rectify import Rectifier
from slanted.live.views import FailedPair
from slanted.output.pictures import disparity_scale
from slanted.stream.stream import Stream

if TYPE_CHECKING:
    from slanted.batch.live_results import LiveResults
    from slanted.images import Image
    from slanted.io import Calibration
    from slanted.live.pairs import Pairs
    from slanted.live.views import LivePair
    from slanted.result import Result
    from slanted.settings import Settings

PATIENCE_SECONDS = 0.2
"""A wait for a pair is at most this long at a time, so that troubles are told in time."""
COUNTED_FRAMES = 20
"""Frames over which the rate is measured."""
SILENT_SECONDS = 2.0
"""Without a frame for this long, and for three usual ones, the rate is 0."""
STEADINESS = 0.7
"""Weight of the last frame's scale of disparities in that of the next, so that it is calm."""

CamerasOf = Callable[[tuple[int, int]], "Rectifier | Calibration"]
"""From the (height, width) of the first pair to its calibration, or to what rectifies it."""


@dataclass(frozen=True, eq=False)
class LiveFrame:
    """A pair that was estimated."""

    number: int
    """From 1."""
    result: Result
    latency: float
    """Seconds from when the pair came until its result was there."""
    scale: tuple[float, float]
    """Ends of the scale of disparities, which moves slowly."""
    warnings: tuple[str, ...]
    """What speaks against the result."""


@dataclass(frozen=True)
class LiveState:
    """How a session is doing."""

    frames: int
    """Pairs that were estimated."""
    failed: int
    """Pairs that could not be."""
    dropped: int
    """Pairs that came while another one was estimated."""
    rate: float
    """Results a second, lately."""
    latency: float
    """Seconds from a pair to its result, of the last one."""
    seconds: float
    """Time since the start."""
    troubles: tuple[str, ...]
    """What is wrong now, a sentence each."""
    ended: bool
    """Whether no more results will come."""

    @property
    def latency_frames(self) -> float:
        """The latency in frames, at the present rate."""
        return self.latency * self.rate


class LiveSession:
    """Estimates the pairs of sources on a thread of its own.

    Parameters
    ----------
    pairs
        From `slanted.live.pairs.pair_sources`; closed at the end.
    settings
        Settings of all pairs.
    cameras
        Called with the size of the first pair; None without a calibration.
    kept
        Gets all results.
    most
        Number of results after which it ends; None for no end.
    tell
        Called, on that thread, with sentences about sources that are lost or back, pairs that
        could not be estimated, and warnings, each of which is told once.
    """

    def __init__(
        self,
        pairs: Pairs,
        settings: Settings,
        cameras: CamerasOf | None = None,
        *,
        kept: LiveResults | None = None,
        most: int | None = None,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        self.name = " and ".join(pairs.names)
        self.newest: LiveFrame | None = None
        self.error: BaseException | None = None
        self._pairs, self._settings, self._cameras = pairs, settings, cameras
        self._kept, self._most = kept, most
        self._tell = tell or (lambda sentence: None)
        self._engine: _Engine | None = None
        self._failed = 0
        self._failure: SlantedError | None = None
        self._troubles: dict[str, str] = {}
        self._told: set[str] = set()
        self._finished: deque[float] = deque(maxlen=COUNTED_FRAMES)
        self._began = time.monotonic()
        self._stop = threading.Event()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, name="slanted-live", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End after the pair that is being estimated, and wait for that."""
        self._stop.set()
        self._thread.join()

    def wait(self, seconds: float) -> bool:
        """Wait for the end, but no longer than so many seconds; return whether it has ended."""
        return self._done.wait(seconds)

    def check(self) -> None:
        """Raise what ended the session, if it was an error, or why not a single pair succeeded."""
        if self.error is not None:
            raise self.error
        if self.newest is None and self._failure is not None:
            raise self._failure
        if self.newest is None and self._pairs.ended:
            raise InputError(f"{self.name}: expected at least one pair of images, got none")

    def state(self) -> LiveState:
        """Return how the session is doing."""
        frame = self.newest
        troubles = list(self._troubles.values())
        if self._failure is not None:
            troubles.append(str(self._failure))
        return LiveState(
            frames=0 if frame is None else frame.number,
            failed=self._failed,
            dropped=self._pairs.dropped,
            rate=self._rate(),
            latency=0.0 if frame is None else frame.latency,
            seconds=time.monotonic() - self._began,
            troubles=tuple(troubles),
            ended=self._done.is_set(),
        )

    def _run(self) -> None:
        try:
            while not (self._stop.is_set() or self._pairs.ended or self._is_enough()):
                self._step()
            self._watch_sources()
        except BaseException as error:  # the thread that started this one raises it again
            self.error = error
        finally:
            self._pairs.close()
            self._done.set()

    def _is_enough(self) -> bool:
        return self._most is not None and self.state().frames >= self._most

    def _step(self) -> None:
        self._watch_sources()
        pair = self._pairs.next(PATIENCE_SECONDS)
        if pair is None:
            return
        if isinstance(pair, FailedPair):
            self._fail(pair, pair.error)
            return
        engine = self._engine_for(pair.left)
        try:
            with collected_warnings() as warnings:
                result = engine.estimate(pair)
        except SlantedError as error:
            self._fail(pair, error)
            return
        self._publish(pair, result, tuple(warnings))
        if self._kept is not None:
            seconds = engine.stream.state.seconds
            self._kept.keep(pair.title, result, pair.names, seconds, warnings)

    def _engine_for(self, image: Image) -> _Engine:
        """Return what estimates images of this size.

        The calibration is of the first pair's size; without one, a new size is a new stream.
        """
        size = image.shape[0], image.shape[1]
        engine = self._engine
        if engine is None or (engine.size != size and self._cameras is None):
            engine = self._engine = _make_engine(size, self._settings, self._cameras)
        return engine

    def _publish(self, pair: LivePair, result: Result, warnings: tuple[str, ...]) -> None:
        now = time.monotonic()
        before, scale = self.newest, disparity_scale(result.disparity)
        if before is not None and before.result.disparity.shape == result.disparity.shape:
            low, high = (
                STEADINESS * old + (1 - STEADINESS) * new
                for old, new in zip(before.scale, scale, strict=True)
            )
            scale = low, high
        number = 1 if before is None else before.number + 1
        self._finished.append(now)
        self._failure = None
        self.newest = LiveFrame(number, result, now - pair.stamp, scale, warnings)
        for warning in warnings:
            self._tell_once(f"warning: {warning}")

    def _fail(self, pair: LivePair | FailedPair, error: SlantedError) -> None:
        self._failed += 1
        self._failure = error
        self._tell_once(str(error))
        if self._kept is not None:
            self._kept.fail(pair.title, pair.names, error)

    def _tell_once(self, sentence: str) -> None:
        """Tell a sentence unless it differs from one that was told in its numbers only."""
        kind = re.sub(r"\d[\d.,]*", "#", sentence)
        if kind not in self._told:
            self._told.add(kind)
            self._tell(sentence)

    def _watch_sources(self) -> None:
        """Tell which sources are lost or back since the last look."""
        found = self._pairs.troubles()
        for source, said in found.items():
            if source not in self._troubles:
                self._tell(said)
        back = [source for source in self._troubles if source not in found]
        self._troubles = found
        for source in back:
            self._tell(f"{source}: back")
            if self._engine is not None:
                self._engine.stream.forget()  # the scene may be another one by now

    def _rate(self) -> float:
        times = list(self._finished)
        if len(times) < 2:
            return 0.0
        usual = (times[-1] - times[0]) / (len(times) - 1)
        silent = time.monotonic() - times[-1]
        is_silent = not self._done.is_set() and silent > max(SILENT_SECONDS, 3 * usual)
        return 0.0 if is_silent or usual <= 0 else 1 / usual


@dataclass(frozen=True, eq=False)
class _Engine:
    """What estimates pairs of one size."""

    size: tuple[int, int]
    stream: Stream
    rectify: Rectifier | None

    def estimate(self, pair: LivePair) -> Result:
        left, right = pair.left, pair.right
        if self.rectify is not None:
            left, right = self.rectify(left, right, pair.names)
        elif left.shape[:2] != self.size:
            height, width = self.size
            raise InputError(
                f"{pair.names[0]}: expected images of {width}×{height} pixels, which the "
                f"calibration was given for, got {size_text(left)}"
            )
        return self.stream(left, right, names=pair.names)


def _make_engine(size: tuple[int, int], settings: Settings, cameras: CamerasOf | None) -> _Engine:
    found = None if cameras is None else cameras(size)
    if isinstance(found, Rectifier):
        return _Engine(size, Stream(settings, found.calibration), found)
    return _Engine(size, Stream(settings, found), None)
