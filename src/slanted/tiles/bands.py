"""Matching in bands of rows that overlap: the volume of costs is what takes most memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from slanted.errors import InputError
from slanted.matching import drop_impossible, run_matcher
from slanted.matching.census_sgm import BAND_BYTES, BYTES_A_CELL, OVERLAP
from slanted.threads import thread_limit
from slanted.tiles.terms import ask_each

if TYPE_CHECKING:
    from collections.abc import Iterator

    from slanted.batch.backends import Backend
    from slanted.matching import Confidence, Disparity, DisparityRange, Image
    from slanted.settings import MatchingSettings

LARGEST_WINDOW = 2
"""Bands are made so low only that the rows seen are at most this many times those answered for."""


@dataclass(frozen=True, eq=False)
class Band:
    """Rows of a pair to match, of which `above` at the top and `below` at the end are overlap."""

    left: Image
    right: Image
    above: int
    below: int
    searched: DisparityRange
    settings: MatchingSettings
    threads: int

    def match(self) -> tuple[Disparity, Confidence | None]:
        """Return the disparity and confidence of the rows that are not overlap."""
        with thread_limit(self.threads):
            found = run_matcher(self.left, self.right, self.searched, self.settings)
        rows = slice(self.above, len(self.left) - self.below)
        disparity, confidence = found
        return disparity[rows].copy(), None if confidence is None else confidence[rows].copy()


def match_in_bands(
    left: Image,
    right: Image,
    settings: MatchingSettings,
    searched: DisparityRange,
    *,
    pixels: int,
    backend: Backend,
    with_confidence: bool,
) -> tuple[Disparity, Confidence | None]:
    """Match an 8-bit pair band by band; see `slanted.matching.find_matches`.

    Parameters
    ----------
    left, right, settings, searched
        As there.
    pixels
        About how many a band has.
    backend
        Where bands are matched.
    with_confidence
        Whether the confidence is wanted.
    """
    bands = list(row_bands(left.shape[:2], pixels, len(searched)))
    disparity = np.empty(left.shape[:2], np.float32)
    confidence = np.empty(left.shape[:2], np.float32) if with_confidence else None

    def task(number: int) -> Band:
        core, seen = bands[number]
        above, below = core.start - seen.start, seen.stop - core.stop
        images = left[seen], right[seen]
        return Band(*images, above, below, searched, settings, backend.threads)

    for number, found in ask_each(backend, _match_band, task, len(bands)):
        core = bands[number][0]
        disparity[core] = found[0]
        if confidence is not None:
            if found[1] is None:
                raise InputError(
                    "model.confidence: expected a matcher that tells its confidence, such as "
                    "census, got one that does not; switch it off"
                )
            confidence[core] = found[1]
    return drop_impossible(disparity, confidence, settings)


def row_bands(
    size: tuple[int, int], pixels: int, disparities: int
) -> Iterator[tuple[slice, slice]]:
    """Yield the rows that each band answers for, and those that it sees."""
    height, width = size
    fits = BAND_BYTES // (width * disparities * BYTES_A_CELL) - 2 * OVERLAP
    least = 2 * OVERLAP // (LARGEST_WINDOW - 1)
    rows = max(min(pixels // width, fits), least)
    count = -(-height // rows)
    for k in range(count):
        first, last = height * k // count, height * (k + 1) // count
        yield slice(first, last), slice(max(first - OVERLAP, 0), min(last + OVERLAP, height))


def _match_band(band: Band) -> Any:
    return band.match()
