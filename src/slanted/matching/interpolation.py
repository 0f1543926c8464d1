"""Interpolation of sparse disparity maps, as in the KITTI benchmark."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from slanted.errors import InputError
from slanted.images.checks import as_disparity_map
from slanted.runtime.arrays import DisparityMap
from slanted.runtime.kernel import kernel
from slanted.runtime.threads import share


def interpolate_background(disparity: ArrayLike) -> DisparityMap:
    """Fill every unknown pixel with the farther of its known neighbours in the row.

    This is ``interpolateBackground`` of the KITTI stereo development kit. It takes a hole for an
    occlusion and fills it with the background, the smaller disparity.

    1. Along each row, a hole between two known pixels takes the smaller of the two; a hole at the
       left or right border takes the nearest known pixel of the row.
    2. Rows without any known pixel are filled in the same way along the columns. (The development
       kit fills them only at the top and the bottom of the map.)

    Parameters
    ----------
    disparity
        (H, W) map in pixels; NaN (or anything not finite) is unknown.

    Returns
    -------
    dense
        (H, W) float32 map without NaN; known pixels keep their values.

    Raises
    ------
    InputError
        If `disparity` is not a two-dimensional map, or nothing in it is known.

    References
    ----------
    .. [1] A. Geiger, P. Lenz, R. Urtasun, "Are we ready for autonomous driving? The KITTI vision
       benchmark suite", CVPR 2012; development kit, ``io_disp.h``.

    Examples
    --------
    >>> from numpy import nan
    >>> interpolate_background([[nan, 7, nan, nan, 3]])
    array([[7., 7., 3., 3., 3.]], dtype=float32)
    """
    sparse = as_disparity_map(disparity, "disparity")
    if np.isnan(sparse).all():
        raise InputError(
            "disparity: expected at least one known pixel to fill the others from, got a map that "
            "is unknown everywhere; check the matcher's disparity range."
        )
    # Each row is now known or unknown as a whole, so one pass along columns suffices.
    dense = sparse.astype(np.float32)
    share(len(dense), lambda first, last: _fill_rows(dense[first:last]))
    if np.isnan(dense[:, 0]).any():
        columns = np.ascontiguousarray(dense.T)
        _fill_rows(columns)
        dense = np.ascontiguousarray(columns.T)
    return dense


@kernel
def _fill_rows(values: DisparityMap) -> None:
    """Do step 1 for each row, in place; a row of NaN stays one."""
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
