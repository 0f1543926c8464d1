"""Which frames of two cameras belong together, by their stamps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slanted.errors import plural

Times = NDArray[np.int64]
"""Nanoseconds."""


@dataclass(frozen=True, eq=False)
class Stamps:
    """When the messages of a topic were taken and recorded, in the order of the recording."""

    topic: str
    number: Times
    """(n,) place of each message among those of the topic; damaged ones are missing."""
    stamp: Times
    """(n,) when each was taken, by its header."""
    logged: Times
    """(n,) when each was recorded."""
    unreadable: int = 0
    """Messages that are damaged."""
    problem: str = ""
    """Why the recording could not be read to its end; empty if it could."""

    @property
    def backwards(self) -> Times:
        """The messages, as places in these arrays, that were taken before the one before them."""
        return np.flatnonzero(np.diff(self.stamp) < 0) + 1

    @property
    def period(self) -> int:
        """The usual time between two frames, nanoseconds; 0 if there are no two."""
        steps = np.diff(np.unique(self.stamp))
        return int(np.median(steps)) if len(steps) else 0


@dataclass(frozen=True, eq=False)
class Pairing:
    """The pairs of two cameras."""

    left: Times
    right: Times
    """(n,) places of the two frames of each pair in the arrays of their `Stamps`."""
    limit: int
    """Stamps of a pair differ by less than this, or are equal; nanoseconds."""
    largest_difference: int
    """The largest difference of the stamps of a pair, nanoseconds."""
    nearest: int | None
    """The smallest difference of any two stamps of the cameras; None if one has no frames."""


def pair_by_stamp(left: Stamps, right: Stamps) -> Pairing:
    """Pair the frames that are each other's nearest in time and less than half a period apart.

    Frames with equal stamps are each other's nearest. A clock that was set back gives the same
    stamps again; then the frames that were recorded nearest to each other belong together.

    Examples
    --------
    >>> import numpy as np
    >>> def at(topic, *milliseconds):
    ...     stamps = np.array(milliseconds) * 10**6
    ...     return Stamps(topic, np.arange(len(stamps)), stamps, stamps)
    >>> found = pair_by_stamp(at("/left", 0, 100, 200), at("/right", 100, 203, 290))
    >>> found.left.tolist(), found.right.tolist(), found.largest_difference
    ([1, 2], [0, 1], 3000000)
    """
    # The faster camera's, or two frames of it could belong to one of the other's.
    limit = min((each.period for each in (left, right) if each.period), default=0) // 2
    if not (len(left.stamp) and len(right.stamp)):
        none = np.empty(0, np.int64)
        return Pairing(none, none, limit, 0, None)
    partner, back = _nearest(left, right), _nearest(right, left)
    ours = np.arange(len(partner))
    apart = np.abs(right.stamp[partner] - left.stamp)
    fits = (back[partner] == ours) & ((apart < limit) | (apart == 0))
    largest = int(apart[fits].max(initial=0))
    return Pairing(ours[fits], partner[fits], limit, largest, int(apart.min()))


def _nearest(ours: Stamps, theirs: Stamps) -> Times:
    """Return for each of our frames the nearest of theirs, by stamp and then by recording."""
    order = np.lexsort((theirs.logged, theirs.stamp))
    stamps, logged = theirs.stamp[order], theirs.logged[order]
    last = len(order) - 1
    # The nearest stamps are the last one before ours and the first one after.
    after = stamps[np.minimum(np.searchsorted(stamps, ours.stamp), last)]
    before = stamps[np.maximum(np.searchsorted(stamps, ours.stamp, "right") - 1, 0)]
    nearest = np.where(np.abs(after - ours.stamp) < np.abs(ours.stamp - before), after, before)
    first, end = np.searchsorted(stamps, nearest), np.searchsorted(stamps, nearest, "right")
    best = first.copy()
    for place in np.flatnonzero(end - first > 1):  # a stamp that came more than once
        among = logged[first[place] : end[place]]
        best[place] += np.argmin(np.abs(among - ours.logged[place]))
    return np.asarray(order[best], np.int64)


def remarks(left: Stamps, right: Stamps, pairing: Pairing) -> list[str]:
    """Return a sentence on each thing that is not as it should be in a recording of a pair."""
    said = []
    for stamps, used in ((left, pairing.left), (right, pairing.right)):
        alone = len(stamps.stamp) - len(used)
        if alone:
            said.append(
                f"{stamps.topic}: {alone} of {plural(len(stamps.stamp), 'frame')} had no partner "
                f"within {short_time(pairing.limit)}"
            )
        if stamps.unreadable:
            messages = plural(stamps.unreadable, "message")
            said.append(f"{stamps.topic}: {messages} could not be read and had to be left out")
        if len(stamps.backwards):
            place, times = stamps.backwards[0], plural(len(stamps.backwards), "time")
            said.append(
                f"{stamps.topic}: the clock runs backwards {times}, "
                f"first from {seconds(stamps.stamp[place - 1])} to {seconds(stamps.stamp[place])} "
                "s; the stream begins afresh there"
            )
    if pairing.largest_difference:
        said.append(
            f"{right.topic}: frames were taken up to {short_time(pairing.largest_difference)} "
            "off those of the left camera, so that what moves is wrong; synchronise the cameras"
        )
    said += dict.fromkeys(each.problem for each in (left, right) if each.problem)
    return said


def seconds(nanoseconds: int | np.int64) -> str:
    """Return a time as text, to the nanosecond; floats would lose some."""
    whole, rest = divmod(int(nanoseconds), 10**9)
    return f"{whole}.{rest:09d}"


def short_time(nanoseconds: int) -> str:
    """Return a length of time as text, in milliseconds or seconds."""
    milliseconds = nanoseconds / 1e6
    return f"{milliseconds:.3g} ms" if milliseconds < 1000 else f"{milliseconds / 1000:.1f} s"
