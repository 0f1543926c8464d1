"""Pairs of images of one moment: by their number in files, the newest of cameras."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from slanted.errors import InputError, SlantedError
from slanted.images.checks import size_text
from slanted.live.grabber import STALE_SECONDS, Grabber

if TYPE_CHECKING:
    from slanted.images import Image
    from slanted.live.sources import Source

Split = Literal["side-by-side", "top-bottom"]
"""How the two views lie in the images of a single source."""
MOST_SKEW_SECONDS = 0.1
"""Two cameras' images that came further apart than this are not of one moment."""
USUAL_RATE = 30.0
"""Frames a second of files that do not say theirs."""
BLINK_SECONDS = 0.05
"""A wait for the right moment is at most this long at a time, so that it can be interrupted."""

Clock = Callable[[], float]


@dataclass(frozen=True, eq=False)
class LivePair:
    """Two images of one moment."""

    left: Image
    right: Image
    names: tuple[str, str]
    """What messages call them."""
    title: str
    """The name of its result."""
    stamp: float
    """When the older of them came, seconds of the clock."""
    skew: float = 0.0
    """Seconds between the two."""


class Pairs(Protocol):
    """Gives pairs of one or two sources."""

    names: Sequence[str]
    """Names of the sources."""
    dropped: int
    """Pairs that came and were not asked for in time."""

    def next(self, patience: float) -> LivePair | None:
        """Return the next pair; None if there is none within so many seconds, or at the end.

        Raises
        ------
        SlantedError
            If the next pair is none; the one after it may be.
        """
        ...

    def troubles(self) -> dict[str, str]:
        """Return what is wrong with sources now: a sentence each, by their names."""
        ...

    @property
    def ended(self) -> bool:
        """Whether no more pairs will come."""
        ...

    def close(self) -> None:
        """Give up the sources."""
        ...


def pair_sources(
    sources: Sequence[Source],
    split: Split = "side-by-side",
    rate: float | None = None,
    most_skew: float = MOST_SKEW_SECONDS,
    clock: Clock = time.monotonic,
) -> Pairs:
    """Return the pairs of a left and a right source, or of one that has both views.

    Parameters
    ----------
    sources
        One or two.
    split
        How the views lie in the images of a single source.
    rate
        Most pairs a second. Files are played at this rate, by default at their own.
    most_skew
        Seconds between two cameras' images above which they are not a pair.
    clock
        Gives the time in seconds.

    Raises
    ------
    InputError
        If one source is live and the other a file.
    """
    kinds = {source.is_live for source in sources}
    if len(kinds) > 1:
        file = next(source for source in sources if not source.is_live)
        raise InputError(
            f"{file.name}: expected two files or two cameras, got one of each, whose images are "
            "not of one moment; record the camera first"
        )
    if kinds == {True}:
        return NewestPairs(sources, split, rate, most_skew, clock)
    return FilePairs(sources, split, rate, clock)


class _Pace:
    """Lets a pair pass every so many seconds; one that was late does not make the next hurry."""

    def __init__(self, interval: float, clock: Clock) -> None:
        self._interval, self._clock = interval, clock
        self._due = clock()

    def is_early(self, patience: float) -> bool:
        """Return whether it is too early for the next pair, after a short wait if it is."""
        early = self._due - self._clock()
        if early > 0:
            time.sleep(min(early, patience, BLINK_SECONDS))
        return early > 0

    def passed(self) -> None:
        """Begin the time of the next pair."""
        late = self._clock() - self._due
        self._due += self._interval if late < self._interval else late + self._interval


class FilePairs:
    """Pairs of files: all of them, in order, no faster than their rate."""

    def __init__(
        self, sources: Sequence[Source], split: Split, rate: float | None, clock: Clock
    ) -> None:
        self.dropped = 0  # files wait
        self.names: Sequence[str] = [source.name for source in sources]
        self._sources, self._split, self._clock = sources, split, clock
        known = [source.rate for source in sources if source.rate]
        self._pace = _Pace(1 / (rate or (min(known) if known else USUAL_RATE)), clock)
        self._count = 0
        self._ended: dict[str, str] = {}

    def next(self, patience: float) -> LivePair | None:
        """Return the next pair, or None at the end or if its time has not come."""
        if self._pace.is_early(patience):
            return None
        self._pace.passed()
        number, self._count = self._count, self._count + 1
        images = _read_all(self._sources)
        if any(image is None for image in images):
            self._end(images)
            return None
        known = self._sources[0].names
        title = f"{number:06d}" if known is None else known[number]
        pictures = [image for image in images if image is not None]
        names = [f"{name}, frame {number}" for name in self.names]
        return _pair(pictures, names, self._split, title, self._clock())

    def troubles(self) -> dict[str, str]:
        """Return which file ended too early, if one did."""
        return self._ended

    @property
    def ended(self) -> bool:
        """Whether a file is at its end."""
        return self._count < 0

    def close(self) -> None:
        """Close the files."""
        for source in self._sources:
            source.close()

    def _end(self, images: Sequence[Image | None]) -> None:
        whole, self._count = self._count - 1, -1
        self._ended = {source.name: source.problem for source in self._sources if source.problem}
        longer = [name for name, image in zip(self.names, images, strict=True) if image is not None]
        if longer and not self._ended:
            shorter = next(name for name in self.names if name not in longer)
            said = f"{shorter}: ended after {whole} frames, but {longer[0]} has more"
            self._ended = {shorter: said}


class NewestPairs:
    """Pairs of the newest images of live sources; what came in between is dropped."""

    def __init__(
        self,
        sources: Sequence[Source],
        split: Split,
        rate: float | None,
        most_skew: float,
        clock: Clock,
    ) -> None:
        self.names: Sequence[str] = [source.name for source in sources]
        self._most_skew = most_skew
        self._changed = threading.Condition()
        self._grabbers = [Grabber(source, self._changed, clock) for source in sources]
        self._split, self._clock = split, clock
        self._pace = _Pace(0.0 if rate is None else 1 / rate, clock)
        self._taken = [-1] * len(sources)
        self._count = self.dropped = 0
        self._late_since = clock()

    def next(self, patience: float) -> LivePair | None:
        """Return a pair of images that are new, and of one moment if there are two sources."""
        if self._pace.is_early(patience):
            return None
        with self._changed:
            if not self._is_there():
                self._changed.wait(patience)
            if not self._is_there():
                return None
            newest = [grabber.newest for grabber in self._grabbers if grabber.newest is not None]
        self._late_since = self._clock()
        self._pace.passed()
        numbers = [grabbed.number for grabbed in newest]
        # As many pairs were dropped as the slower source sent images in between.
        gaps = [number - last - 1 for number, last in zip(numbers, self._taken, strict=True)]
        self.dropped += min(gaps)
        self._taken = numbers
        number, self._count = self._count, self._count + 1
        stamps = [grabbed.stamp for grabbed in newest]
        skew = max(stamps) - min(stamps)
        images = [grabbed.image for grabbed in newest]
        return _pair(images, self.names, self._split, f"{number:06d}", min(stamps), skew)

    def troubles(self) -> dict[str, str]:
        """Return which sources are lost, frozen, or out of step with the other."""
        told = {grabber.source.name: grabber.trouble() for grabber in self._grabbers}
        found = {name: said for name, said in told.items() if said}
        if found or self._skew() <= self._most_skew:
            return found
        if self._clock() - self._late_since < STALE_SECONDS:
            return {}
        stamps = [grabber.newest.stamp for grabber in self._grabbers if grabber.newest is not None]
        late, early = self.names if stamps[0] < stamps[1] else self.names[::-1]
        said = (
            f"{late}: its images come {self._skew():.2f} s apart from those of {early}; waiting "
            f"for two within {self._most_skew:g} s"
        )
        return {late: said}

    @property
    def ended(self) -> bool:
        """Live sources do not end; they are waited for."""
        return False

    def close(self) -> None:
        """Stop the threads and release the cameras."""
        for grabber in self._grabbers:
            grabber.close()

    def _is_there(self) -> bool:
        """Return whether all newest images are new and of one moment."""
        for grabber, taken in zip(self._grabbers, self._taken, strict=True):
            if grabber.newest is None or grabber.newest.number == taken:
                return False
        return self._skew() <= self._most_skew

    def _skew(self) -> float:
        stamps = [each.newest.stamp for each in self._grabbers if each.newest is not None]
        return max(stamps) - min(stamps) if len(stamps) > 1 else 0.0


def _read_all(sources: Sequence[Source]) -> list[Image | None]:
    """Return the next image of each; if one cannot be read, the others go on all the same."""
    images: list[Image | None] = []
    problems: list[SlantedError] = []
    for source in sources:
        try:
            images.append(source.read())
        except SlantedError as error:
            problems.append(error)
    if problems:
        raise problems[0]
    return images


def _pair(
    images: Sequence[Image],
    names: Sequence[str],
    split: Split,
    title: str,
    stamp: float,
    skew: float = 0.0,
) -> LivePair:
    if len(images) == 2:
        return LivePair(images[0], images[1], (names[0], names[1]), title, stamp, skew)
    left, right = split_views(images[0], split, names[0])
    return LivePair(left, right, (f"{names[0]}, left", f"{names[0]}, right"), title, stamp)


def split_views(image: Image, split: Split, name: str = "image") -> tuple[Image, Image]:
    """Return the left and the right view of an image that has both.

    Raises
    ------
    InputError
        If they cannot be of one size.

    Examples
    --------
    >>> import numpy as np
    >>> left, right = split_views(np.zeros((48, 128, 3), np.uint8), "side-by-side")
    >>> left.shape
    (48, 64, 3)
    """
    axis = 1 if split == "side-by-side" else 0
    length = image.shape[axis]
    if length % 2:
        what = ("height", "width")[axis]
        raise InputError(
            f"{name}: expected two views {split}, so an even {what}, got {size_text(image)}; give "
            "two sources, or another --split"
        )
    half = length // 2
    return (image[:, :half], image[:, half:]) if axis else (image[:half], image[half:])
