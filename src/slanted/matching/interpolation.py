"""Filling the holes of a sparse result as the KITTI benchmark does before it scores one."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from slanted.errors import InputError
from slanted.images.disparity_map import as_disparity_map
from slanted.runtime.kernel import kernel
from slanted.runtime.threads import share


def interpolate_background(disparity: npt.ArrayLike) -> npt.NDArray[np.float32]:
    """Fill every unknown pixel with the farther of its known neighbours in the row.

    This is ``interpolateBackground`` of the KITTI stereo development kit: a hole is taken for
    an occlusion, so what is seen beyond it belongs to the background, the smaller disparity.

    1. Along each row, a hole between two known pixels takes the smaller of the two; a hole at the
       left or right border takes the nearest known pixel of the row.
    2. A row with nothing known takes, column by column, the first known row below it at the top of
       the map and the last known row above it at the bottom. The development kit leaves such a row
       unknown in the middle of the map; here it takes the smaller of the rows above and below, the
       rule of step 1.

    Parameters
    ----------
    disparity
        (H, W) map in pixels; NaN (or anything not finite) is unknown.

    Returns
    -------
    (H, W) float32 map without NaN; known pixels keep their value.

    Raises
    ------
    InputError
        If `disparity` is not a two-dimensional map, or nothing in it is known.

    References
    ----------
    .. [1] A. Geiger, P. Lenz, R. Urtasun, "Are we ready for autonomous driving? The KITTI vision
       benchmark suite", CVPR 2012; development kit, ``io_disp.h``.
    """
    sparse = as_disparity_map(disparity, "disparity")
    if np.isnan(sparse).all():
        raise InputError(
            "disparity: expected at least one known pixel to fill the others from, got a map that "
            "is unknown everywhere; check the matcher's disparity range."
        )
    # After the first pass each row is known or unknown as a whole, so one along columns suffices.
    dense = sparse.astype(np.float32)
    share(len(dense), lambda first, last: _fill_rows(dense[first:last]))
    if np.isnan(dense[:, 0]).any():
        columns = np.ascontiguousarray(dense.T)
        _fill_rows(columns)
        dense = np.ascontiguousarray(columns.T)
    return dense


@kernel
def _fill_rows(values: npt.NDArray[np.float32]) -> None:
    """Step 1 for each row, in place; a row of NaN stays one."""
    height, width = values.shape
    for y in range(height):
        before = -1  # the last known column
        for x in range(width + 1):
            if x < width and np.isnan(values[y, x]):
                continue
            if before < 0 and x == width:
                break
            left = values[y, before] if before >= 0 else values[y, x]
            right = values[y, x] if x < width else left
            fill = min(left, right)
            for hole in range(before + 1, x):
                values[y, hole] = fill
            before = x
