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

    A volume is flat: square after square in raster order, in it pixel after pixel, and the
    disparities of a pixel beside each other. Squares at the right and lower border are cut off in
    the image but not in the volume.
    """

    low: Ints
    """(rows, columns) the first disparity."""
    count: Ints
    """(rows, columns) the number of disparities, a multiple of `STEP`."""

    @property
    def start(self) -> Starts:
        """(rows, columns) the number of the first cell."""
        sizes = self.count.reshape(-1).astype(np.int64) * SIDE * SIDE
        return (np.cumsum(sizes) - sizes).reshape(self.count.shape)

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
    return SearchGrid(low, np.full(squares, _rounded(len(searched)), np.int32))


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
    ends = [_ends(each, squares) for each in expected]
    least = np.min([low for low, _ in ends], axis=0)
    most = np.max([high for _, high in ends], axis=0)
    known = least <= most
    low = np.where(known, np.floor(np.where(known, least, 0) - margin), searched.low)
    high = np.where(known, np.ceil(np.where(known, most, 0) + margin) + 1, searched.high)
    low = np.clip(low, searched.low, searched.high - 1)
    high = np.clip(high, low + 1, searched.high)
    count = _rounded(high - low)
    low = np.maximum(np.minimum(low, searched.high - count), searched.low)
    return SearchGrid(low.astype(np.int32), count.astype(np.int32))


def _rounded(count: Any) -> Any:
    """Return the next multiple of `STEP`."""
    return -(-count // STEP) * STEP


def _ends(expected: DisparityMap, squares: tuple[int, ...]) -> tuple[DisparityMap, DisparityMap]:
    """Return the least and the largest of what is known about each square; ±inf if nothing is."""
    (rows, columns), side = squares, SIDE // THIN
    height, width = min(expected.shape[0], rows * side), min(expected.shape[1], columns * side)
    known, window, ends = expected[:height, :width], np.ones((3, 3), np.uint8), []
    for sign in (np.float32(-1), np.float32(1)):
        whole = np.full((rows * side, columns * side), -np.inf, np.float32)
        whole[:height, :width] = np.where(np.isnan(known), -np.inf, sign * known)
        halves = whole.reshape(rows * 2, side // 2, columns * 2, side // 2)
        near = cv2.dilate(halves.max(axis=(1, 3)), window)
        ends.append(sign * near.reshape(rows, 2, columns, 2).max(axis=(1, 3)))
    return ends[0], ends[1]


def whole_blocks(values: Any, side: int) -> Any:
    """Return a map whose last row and column are repeated until it consists of whole blocks."""
    below, beside = (-length % side for length in values.shape[:2])
    if not below and not beside:
        return values
    return cv2.copyMakeBorder(values, 0, below, 0, beside, cv2.BORDER_REPLICATE)
