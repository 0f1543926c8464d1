"""Pairs of images of one moment: of files by their names or order, of cameras the newest."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from slanted.errors import InputError
from slanted.live.camera_pairs import CameraPairs
from slanted.live.file_pairs import FilePairs

if TYPE_CHECKING:
    from slanted.live.grabber import Clock
    from slanted.live.sources import Source
    from slanted.live.views import FailedPair, LivePair, Split


class Pairs(Protocol):
    """Gives pairs of one or two sources."""

    names: Sequence[str]
    """Names of the sources."""
    dropped: int
    """Pairs that came and were not asked for in time."""

    def next(self, patience: float) -> LivePair | FailedPair | None:
        """Return the next pair; None if there is none within so many seconds, or at the end."""
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
    most_skew: float | None = None,
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
        Seconds between two cameras' images above which they are not a pair; None for half the time
        between the images of the faster camera.
    clock
        Gives the time in seconds.

    Raises
    ------
    InputError
        If one source is live and the other a file, or no names of two image sequences agree.
    """
    kinds = {source.is_live for source in sources}
    if len(kinds) > 1:
        file = next(source for source in sources if not source.is_live)
        raise InputError(
            f"{file.name}: expected two files or two cameras, got one of each, whose images are "
            "not of one moment; record the camera first"
        )
    if kinds == {True}:
        return CameraPairs(sources, split, rate, most_skew, clock)
    return FilePairs(sources, split, rate, clock)
