"""The functions of `slanted.matching.lane_kernels` without a compiler, for coverage."""

from __future__ import annotations

from typing import Any

import numpy as np

LANES = 16
NONE = 65535
"""No sum: larger than every real one."""


def _some(array: Any, first: Any) -> Any:
    return array[int(first) : int(first) + LANES]


def extend_path(
    paths: Any, before: Any, here: Any, floor: Any, p1: Any, highest: Any,
    cost: Any, cell: Any, sums: Any, kept: Any, parts: Any,
) -> Any:  # fmt: skip
    """Extend a path to the next pixel."""
    lowest = np.uint16(NONE)
    for k in range(0, int(parts) * LANES, LANES):
        start, place = int(before) + k, int(cell) + k
        value = np.minimum(_some(paths, start), _some(paths, start + 2)) + p1
        value = np.minimum(np.minimum(value, _some(paths, start + 1)), highest) - floor
        value = (value + _some(cost, place)).astype(np.uint16)
        _some(paths, int(here) + k + 1)[:] = value
        _some(sums, place)[:] = (_some(sums, place) & kept) + value
        lowest = min(lowest, value.min())
    return lowest


def least_lane(sums: Any, cell: Any) -> Any:
    """Return the least of the lanes."""
    return _some(sums, cell).min()


def best_two(sums: Any, cell: Any, parts: Any) -> tuple[int, int, int, int]:
    """Return the least sum of a pixel, where it comes first, the runner up's and the largest.

    The runner up neither is nor touches the winner; it is `NONE` if there is no other.
    """
    values = sums[int(cell) : int(cell) + int(parts) * LANES]
    winner = int(values.argmin())
    others = values[np.abs(np.arange(len(values)) - winner) > 1]
    return int(values[winner]), winner, int(others.min(initial=NONE)), int(values.max())


def sum_lanes(sums: Any, cell: Any) -> Any:
    """Return the sum of the lanes."""
    return _some(sums, cell).sum(dtype=np.uint32)


def better_lanes(sums: Any, cell: Any, best: Any, layer: Any, place: Any, first: Any) -> None:
    """Write lanes of sums that are below the best so far, and their disparities."""
    values, before = _some(sums, cell), _some(best, place)
    better = values < before
    before[better] = values[better]
    _some(layer, place)[better] = (np.arange(LANES) + int(first))[better]


def pixel_cost_lanes(
    word: Any, words: Any, gradient: Any, gradients: Any, start: Any,
    census_weight: Any, gradient_weight: Any, costs: Any, cell: Any,
) -> None:  # fmt: skip
    """Write the costs of `LANES` disparities of a pixel."""
    bits = np.bitwise_count(_some(words, start) ^ np.uint64(word))
    step = np.abs(_some(gradients, start).astype(np.int64) - int(gradient))
    _some(costs, cell)[:] = bits * int(census_weight) + step * int(gradient_weight)
