"""Semi-global matching on census and gradient costs: faster and better than OpenCV's.

The cost of a pixel and a disparity is the Hamming distance of census words (Zabih & Woodfill, ECCV
1994) and the difference of capped x-gradients, averaged over 5×5 pixels; it is summed along 4 or 8
paths with penalties that follow the grey image (Hirschmüller, "Stereo Processing by Semiglobal
Matching and Mutual Information", PAMI 2008). The result is the same, byte by byte, for any number
of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np
from numpy.typing import NDArray

from slanted.errors import InputError
from slanted.matching.census_kernels import (
    CENSUS_BITS,
    CENSUS_X,
    CENSUS_Y,
    census_rows,
    cost_rows,
)
from slanted.matching.images import as_grey
from slanted.matching.sgm_kernels import (
    AGREES,
    MISMATCHED,
    OCCLUDED,
    agreement_rows,
    path_state,
    sweep_rows,
    winner_rows,
)
from slanted.threads import current_threads

if TYPE_CHECKING:
    from slanted.matching import DisparityRange
    from slanted.settings import CensusSettings, MatchingSettings

    Grey = NDArray[np.uint8]
    RowFunction = Callable[[int, int], None]
    ForRows = Callable[[int, RowFunction], None]

BYTES_A_CELL = 3
"""Of a pixel and a disparity: a cost of 8 bits and a sum of 16."""
BAND_BYTES = 1536 * 2**20
"""Larger volumes are cut into horizontal bands."""
OVERLAP = 64
"""Rows that a band sees beyond each of its ends; paths have forgotten their start by then."""
FIXED_POINT = 16
"""The speckle filter sees sixteenths of a pixel, less for ranges that would not fit 16 bits."""


@dataclass(frozen=True)
class Details:
    """What the matcher knows beside the disparity.

    Parameters
    ----------
    disparity
        (H, W) float32 pixels, NaN where unknown.
    confidence
        (H, W) float32, 0 to 1: the share by which the runner up's cost exceeds the winner's, 0
        where the disparity is unknown.
    occluded, mismatched
        (H, W) bool: pixels that fail the left-right check because the right image does not see
        them, and because they were matched wrongly.
    """

    disparity: NDArray[np.float32]
    confidence: NDArray[np.float32]
    occluded: NDArray[np.bool_]
    mismatched: NDArray[np.bool_]


def match(
    left: Grey, right: Grey, searched: DisparityRange, settings: MatchingSettings
) -> NDArray[np.float32]:
    """Match an 8-bit pair; see `slanted.matching` for the interface."""
    return match_details(left, right, searched, settings).disparity


def match_details(
    left: Grey, right: Grey, searched: DisparityRange, settings: MatchingSettings
) -> Details:
    """Match an 8-bit pair and tell how sure each match is and why others failed.

    Parameters
    ----------
    left, right
        Grey or RGB images of equal size.
    searched
        The disparities to search.
    settings
        Section ``matching``, of which ``matching.census`` is this matcher's.

    Notes
    -----
    Pairs whose volumes would exceed `BAND_BYTES` are matched in bands of rows that overlap. This
    is an approximation near the seams, where paths start anew `OVERLAP` rows away. The bands follow
    from the size and the range alone.
    """
    check_settings(settings.census)
    left, right = _grey(left), _grey(right)
    shape = left.shape
    found = Details(
        np.empty(shape, np.float32),
        np.empty(shape, np.float32),
        np.empty(shape, np.bool_),
        np.empty(shape, np.bool_),
    )
    with row_pool(current_threads()) as for_rows:
        for core, seen in bands(shape[0], shape[1], len(searched)):
            band = _match_band(left[seen], right[seen], searched, settings, for_rows)
            inside = slice(core.start - seen.start, core.stop - seen.start)
            for name, values in vars(band).items():
                getattr(found, name)[core] = values[inside]
    if settings.speckle_size:
        drop_speckles(found.disparity, searched, settings.speckle_size, settings.speckle_range)
    found.confidence[np.isnan(found.disparity)] = 0.0
    return found


def check_settings(settings: CensusSettings) -> None:
    """Refuse settings that the narrow integers of the kernels or the method do not allow."""
    if settings.paths not in (4, 8):
        raise InputError(f"matching.census.paths: expected 4 or 8, got {settings.paths}")
    largest = CENSUS_BITS * settings.census_weight
    largest += 2 * settings.gradient_cap * settings.gradient_weight
    if largest > 255:
        raise InputError(
            f"matching.census.census_weight: expected costs of at most 255, got up to {largest} "
            f"({CENSUS_BITS} × census_weight + 2 × gradient_cap × gradient_weight); lower a weight "
            f"or gradient_cap"
        )
    if not settings.p1 <= settings.p2_min <= settings.p2:
        raise InputError(
            f"matching.census.p2_min: expected a value from p1 ({settings.p1}) to p2 "
            f"({settings.p2}), got {settings.p2_min}"
        )


def bands(height: int, width: int, disparities: int) -> Iterator[tuple[slice, slice]]:
    """Yield the rows that each band answers for, and those that it sees."""
    rows = max(BAND_BYTES // (width * disparities * BYTES_A_CELL), 3 * OVERLAP)
    count = 1 if height <= rows else -(-height // (rows - 2 * OVERLAP))
    for k in range(count):
        first, last = height * k // count, height * (k + 1) // count
        yield slice(first, last), slice(max(first - OVERLAP, 0), min(last + OVERLAP, height))


@contextmanager
def row_pool(threads: int) -> Iterator[ForRows]:
    """Give a function that shares ``function(first, last)`` over rows among threads."""
    if threads == 1:
        yield lambda rows, function: function(0, rows)
        return
    with ThreadPoolExecutor(threads) as pool:

        def for_rows(rows: int, function: RowFunction) -> None:
            edges = [rows * k // threads for k in range(threads + 1)]
            list(pool.map(function, edges[:-1], edges[1:]))

        yield for_rows


def make_costs(
    left: Grey, right: Grey, searched: DisparityRange, settings: CensusSettings, for_rows: ForRows
) -> NDArray[np.uint8]:
    """Return the cost volume (H, W, D) of a grey pair."""
    census = []
    for image in (left, right):
        words = np.empty(image.shape, np.uint64)
        padded = cv2.copyMakeBorder(
            image, CENSUS_Y, CENSUS_Y, CENSUS_X, CENSUS_X, cv2.BORDER_REPLICATE
        )
        for_rows(len(image), _rows_of(census_rows, (padded,), (words,)))
        census.append(words)
    cap = settings.gradient_cap
    gradients = [
        np.clip(cv2.Sobel(image, cv2.CV_16S, 1, 0), -cap, cap).astype(np.int16, copy=False)
        for image in (left, right)
    ]
    cost = np.empty((*left.shape, len(searched)), np.uint8)
    weights = np.uint8(settings.census_weight), np.uint8(settings.gradient_weight)
    for_rows(len(left), _rows_of(cost_rows, (*census, *gradients, searched.low, *weights), (cost,)))
    return cost


def sum_paths(
    cost: NDArray[np.uint8], grey: Grey, settings: CensusSettings, for_rows: ForRows
) -> NDArray[np.uint16]:
    """Return S(p, d), the sums of the costs along all paths.

    The sweep down and the sweep up run side by side, each in its own half of the rows, and then
    change halves: two threads share one volume and never a row of it.
    """
    height, width, count = cost.shape
    sums = np.zeros(cost.shape, np.uint16)
    p2 = penalties(settings)
    states = {direction: path_state(width, count) for direction in (1, -1)}
    middle = height // 2
    halves = (0, middle), (middle, height)
    for turn in (0, 1):

        def half(first: int, last: int, turn: int = turn) -> None:
            for k in range(first, last):
                direction = (1, -1)[k]
                rows = halves[k ^ turn]
                sweep_rows(
                    cost,
                    grey,
                    settings.p1,
                    p2,
                    direction,
                    *rows,
                    settings.paths == 8,
                    *states[direction],
                    sums,
                )

        for_rows(2, half)
    return sums


def penalties(settings: CensusSettings) -> NDArray[np.uint16]:
    """Return P2 for each of the 256 steps of grey: weaker at edges, where surfaces may end."""
    falling = np.rint(settings.p2 - settings.p2_slope * np.arange(256))
    table: NDArray[np.uint16] = np.maximum(falling, settings.p2_min).astype(np.uint16)
    return table


def drop_speckles(
    disparity: NDArray[np.float32], searched: DisparityRange, size: int, step: int
) -> None:
    """Make small patches of like disparity unknown, in place."""
    scale = max(1, min(FIXED_POINT, 32000 // len(searched)))
    unknown = np.isnan(disparity)
    fixed = np.where(unknown, -1, np.rint((disparity - searched.low) * scale)).astype(np.int16)
    cv2.filterSpeckles(fixed, -1, size, step * scale)
    disparity[fixed == -1] = np.nan


def _grey(image: Grey) -> Grey:
    return np.ascontiguousarray(as_grey(image), np.uint8)


def _match_band(
    left: Grey,
    right: Grey,
    searched: DisparityRange,
    settings: MatchingSettings,
    for_rows: ForRows,
) -> Details:
    cost = make_costs(left, right, searched, settings.census, for_rows)
    sums = sum_paths(cost, left, settings.census, for_rows)
    del cost
    low, high, shape = searched.low, searched.high, left.shape
    winners = np.empty(shape, np.int32), np.empty(shape, np.int32)
    disparity, confidence = np.empty(shape, np.float32), np.empty(shape, np.float32)
    outputs = (*winners, disparity, confidence)
    for_rows(len(left), _rows_of(winner_rows, (sums, low, settings.census.uniqueness), outputs))
    state = np.full(shape, AGREES, np.uint8)
    threshold = settings.left_right_threshold
    if threshold:
        for_rows(len(left), _rows_of(agreement_rows, (*winners, low, high, threshold), (state,)))
        disparity[state != AGREES] = np.nan
    return Details(disparity, confidence, state == OCCLUDED, state == MISMATCHED)


def _rows_of(
    kernel: Callable[..., None], inputs: tuple[Any, ...], outputs: tuple[Any, ...]
) -> RowFunction:
    """Bind a kernel to all its arguments but the rows, which stand between inputs and outputs."""
    return lambda first, last: kernel(*inputs, first, last, *outputs)
