"""Volumes of costs and of their sums along paths, and the memory that pairs share for them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from slanted.images.census import census_words
from slanted.matching.cost_kernels import square_costs
from slanted.matching.search_grid import SIDE
from slanted.matching.sgm_kernels import path_state, path_steps, sweep_squares
from slanted.runtime.arrays import Bytes
from slanted.runtime.opencv import cv2
from slanted.runtime.threads import bind, share, together

if TYPE_CHECKING:
    from slanted.matching.search_grid import SearchGrid
    from slanted.settings import CensusSettings

MOST_KEPT = 512 * 2**20
"""Largest volume, in bytes, whose memory is kept for the next pair."""

_spare: list[Bytes] = []
"""Memory for the next volume: at most one array, and none while it is in use."""
_lock = Lock()
_users: list[None] = []
"""One entry for each `keep_volumes` in progress."""


@contextmanager
def keep_volumes() -> Iterator[None]:
    """Keep the memory of the last volume inside the block, however large it is.

    The bands of a large pair then share one.
    """
    with _lock:
        _users.append(None)
    try:
        yield
    finally:
        with _lock:
            _users.pop()
            if not _users and _spare and _spare[0].size > MOST_KEPT:
                _spare.clear()


def forget_volume() -> None:
    """Free the memory that is kept for the next volume; an image in tiles has none to spare."""
    with _lock:
        _spare.clear()


@contextmanager
def volume(shape: tuple[int, ...], dtype: DTypeLike) -> Iterator[NDArray[Any]]:
    """Provide an array of arbitrary content for use inside the block.

    Its memory is kept from one pair to the next: the first touch of every page of new memory takes
    about as long as the matching itself. OpenCV's matchers keep theirs for the same reason.
    """
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    with _lock:
        memory = _spare.pop() if _spare else np.empty(0, np.uint8)
    if memory.size < size:
        memory = np.empty(size, np.uint8)
    try:
        yield memory[:size].view(dtype).reshape(shape)
    finally:
        with _lock:
            if (_users or memory.size <= MOST_KEPT) and not _spare:
                _spare.append(memory)


def cost_inputs(
    views: tuple[Bytes, Bytes], grid: SearchGrid, settings: CensusSettings
) -> tuple[Any, ...]:
    """Return what costs compare, census words and gradients, as `square_costs` takes it."""
    cap = settings.gradient_cap
    before, after = max(0, -int(grid.low.min())) + SIDE, grid.reach + SIDE

    def gradient(image: Bytes) -> NDArray[np.int16]:
        steps = cv2.Sobel(image, cv2.CV_16S, 1, 0, borderType=cv2.BORDER_REPLICATE)
        capped: NDArray[np.int16] = np.clip(steps, -cap, cap).astype(np.int16, copy=False)
        return capped

    left, right = views
    inputs = together(
        partial(census_words, left),
        lambda: _mirrored(census_words(right), before, after),
        partial(gradient, left),
        lambda: _mirrored(gradient(right), before, after),
    )
    weights = np.uint8(settings.census_weight), np.uint8(settings.gradient_weight)
    return *inputs, before, *weights


def _mirrored(view: NDArray[Any], before: int, after: int) -> NDArray[Any]:
    """Return the mirrored rows of a view, which a rising disparity walks forward.

    Their ends are repeated as far as any square searches.
    """
    height, width = view.shape
    rows = np.empty((height, before + width + after), view.dtype)
    rows[:, before : before + width] = view[:, ::-1]
    rows[:, :before], rows[:, before + width :] = view[:, -1:], view[:, :1]
    return rows


def sum_paths(
    views: tuple[Bytes, Bytes],
    grid: SearchGrid,
    high: int,
    settings: CensusSettings,
    costs: Bytes,
    sums: NDArray[np.uint16],
) -> None:
    """Write the costs C(p, d) of a grey pair, and S(p, d), their sums along all paths.

    Paths end before the disparity `high`. The sweeps down and up run in parallel, each in its half
    of the rows, and then change halves. More threads would not be faster.
    """
    inputs, arrays = cost_inputs(views, grid, settings), grid.arrays()
    share(len(grid.low), bind(square_costs, (*inputs, *arrays), costs), pieces=4)
    steps, penalty = path_steps(settings.paths), penalties(settings)
    height, width = views[0].shape
    middle = grid.middle * SIDE
    halves = (0, middle), (middle, height)
    states: dict[int, tuple[Any, ...]] = {}

    def sweep(direction: int, rows: tuple[int, int], is_first: bool) -> None:
        if is_first:  # by two threads at once; either of them may do the second half
            states[direction] = path_state(steps, width, grid.most)
        inputs = costs, views[0], settings.p1, penalty, direction, high, *arrays, *rows, steps
        sweep_squares(*inputs, *states[direction], is_first, sums)

    # Two threads share one volume but never a row of squares of it.
    for (upper, lower), is_first in ((halves, True), (halves[::-1], False)):
        together(partial(sweep, 1, upper, is_first), partial(sweep, -1, lower, is_first))


def penalties(settings: CensusSettings) -> NDArray[np.uint16]:
    """Return P2 for each of the 256 grey differences: lower at edges, where surfaces may end."""
    falling = np.rint(settings.p2 - settings.p2_slope * np.arange(256))
    table: NDArray[np.uint16] = np.maximum(falling, settings.p2_min).astype(np.uint16)
    return table
