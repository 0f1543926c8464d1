"""Pairs of videos, by their order, and of image sequences, by their names."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from slanted.errors import SlantedError
from slanted.live.partners import match_sequences
from slanted.live.views import FailedPair, LivePair, Split, make_pair, view_names
from slanted.stream.pace import Pace

if TYPE_CHECKING:
    from slanted.images import Image
    from slanted.live.grabber import Clock
    from slanted.live.sources import Source

USUAL_RATE = 30.0
"""Frames a second of files that do not say theirs."""
BLINK_SECONDS = 0.05
"""A wait for the right moment is at most this long at a time, so that it can be interrupted."""


class FilePairs:
    """Pairs of files: all of them, in order, no faster than their rate."""

    def __init__(
        self, sources: Sequence[Source], split: Split, rate: float | None, clock: Clock
    ) -> None:
        self.dropped = 0  # files wait
        self.names: Sequence[str] = [source.name for source in sources]
        self._sources, self._troubles = match_sequences(sources)
        self._split, self._clock = split, clock
        known = [source.rate for source in sources if source.rate]
        self._rate = rate or (min(known) if known else USUAL_RATE)
        self._pace = Pace()
        self._count = 0

    def next(self, patience: float) -> LivePair | FailedPair | None:
        """Return the next pair, or None at the end or if its time has not come."""
        now = self._clock()
        if not self._pace.is_due(now):
            wait_until_due(self._pace, now, patience)
            return None
        self._pace.took(0.0, self._rate)
        number, self._count = self._count, self._count + 1
        title, names = self._called(number)
        try:
            images = _read_all(self._sources)
        except SlantedError as error:
            return FailedPair(view_names(names), title, error)
        pictures = [image for image in images if image is not None]
        if len(pictures) < len(images):
            self._end(images)
            return None
        return make_pair(pictures, names, self._split, title, self._clock())

    def troubles(self) -> dict[str, str]:
        """Return which images have no partner, or which file ended too early."""
        return self._troubles

    @property
    def ended(self) -> bool:
        """Whether a file is at its end."""
        return self._count < 0

    def close(self) -> None:
        """Close the files."""
        for source in self._sources:
            source.close()

    def _called(self, number: int) -> tuple[str, list[str]]:
        """Return the name of a pair's result, and what messages call its images."""
        titles, names = [], []
        for source in self._sources:
            known = source.names
            if known is not None and number < len(known):
                titles.append(known[number])
                names.append(f"{source.name}, image {known[number]}")
            else:
                titles.append(f"{number:06d}")
                names.append(f"{source.name}, frame {number}")
        return titles[0], names

    def _end(self, images: Sequence[Image | None]) -> None:
        whole, self._count = self._count - 1, -1
        ended = {source.name: source.problem for source in self._sources if source.problem}
        longer = [name for name, image in zip(self.names, images, strict=True) if image is not None]
        if longer and not ended:
            shorter = next(name for name in self.names if name not in longer)
            ended = {shorter: f"{shorter}: ended after {whole} frames, but {longer[0]} has more"}
        self._troubles = self._troubles | ended


def wait_until_due(pace: Pace, now: float, patience: float) -> None:
    """Wait for the time of the next pair, but only for a blink."""
    time.sleep(max(0.0, min(pace.due - now, patience, BLINK_SECONDS)))


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
