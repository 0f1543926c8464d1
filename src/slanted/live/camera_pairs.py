"""Pairs of live sources: of the newest images that are of one moment."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from slanted.live.file_pairs import USUAL_RATE, wait_until_due
from slanted.live.grabber import STALE_SECONDS, Grabber
from slanted.live.views import FailedPair, LivePair, Split, make_pair
from slanted.stream.pace import Pace

if TYPE_CHECKING:
    from slanted.live.grabber import Clock, Grabbed
    from slanted.live.sources import Source

MOST_SKEW_SECONDS = 0.1
"""However slow cameras are, images that came further apart than this are not of one moment, unless
the user says so."""


class CameraPairs:
    """Pairs of the newest images of live sources; what came in between is dropped."""

    def __init__(
        self,
        sources: Sequence[Source],
        split: Split,
        rate: float | None,
        most_skew: float | None,
        clock: Clock,
    ) -> None:
        self.names: Sequence[str] = [source.name for source in sources]
        self._asked_skew, self._split, self._rate = most_skew, split, rate
        self._changed = threading.Condition()
        self._grabbers = [Grabber(source, self._changed, clock) for source in sources]
        self._clock, self._pace = clock, Pace()
        self._taken = [-1] * len(sources)
        self._count = self.dropped = 0
        self._waiting_since: float | None = clock()

    def next(self, patience: float) -> LivePair | FailedPair | None:
        """Return a pair of images that are new, and of one moment if there are two sources."""
        if self._waiting_since is None:
            self._waiting_since = self._clock()
        with self._changed:
            found = self._changed.wait_for(self._find, patience)
        if not found:
            return None
        now = self._clock()
        if not self._pace.is_due(now):
            wait_until_due(self._pace, now, patience)
            return None
        self._pace.took(0.0, self._rate)
        self._waiting_since = None
        numbers = [grabbed.number for grabbed in found]
        # As many pairs were dropped as the slower source sent images in between.
        gaps = [number - last - 1 for number, last in zip(numbers, self._taken, strict=True)]
        self.dropped += min(gaps)
        self._taken = numbers
        number, self._count = self._count, self._count + 1
        stamps = [grabbed.stamp for grabbed in found]
        images = [grabbed.image for grabbed in found]
        return make_pair(
            images, self.names, self._split, f"{number:06d}", min(stamps), _skew(found)
        )

    def troubles(self) -> dict[str, str]:
        """Return which sources are lost, frozen, or out of step with the other."""
        told = {grabber.source.name: grabber.trouble() for grabber in self._grabbers}
        found = {name: said for name, said in told.items() if said}
        newest = [grabber.newest for grabber in self._grabbers if grabber.newest is not None]
        most, skew = self._most_skew(), _skew(newest)
        if found or skew <= most or self._waiting_since is None:
            return found
        if self._clock() - self._waiting_since < STALE_SECONDS:
            return {}
        late, early = self.names if newest[0].stamp < newest[1].stamp else self.names[::-1]
        said = (
            f"{late}: its images come {skew:.2f} s apart from those of {early}; waiting for two "
            f"within {most:.2g} s"
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

    def _find(self) -> tuple[Grabbed, ...]:
        """Return the newest images that are new and of one moment; () if there are none."""
        recent = [grabber.recent for grabber in self._grabbers]
        if not all(recent):
            return ()
        most = self._most_skew()
        pairs: list[tuple[Grabbed, ...]] = [(each,) for each in recent[0]]
        if len(recent) == 2:
            pairs = closest_pairs(*recent)
        for found in pairs[::-1]:
            numbers = [grabbed.number for grabbed in found]
            is_new = all(one > last for one, last in zip(numbers, self._taken, strict=True))
            if is_new and _skew(found) <= most:
                return found
        return ()

    def _most_skew(self) -> float:
        """Return the largest skew of a pair: within half a period an image has but one partner."""
        if self._asked_skew is not None:
            return self._asked_skew
        known = [each.period for each in self._grabbers if each.period is not None]
        return min(min(known, default=1 / USUAL_RATE) / 2, MOST_SKEW_SECONDS)


def closest_pairs(left: Sequence[Grabbed], right: Sequence[Grabbed]) -> list[tuple[Grabbed, ...]]:
    """Return the pairs of images each of which came closest to the other, the oldest first.

    The newest images need not be one: when synchronised cameras have sent the left image of a
    moment and not yet the right one, the newest right image is that of the moment before.
    """
    return [
        (one, other)
        for one in left
        for other in right
        if _skew((one, other)) <= min(_skew((one, each)) for each in right)
        and _skew((one, other)) <= min(_skew((each, other)) for each in left)
    ]


def _skew(images: Sequence[Grabbed]) -> float:
    stamps = [image.stamp for image in images]
    return max(stamps) - min(stamps) if stamps else 0.0
