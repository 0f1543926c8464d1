"""Cost volumes and their sums along paths: which rows are kept and which are computed twice.

Semi-global matching needs memory for a volume of costs and one of sums. The costs are read twice,
by the sweep down and by the sweep up. The rows around the middle are kept, up to `KEPT_BYTES`, and
the outer rows are computed for each sweep.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from slanted.images.census import census_words
from slanted.matching.cost_kernels import cost_rows
from slanted.matching.sgm_kernels import path_state, path_steps, sweep_rows
from slanted.runtime.arrays import Bytes
from slanted.runtime.opencv import cv2
from slanted.runtime.threads import share

if TYPE_CHECKING:
    from slanted.matching import DisparityRange
    from slanted.settings import CensusSettings

KEPT_BYTES = 32 * 2**20
"""Costs kept, in bytes; keeping all would save at most a tenth of the time."""
CHUNK = 16
"""Rows of costs that are computed at a time where they are not kept."""
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


@dataclass(frozen=True, eq=False)
class Costs:
    """The costs C(p, d) of a pair, by rows."""

    inputs: tuple[Any, ...]
    """Inputs of `cost_rows`: census words, gradients, the first disparity and the weights."""
    shape: tuple[int, int, int]
    """(H, W, D)."""
    first: int
    """The first row that is kept."""
    kept: Bytes
    """(rows, W, D) costs of the kept rows."""

    def parts(self) -> list[tuple[int, int]]:
        """Return the parts of rows from the top down; the kept rows are two parts."""
        height = self.shape[0]
        last = self.first + len(self.kept)
        edges = [*range(0, self.first, CHUNK), self.first, height // 2]
        edges += [*range(last, height, CHUNK), height]
        edges = sorted(set(edges))
        return list(pairwise(edges))

    def rows(self, first: int, last: int) -> Bytes:
        """Return the costs of one part."""
        if self.first <= first and last <= self.first + len(self.kept):
            return self.kept[first - self.first : last - self.first]
        made = np.empty((last - first, *self.shape[1:]), np.uint8)
        cost_rows(*self.inputs, first, last, made)
        return made


def make_costs(
    left: Bytes, right: Bytes, searched: DisparityRange, settings: CensusSettings
) -> Costs:
    """Return the costs of a grey pair, with those of the middle rows computed."""
    words, weights = cost_inputs(left, right, settings)
    inputs = (*words, searched.low, *weights)
    height, width = left.shape
    outer = max(height - KEPT_BYTES // (width * len(searched)), 0) // 2
    kept = np.empty((height - 2 * outer, width, len(searched)), np.uint8)

    def make(first: int, last: int) -> None:
        cost_rows(*inputs, outer + first, outer + last, kept[first:last])

    share(len(kept), make)
    return Costs(inputs, (height, width, len(searched)), outer, kept)


def cost_inputs(
    left: Bytes, right: Bytes, settings: CensusSettings
) -> tuple[tuple[Any, ...], tuple[np.uint8, np.uint8]]:
    """Return what costs compare, census words and gradients of both views, and the weights."""
    census = [census_words(image) for image in (left, right)]
    cap = settings.gradient_cap
    gradients = [
        np.clip(
            cv2.Sobel(image, cv2.CV_16S, 1, 0, borderType=cv2.BORDER_REPLICATE), -cap, cap
        ).astype(np.int16, copy=False)
        for image in (left, right)
    ]
    weights = np.uint8(settings.census_weight), np.uint8(settings.gradient_weight)
    return (*census, *gradients), weights


def sum_paths(
    costs: Costs, grey: Bytes, settings: CensusSettings, sums: NDArray[np.uint16]
) -> None:
    """Write S(p, d), the sums of the costs along all paths, (H, W, D).

    The sweeps down and up run in parallel, each in its half of the rows, and then change halves, so
    that two threads share one volume but never a row of it. More threads would not be faster.
    """
    height, width, count = costs.shape

    def clear(first: int, last: int) -> None:
        sums[first:last] = 0

    share(height, clear)
    steps, penalty = path_steps(settings.paths), penalties(settings)
    states = {direction: path_state(steps, width, count) for direction in (1, -1)}
    parts = costs.parts()
    halves = [[p for p in parts if (p[0] >= height // 2) == lower] for lower in (False, True)]
    for turn in (0, 1):

        def half(first: int, last: int, turn: int = turn) -> None:
            for k in range(first, last):
                direction = (1, -1)[k]
                for rows in halves[k ^ turn][::direction]:
                    sweep_rows(
                        costs.rows(*rows),
                        grey,
                        settings.p1,
                        penalty,
                        direction,
                        *rows,
                        steps,
                        *states[direction],
                        sums,
                    )

        share(2, half)


def penalties(settings: CensusSettings) -> NDArray[np.uint16]:
    """Return P2 for each of the 256 grey differences: lower at edges, where surfaces may end."""
    falling = np.rint(settings.p2 - settings.p2_slope * np.arange(256))
    table: NDArray[np.uint16] = np.maximum(falling, settings.p2_min).astype(np.uint16)
    return table
