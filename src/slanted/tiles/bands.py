"""Matching in bands of rows that overlap: the volume of costs is what takes most memory.

Our own matcher does so by itself, and the bands are the same here: the result is, to the last bit,
what it finds alone. Here its bands may be matched by different workers. Other matchers are given
bands of the same kind, each as if it were an image.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from slanted.errors import InputError
from slanted.matching import run_matcher
from slanted.matching.census_sgm import bands, clean_up, match_rows
from slanted.matching.out_of_view import drop_impossible
from slanted.runtime.threads import thread_limit
from slanted.tiles.terms import ask_each

if TYPE_CHECKING:
    from slanted.images import Image
    from slanted.matching import DisparityRange
    from slanted.runtime.arrays import DisparityMap
    from slanted.runtime.workers import Backend
    from slanted.settings import MatchingSettings

OWN = "census"
"""The matcher whose clean-up can wait until all bands are there."""


@dataclass(frozen=True, eq=False)
class Band:
    """Rows of a pair to match, of which `above` at the top and `below` at the end are overlap."""

    large: ClassVar[bool] = True
    left: Image
    right: Image
    above: int
    below: int
    searched: DisparityRange
    settings: MatchingSettings
    threads: int


def match_band(band: Band) -> tuple[DisparityMap, DisparityMap | None]:
    """Return the disparity and confidence of the rows that are not overlap."""
    matcher = match_rows if band.settings.method == OWN else run_matcher
    with thread_limit(band.threads):
        disparity, confidence = matcher(band.left, band.right, band.searched, band.settings)  # type: ignore[arg-type]
    rows = slice(band.above, len(band.left) - band.below)
    return disparity[rows].copy(), None if confidence is None else confidence[rows].copy()


def match_in_bands(
    left: Image,
    right: Image,
    settings: MatchingSettings,
    searched: DisparityRange,
    *,
    backend: Backend,
    with_confidence: bool,
) -> tuple[DisparityMap, DisparityMap | None]:
    """Match an 8-bit pair band by band; see `slanted.matching.find_matches`.

    Parameters
    ----------
    left, right, settings, searched
        As there.
    backend
        Where bands are matched.
    with_confidence
        Whether the confidence is wanted.
    """
    height, width = left.shape[:2]
    rows = list(bands(height, width, len(searched)))
    disparity = np.empty(left.shape[:2], np.float32)
    confidence = np.empty(left.shape[:2], np.float32) if with_confidence else None

    def task(number: int) -> Band:
        core, seen = rows[number]
        above, below = core.start - seen.start, seen.stop - core.stop
        return Band(left[seen], right[seen], above, below, searched, settings, backend.threads)

    for number, (found, sure) in ask_each(backend, match_band, task, len(rows)):
        core = rows[number][0]
        disparity[core] = found
        if confidence is not None:
            if sure is None:
                raise InputError(
                    "model.pixel_weights: expected a matcher that tells its confidence, such as "
                    "census, got one that does not; switch it off"
                )
            confidence[core] = sure
    if settings.method == OWN:
        clean_up(disparity, searched, settings)
    return drop_impossible(disparity, confidence, settings)
