"""Squares of an image that search disparities of their own.

A whole range of disparities is needed at no pixel. Where something is known of a scene, from a
coarse match or from the last frame of a video, each square searches only what is expected there and
a margin about it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from slanted.runtime.arrays import DisparityMap, Ints, Starts
from slanted.runtime.opencv import cv2

if TYPE_CHECKING:
    from slanted.matching import DisparityRange

SIDE = 16
"""Side of a square, in pixels."""
THIN = 4
"""What is expected is told at every fourth pixel of every fourth row. A square takes it from half a
square more on each side: what moves by less between two frames stays inside."""
STEP = 16
"""The numbers of disparities are multiples of this, for `slanted.matching.lane_kernels`."""


@dataclass(frozen=True, eq=False)
class SearchGrid:
    """The disparities that each square of an image searches, and where its cells are in a volume.

    A volume is flat: pixel after pixel in raster order, and the disparities of a pixel beside each
    other, so that a sweep over rows reads it from end to end. Squares at the right and lower border
    are cut off in the image but not in the volume.
    """

    low: Ints
    """(rows, columns) the first disparity."""
    count: Ints
    """(rows, columns) the number of disparities, a multiple of `STEP`; it may exceed the range."""

    @property
    def start(self) -> Starts:
        """(rows, columns + 1) the first cell of each square.

        In the last column is the end of the squares' first row of pixels, so that the difference to
        the first column is the number of a row's cells.
        """
        ends = np.cumsum(self.count * np.int64(SIDE), axis=1)
        start = np.concatenate([np.zeros_like(ends[:, :1]), ends], axis=1)
        start[1:] += np.cumsum(ends[:-1, -1:] * SIDE, axis=0)
        return start

    @property
    def cells(self) -> int:
        """The number of cells of a volume."""
        return int(self.count.sum()) * SIDE * SIDE

    @property
    def most(self) -> int:
        """The largest number of disparities of a square."""
        return int(self.count.max())

    @property
    def reach(self) -> int:
        """How far beyond 0 the largest disparity of a square is."""
        return max(0, int((self.low + self.count).max()))

    @property
    def middle(self) -> int:
        """The first row of squares of the lower half, which has half of the cells, or nearly."""
        below = np.cumsum(self.count.sum(axis=1, dtype=np.int64)[::-1])[::-1]
        return int(np.abs(2 * below - below[0]).argmin())

    def arrays(self) -> tuple[Ints, Ints, Starts]:
        """Return what the kernels take."""
        return self.low, self.count, self.start


def whole_grid(shape: tuple[int, ...], searched: DisparityRange) -> SearchGrid:
    """Return the grid of squares that all search a whole range.

    Examples
    --------
    >>> from slanted.matching import DisparityRange
    >>> whole_grid((40, 20), DisparityRange(0, 24)).count
    array([[32, 32],
           [32, 32],
           [32, 32]], dtype=int32)
    """
    squares = -(-shape[0] // SIDE), -(-shape[1] // SIDE)
    low = np.full(squares, searched.low, np.int32)
    return SearchGrid(low, np.full(squares, rounded(len(searched)), np.int32))


def expected_grid(
    shape: tuple[int, ...],
    expected: list[DisparityMap],
    margin: float,
    searched: DisparityRange,
) -> SearchGrid:
    """Return the grid that searches what is expected at each square and around it.

    Parameters
    ----------
    shape
        Rows and columns of the image.
    expected
        Maps of disparities at every `THIN`-th pixel of every `THIN`-th row, all of which are
        searched; NaN where they expect nothing.
    margin
        Disparities that are searched beyond them to each side, in pixels.
    searched
        The whole range, which a square searches if nothing is expected there.

    Examples
    --------
    >>> from slanted.matching import DisparityRange
    >>> road = np.full((8, 8), 20, np.float32)
    >>> grid = expected_grid((32, 32), [road], 3, DisparityRange(0, 64))
    >>> int(grid.low[0, 0]), int(grid.count[0, 0])
    (17, 16)
    """
    squares = whole_grid(shape, searched).low.shape
    least, most = _ends(expected, squares)
    known = least <= most
    low = np.where(known, np.floor(np.where(known, least, 0) - margin), searched.low)
    high = np.where(known, np.ceil(np.where(known, most, 0) + margin) + 1, searched.high)
    low = np.clip(low, searched.low, searched.high - 1)
    high = np.clip(high, low + 1, searched.high)
    count = rounded(high - low)
    low = np.maximum(np.minimum(low, searched.high - count), searched.low)
    return SearchGrid(low.astype(np.int32), count.astype(np.int32))


def rounded(count: Any) -> Any:
    """Return the next multiple of `STEP`."""
    return -(-count // STEP) * STEP


def _ends(
    expected: list[DisparityMap], squares: tuple[int, ...]
) -> tuple[DisparityMap, DisparityMap]:
    """Return the least and the largest of what is known about each square; ±inf if nothing is."""
    shape = tuple(SIDE // THIN * count for count in squares)
    low, high = np.full(shape, np.inf, np.float32), np.full(shape, -np.inf, np.float32)
    for each in expected:
        some = each[: shape[0], : shape[1]]
        place = slice(some.shape[0]), slice(some.shape[1])
        np.fmin(low[place], some, out=low[place])  # of a number and NaN, the number
        np.fmax(high[place], some, out=high[place])
    window = np.ones((3, 3), np.uint8)
    least = cv2.erode(_pooled(low, np.minimum), window)
    most = cv2.dilate(_pooled(high, np.maximum), window)
    return _pooled(least, np.minimum), _pooled(most, np.maximum)


def _pooled(values: DisparityMap, pick: np.ufunc) -> DisparityMap:
    """Return the least or the largest of each 2 × 2 pixels; slices are faster than `reduce`."""
    above, below = values[::2], values[1::2]
    pooled: DisparityMap = pick(
        pick(above[:, ::2], above[:, 1::2]), pick(below[:, ::2], below[:, 1::2])
    )
    return pooled
