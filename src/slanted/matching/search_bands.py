"""Semi-global matching in overlapping bands of rows of squares, which different workers may match.

The volumes of a large pair do not fit into memory at once. The bands depend on what the squares
search only, so that the result is the same whoever matches them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from slanted.matching.search_grid import SIDE, SearchGrid

if TYPE_CHECKING:
    from slanted.matching import DisparityRange
    from slanted.runtime.arrays import Bytes
    from slanted.settings import MatchingSettings

BYTES_A_CELL = 3
"""Memory per pixel and disparity: a cost of 8 bits and a sum of 16."""
BAND_BYTES = 1536 * 2**20
"""Memory above which a volume is cut into horizontal bands."""
OVERLAP = 64
"""Rows that a band sees beyond each of its ends; by then paths do not depend on their start."""
OVERLAPS = OVERLAP // SIDE, OVERLAP // SIDE // 2, 1
"""Rows of squares that a band sees beyond each of its ends. The first of these is taken whose two
ends together are no larger than the core; where nearly all of a wide range is searched, few rows
fit into a band."""

Maps = dict[str, Any]
"""Maps of a pair by name; those of `slanted.matching.census_sgm.match_squares`."""
EVERY_MAP = "disparity", "winner", "agrees", "margin"


@dataclass(frozen=True, eq=False)
class SquareBand:
    """Rows of a pair to match, with the squares that they consist of."""

    large: ClassVar[bool] = True
    left: Bytes
    right: Bytes
    """What the costs compare, in grey."""
    grid: SearchGrid
    core: slice
    """The rows without the overlap, whose maps are wanted."""
    searched: DisparityRange
    """The disparities of which one may win."""
    settings: MatchingSettings
    wanted: tuple[str, ...]
    """Names of the maps."""


Ask = Callable[
    [Callable[[SquareBand], Maps], Callable[[int], SquareBand], int], Iterator[tuple[int, Maps]]
]
"""Calls a function on bands 0 … count - 1, and yields the number of each and its maps."""


def in_turn(
    function: Callable[[SquareBand], Maps], task: Callable[[int], SquareBand], count: int
) -> Iterator[tuple[int, Maps]]:
    """Match one band after the other in this process."""
    for number in range(count):
        yield number, function(task(number))


def square_bands(grid: SearchGrid) -> list[tuple[slice, slice]]:
    """Return the rows of squares that each band gives, and those that it sees.

    Examples
    --------
    >>> grid = SearchGrid(np.zeros((9, 2), np.int32), np.full((9, 2), 16, np.int32))
    >>> square_bands(grid)
    [(slice(0, 9, None), slice(0, 9, None))]
    """
    sizes = grid.count.sum(axis=1, dtype=np.int64) * (SIDE * SIDE * BYTES_A_CELL)
    before = np.concatenate([[0], np.cumsum(sizes)])
    found: list[tuple[slice, slice]] = []
    first, rows = 0, len(sizes)
    while first < rows:
        for beyond in OVERLAPS:
            seen, last = slice(first, first), first
            while last < rows:
                more = slice(max(first - beyond, 0), min(last + 1 + beyond, rows))
                if last > first and before[more.stop] - before[more.start] > BAND_BYTES:
                    break
                seen, last = more, last + 1
            if last - first >= 2 * beyond or last == rows:
                break
        found.append((slice(first, last), seen))
        first = last
    return found
