"""Squares of an image that search disparities of their own.

A whole range of disparities is needed at no pixel. Where something is known of a scene, from a
coarse match or from the last frame of a video, each square of `SIDE` pixels searches only what is
expected there and a margin about it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from slanted.runtime.arrays import DisparityMap, Ints, Starts
from slanted.runtime.opencv import cv2

if TYPE_CHECKING:
    from slanted.matching import DisparityRange

SIDE = 16
"""Side of a square, in pixels."""
HALF = SIDE // 2
"""Expectations are gathered in blocks of this side, and a square takes them from one block more
than it has on each side: what moves by less between frames stays inside."""
STEP = 8
"""The numbers of disparities are multiples of this, for the processor's vectors."""


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
    """(rows, columns) the number of disparities."""

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

    def arrays(self) -> tuple[Ints, Ints, Starts]:
        """Return what the kernels take."""
        return self.low, self.count, self.start


def whole_grid(shape: tuple[int, ...], searched: DisparityRange) -> SearchGrid:
    """Return the grid of squares that all search a whole range.

    Examples
    --------
    >>> from slanted.matching import DisparityRange
    >>> whole_grid((40, 20), DisparityRange(0, 24)).count
    array([[24, 24],
           [24, 24],
           [24, 24]], dtype=int32)
    """
    squares = -(-shape[0] // SIDE), -(-shape[1] // SIDE)
    low = np.full(squares, searched.low, np.int32)
    return SearchGrid(low, np.full(squares, len(searched), np.int32))


def expected_grid(
    expected: list[DisparityMap], margin: float, searched: DisparityRange
) -> SearchGrid:
    """Return the grid that searches what is expected at each square and around it.

    Parameters
    ----------
    expected
        Maps of (H, W) disparities, all of which are searched; NaN where they expect nothing.
    margin
        Disparities that are searched beyond them to each side, in pixels.
    searched
        The whole range, which a square searches if nothing is expected there.

    Examples
    --------
    >>> from slanted.matching import DisparityRange
    >>> road = np.full((32, 32), 20, np.float32)
    >>> grid = expected_grid([road], 3, DisparityRange(0, 64))
    >>> grid.low[0, 0], grid.count[0, 0]
    (np.int32(17), np.int32(8))
    """
    whole = whole_grid(expected[0].shape, searched)
    ends = [_ends(each) for each in expected]
    least = np.min([low for low, _ in ends], axis=0)
    most = np.max([high for _, high in ends], axis=0)
    known = least <= most
    low = np.where(known, np.floor(np.where(known, least, 0) - margin), searched.low)
    high = np.where(known, np.ceil(np.where(known, most, 0) + margin) + 1, searched.high)
    low = np.clip(low, searched.low, searched.high - 1).astype(np.int32)
    high = np.clip(high, low + 1, searched.high).astype(np.int32)
    count = np.minimum(-(-(high - low) // STEP) * STEP, len(searched)).astype(np.int32)
    return SearchGrid(np.minimum(low, searched.high - count), np.maximum(count, 1))


def _ends(expected: DisparityMap) -> tuple[DisparityMap, DisparityMap]:
    """Return the least and the largest of what is known about each square; ±inf if nothing is."""
    height, width = expected.shape
    rows, columns = -(-height // SIDE) * SIDE, -(-width // SIDE) * SIDE
    ends = []
    for sign in (-1, 1):
        # The end of a block is found as the largest value, in one pass over the image.
        value = np.where(np.isnan(expected), np.float32(-np.inf), np.float32(sign) * expected)
        whole = np.full((rows, columns), -np.inf, np.float32)
        whole[:height, :width] = value
        down = whole.reshape(rows // HALF, HALF, columns).max(axis=1)
        blocks = down.reshape(rows // HALF, columns // HALF, HALF).max(axis=2)
        near = cv2.dilate(blocks, np.ones((3, 3), np.uint8))
        around = near.reshape(rows // SIDE, 2, columns // SIDE, 2).max(axis=(1, 3))
        ends.append(np.float32(sign) * around)
    return ends[0], ends[1]
