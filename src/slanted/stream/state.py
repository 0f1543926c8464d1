"""What a stream knows beside its last result."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from slanted.output.result_fields import ResultData

KEPT = 100
"""Frames of which a record is kept."""


@dataclass(frozen=True)
class FrameRecord:
    """How a frame went."""

    seconds: float
    """Wall time."""
    confidence: float | None
    """Mean confidence of its pixels; None if there was no model of confidence."""
    matched: float
    """Share of its pixels that have a match."""
    fresh: str | None
    """Why it was estimated by itself; None if it followed the one before."""


@dataclass(frozen=True)
class StreamState:
    """How a stream goes: the numbers of its frames, the last one's record, and those before."""

    frames: int = 0
    """Frames that were estimated."""
    dropped: int = 0
    """Frames that were left out to hold the rate."""
    fresh: str | None = None
    """Why the last frame was estimated without the one before it; None if it was not."""
    seconds: float = 0.0
    """Wall time of the last frame."""
    history: tuple[FrameRecord, ...] = ()
    """The last hundred frames, the oldest first."""

    @property
    def confidence(self) -> float | None:
        """Mean confidence of the last frame; None before there is any."""
        return self.history[-1].confidence if self.history else None

    def after(self, record: FrameRecord) -> StreamState:
        """Return the state after one more frame."""
        return replace(
            self,
            frames=self.frames + 1,
            fresh=record.fresh,
            seconds=record.seconds,
            history=(*self.history, record)[-KEPT:],
        )


def frame_record(result: ResultData, seconds: float, fresh: str | None) -> FrameRecord:
    """Return the record of a frame."""
    sure = None if result.confidence is None else float(result.confidence.mean())
    return FrameRecord(seconds, sure, float(np.isfinite(result.matched).mean()), fresh)
