"""The pairs of a recording, read one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from slanted.ros.bags import RecordedMessage, Recording
from slanted.ros.pairing import Pairing, Stamps, Times, seconds


@dataclass(frozen=True)
class Frame:
    """A pair of a recording."""

    topics: tuple[str, str]
    stamp: int
    logged: int
    left: Any
    right: Any
    """The messages."""
    afresh: bool
    """Whether the clock was set back before it."""

    @property
    def names(self) -> tuple[str, str]:
        """What messages call the images."""
        at = seconds(self.stamp)
        return f"{self.topics[0]} at {at}", f"{self.topics[1]} at {at}"


class Frames:
    """The pairs of a recording, in the order of the left frames."""

    def __init__(self, recording: Recording, left: Stamps, right: Stamps, pairing: Pairing) -> None:
        self._recording, self._left, self._right, self._pairing = recording, left, right, pairing

    def __len__(self) -> int:
        return len(self._pairing.left)

    def __iter__(self) -> Iterator[Frame]:
        left, right, pairing = self._left, self._right, self._pairing
        # Each side is read by itself, so that nothing piles up if one was recorded late.
        left_at, right_at = self._reader(left, pairing.left), self._reader(right, pairing.right)
        runs = np.cumsum(np.isin(np.arange(len(left.stamp)), left.backwards))
        run = 0
        for one, other in zip(pairing.left.tolist(), pairing.right.tolist(), strict=True):
            afresh, run = bool(runs[one] != run), int(runs[one])
            yield Frame(
                (left.topic, right.topic),
                int(left.stamp[one]),
                int(left.logged[one]),
                left_at(one),
                right_at(other),
                afresh,
            )

    def _reader(self, stamps: Stamps, used: Times) -> Callable[[int], Any]:
        """Return a function from the place of a frame in the stamps to its message."""
        wanted = set(stamps.number[used].tolist())
        take = _in_order(self._recording.messages(stamps.topic), wanted)
        return lambda place: self._recording.decoded(stamps.topic, take(int(stamps.number[place])))


def _in_order(
    messages: Iterator[RecordedMessage], wanted: set[int]
) -> Callable[[int], RecordedMessage]:
    """Return a function that gives messages by number; those that come too early are kept."""
    kept: dict[int, RecordedMessage] = {}

    def take(number: int) -> RecordedMessage:
        while number not in kept:
            message = next(messages)
            if message.number in wanted:
                kept[message.number] = message
        return kept.pop(number)

    return take
