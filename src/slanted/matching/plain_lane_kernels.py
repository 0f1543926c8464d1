"""The functions of `slanted.matching.lane_kernels` without a compiler, for coverage."""

from __future__ import annotations

from typing import Any

import numpy as np

LANES = 16
NONE = 65535
"""No sum: larger than every real one."""


def _some(array: Any, first: Any) -> Any:
    return array[int(first) : int(first) + LANES]


def extend_lanes(
    paths: Any, before: Any, here: Any, floor: Any, p1: Any, highest: Any,
    cost: Any, cell: Any, sums: Any,
) -> Any:  # fmt: skip
    """Extend a path by `LANES` disparities."""
    start = int(before)
    value = np.minimum(_some(paths, start), _some(paths, start + 2)) + p1
    value = np.minimum(np.minimum(value, _some(paths, start + 1)), highest) - floor
    value = (value + _some(cost, cell)).astype(np.uint16)
    _some(paths, int(here) + 1)[:] = value
    _some(sums, cell)[:] += value
    return value.min()


def least_lane(sums: Any, cell: Any) -> Any:
    """Return the least of the lanes."""
    return _some(sums, cell).min()


def most_lane(sums: Any, cell: Any) -> Any:
    """Return the largest of the lanes."""
    return _some(sums, cell).max()


def sum_lanes(sums: Any, cell: Any) -> Any:
    """Return the sum of the lanes."""
    return _some(sums, cell).sum(dtype=np.uint32)


def first_lane(sums: Any, cell: Any, value: Any) -> Any:
    """Return the number of the first lane with a value, or `LANES`."""
    same = _some(sums, cell) == value
    return int(same.argmax()) if same.any() else LANES


def second_lane(sums: Any, cell: Any, winner: Any) -> Any:
    """Return the least of the lanes that neither are nor touch the winner, or `NONE`."""
    away = (np.arange(LANES) - int(winner) + 1) % (NONE + 1)
    return np.where(away < 3, NONE, _some(sums, cell)).min()


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
