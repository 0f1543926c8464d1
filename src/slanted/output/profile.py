"""A profile: the values of a result along a line between two pixels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from slanted.errors import InputError

if TYPE_CHECKING:
    from slanted.io import Calibration

Pixel = tuple[int, int]
"""Column and row."""


@dataclass(frozen=True, eq=False)
class Profile:
    """The pixels of a line, in order, and their values in maps."""

    u: NDArray[np.int64]
    """(N,) columns."""
    v: NDArray[np.int64]
    """(N,) rows."""
    along: NDArray[np.float64]
    """(N,) distance of each pixel from the first, in pixels."""

    def of(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return the (N,) values of an (H, W) map."""
        return array[self.v, self.u]


def profile(shape: tuple[int, ...], start: Pixel, end: Pixel) -> Profile:
    """Return the pixels of a straight line, one in each column or row, whichever are more.

    Parameters
    ----------
    shape
        Height and width of the image.
    start, end
        Column and row of the line's ends, which belong to it.

    Raises
    ------
    InputError
        If an end is not inside the image.

    Examples
    --------
    >>> import numpy as np
    >>> line = profile((3, 4), (0, 0), (3, 1))
    >>> line.of(np.arange(12).reshape(3, 4))
    array([0, 1, 6, 7])
    """
    height, width = shape[:2]
    for name, (u, v) in (("start", start), ("end", end)):
        if not (0 <= u < width and 0 <= v < height):
            raise InputError(f"{name}: expected a pixel inside {width}×{height}, got ({u}, {v})")
    count = max(abs(end[0] - start[0]), abs(end[1] - start[1])) + 1
    share = np.linspace(0, 1, count)
    across, down = end[0] - start[0], end[1] - start[1]
    # Half a pixel is rounded up everywhere, so that steps are even.
    columns = np.floor(start[0] + share * across + 0.5).astype(np.int64)
    rows = np.floor(start[1] + share * down + 0.5).astype(np.int64)
    return Profile(columns, rows, share * np.hypot(across, down))


def distance(
    disparity: NDArray[np.float32], calibration: Calibration, start: Pixel, end: Pixel
) -> float:
    """Return how far apart two pixels of the left image are in space, in metres; NaN if unknown."""
    from slanted.output.space import LEAST_DISPARITY

    ends = np.array([start, end])
    values = disparity[ends[:, 1], ends[:, 0]]
    one, other = calibration.positions(ends[:, 0], ends[:, 1], values, LEAST_DISPARITY)
    return float(np.linalg.norm(one.astype(np.float64) - other))
