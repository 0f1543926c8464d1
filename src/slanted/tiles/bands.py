"""Matching in overlapping bands of rows, which different workers may match.

The census matcher has bands of its own, in which it matches large images anyway, so the result is
the same to the last bit. Other matchers get bands of rows, each as if it were an image.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from slanted.errors import InputError
from slanted.images.colour import grey_pair
from slanted.matching import run_matcher
from slanted.matching.guided_sgm import expect, find_expected, is_guided
from slanted.matching.out_of_view import drop_impossible
from slanted.matching.search_bands import BAND_BYTES, OVERLAP
from slanted.runtime.threads import thread_limit
from slanted.tiles.terms import ask_each

if TYPE_CHECKING:
    from slanted.images import Image
    from slanted.matching import DisparityRange
    from slanted.runtime.arrays import DisparityMap
    from slanted.runtime.workers import Backend
    from slanted.settings import MatchingSettings

OTHERS_BYTES_A_CELL = 4
"""Memory that a matcher other than ours is taken to need per pixel and disparity, as SGBM does."""


@dataclass(frozen=True, eq=False)
class Band:
    """Rows of a pair to match, of which the first `above` and the last `below` are overlap."""

    large: ClassVar[bool] = True
    left: Image
    right: Image
    above: int
    below: int
    searched: DisparityRange
    settings: MatchingSettings


def match_band(band: Band) -> tuple[DisparityMap, DisparityMap | None]:
    """Return the disparity and confidence of the rows without the overlap."""
    found = run_matcher(band.left, band.right, band.searched, band.settings)
    disparity, confidence = found.disparity, found.confidence
    rows = slice(band.above, len(band.left) - band.below)
    return disparity[rows].copy(), None if confidence is None else confidence[rows].copy()


def match_in_row_bands(
    left: Image,
    right: Image,
    settings: MatchingSettings,
    searched: DisparityRange,
    *,
    backend: Backend,
    with_confidence: bool,
) -> tuple[DisparityMap, DisparityMap | None]:
    """Match an 8-bit pair band by band.

    Parameters
    ----------
    left, right, settings, searched
        As for `slanted.matching.find_matches`.
    backend
        The workers that match bands.
    with_confidence
        Whether to return the confidence.
    """
    height, width = left.shape[:2]
    rows = list(bands(height, width, len(searched)))
    disparity = np.empty(left.shape[:2], np.float32)
    confidence = np.empty(left.shape[:2], np.float32) if with_confidence else None

    def task(number: int) -> Band:
        core, seen = rows[number]
        above, below = core.start - seen.start, seen.stop - core.stop
        return Band(left[seen], right[seen], above, below, searched, settings)

    for number, (found, certainty) in _ask(backend, match_band, task, len(rows)):
        core = rows[number][0]
        disparity[core] = found
        if confidence is not None:
            if certainty is None:
                raise InputError(
                    "model.pixel_weights: expected a matcher that returns a confidence, such as "
                    "census, got one that does not; switch it off"
                )
            confidence[core] = certainty
    return drop_impossible(disparity, confidence, settings)


def bands(height: int, width: int, disparities: int) -> Iterator[tuple[slice, slice]]:
    """Yield the rows whose disparity each band gives, and the rows that it sees."""
    rows = max(BAND_BYTES // (width * disparities * OTHERS_BYTES_A_CELL), 3 * OVERLAP)
    count = 1 if height <= rows else -(-height // (rows - 2 * OVERLAP))
    for k in range(count):
        first, last = height * k // count, height * (k + 1) // count
        yield slice(first, last), slice(max(first - OVERLAP, 0), min(last + OVERLAP, height))


def match_census(
    left: Image,
    right: Image,
    settings: MatchingSettings,
    searched: DisparityRange,
    *,
    backend: Backend,
    with_confidence: bool,
) -> tuple[DisparityMap, DisparityMap | None]:
    """Match an 8-bit pair by census, band by band.

    Smaller pairs, which are matched in bands, too, lead if the settings say so. Arguments are as
    for `match_in_row_bands`.
    """
    grey, ask = grey_pair(left, right), partial(_ask, backend)
    wanted = ("disparity", "margin") if with_confidence else ("disparity",)
    is_led = is_guided(settings, searched)
    expected = expect(*grey, searched, settings, ask) if is_led else []
    found = find_expected(*grey, settings, searched, expected, wanted, ask)
    return found.disparity, found.confidence


def _ask(
    backend: Backend, function: Callable[[Any], Any], task: Callable[[int], Any], count: int
) -> Iterator[tuple[int, Any]]:
    """Have workers call a function on bands, with the threads that each of them has."""
    return ask_each(backend, partial(_limited, function, backend.threads), task, count)


def _limited(function: Callable[[Any], Any], threads: int, task: Any) -> Any:
    """Call a function in a worker."""
    with thread_limit(threads):
        return function(task)
