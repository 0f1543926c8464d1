"""Cost volumes and their sums along paths: what is kept, what is made again, and by which thread.

A volume of costs and one of sums are what semi-global matching needs memory for. Costs are read
twice, by the sweep down and by the sweep up, and the last rows that the first reading sees are the
first that the second needs: rows about the middle are kept, up to `KEPT_BYTES`, and the outer ones
made twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np
from numpy.typing import NDArray

from slanted.images.census import census_words
from slanted.matching.cost_kernels import cost_rows
from slanted.matching.sgm_kernels import path_state, path_steps, sweep_rows
from slanted.runtime.threads import share

if TYPE_CHECKING:
    from slanted.matching import DisparityRange
    from slanted.settings import CensusSettings

    Grey = NDArray[np.uint8]

KEPT_BYTES = 32 * 2**20
"""Of the costs, 8 bits each; more saves time, at most a tenth of it."""
CHUNK = 16
"""Rows of costs that are made at a time where none are kept."""


@dataclass(frozen=True, eq=False)
class Costs:
    """The costs C(p, d) of a pair, by rows.

    Parameters
    ----------
    inputs
        What `cost_rows` makes them of: census words, gradients, the first disparity and weights.
    shape
        (H, W, D).
    first
        The first row kept.
    kept
        (rows, W, D) costs of the rows kept.
    """

    inputs: tuple[Any, ...]
    shape: tuple[int, int, int]
    first: int
    kept: NDArray[np.uint8]

    def parts(self) -> list[tuple[int, int]]:
        """Return the rows in parts, the kept ones in two halves, from the top down."""
        height = self.shape[0]
        last = self.first + len(self.kept)
        edges = [*range(0, self.first, CHUNK), self.first, height // 2]
        edges += [*range(last, height, CHUNK), height]
        edges = sorted(set(edges))
        return list(pairwise(edges))

    def rows(self, first: int, last: int) -> NDArray[np.uint8]:
        """Return the costs of one of the parts."""
        if self.first <= first and last <= self.first + len(self.kept):
            return self.kept[first - self.first : last - self.first]
        made = np.empty((last - first, *self.shape[1:]), np.uint8)
        cost_rows(*self.inputs, first, last, made)
        return made


def make_costs(
    left: Grey, right: Grey, searched: DisparityRange, settings: CensusSettings
) -> Costs:
    """Return the costs of a grey pair, those of the middle rows made already."""
    census = [census_words(image) for image in (left, right)]
    cap = settings.gradient_cap
    gradients = [
        np.clip(
            cv2.Sobel(image, cv2.CV_16S, 1, 0, borderType=cv2.BORDER_REPLICATE), -cap, cap
        ).astype(np.int16, copy=False)
        for image in (left, right)
    ]
    weights = np.uint8(settings.census_weight), np.uint8(settings.gradient_weight)
    inputs = (*census, *gradients, searched.low, *weights)
    height, width = left.shape
    outer = max(height - KEPT_BYTES // (width * len(searched)), 0) // 2
    kept = np.empty((height - 2 * outer, width, len(searched)), np.uint8)

    def make(first: int, last: int) -> None:
        cost_rows(*inputs, outer + first, outer + last, kept[first:last])

    share(len(kept), make)
    return Costs(inputs, (height, width, len(searched)), outer, kept)


def sum_paths(
    costs: Costs,
    grey: Grey,
    settings: CensusSettings,
    sums: NDArray[np.uint16],
) -> None:
    """Write S(p, d), the sums of the costs along all paths, (H, W, D).

    The sweep down and the sweep up run side by side, each in its own half of the rows, and then
    change halves: two threads share one volume and never a row of it. More than two gain nothing
    here.
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
    """Return P2 for each of the 256 steps of grey: weaker at edges, where surfaces may end."""
    falling = np.rint(settings.p2 - settings.p2_slope * np.arange(256))
    table: NDArray[np.uint16] = np.maximum(falling, settings.p2_min).astype(np.uint16)
    return table
