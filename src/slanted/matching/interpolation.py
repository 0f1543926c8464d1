"""Filling the holes of a sparse result as the KITTI benchmark does before it scores one."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from slanted.arrays import as_disparity_map
from slanted.errors import InputError


def interpolate_background(disparity: npt.ArrayLike) -> npt.NDArray[np.float32]:
    """Fill every unknown pixel with the farther of its known neighbours in the row.

    This is ``interpolateBackground`` of the KITTI stereo development kit [1]_: a hole is taken for
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
    dense = _fill_rows(_fill_rows(sparse).T).T
    return np.ascontiguousarray(dense, dtype=np.float32)


def _fill_rows(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Step 1 for each row; a row of NaN stays one."""
    columns = values.shape[1]
    known = ~np.isnan(values)
    index = np.arange(columns)
    before = np.maximum.accumulate(np.where(known, index, 0), axis=1)
    after = np.minimum.accumulate(np.where(known, index, columns - 1)[:, ::-1], axis=1)[:, ::-1]
    # Where nothing is known on one side the index rests on the border pixel, which is then NaN,
    # and fmin passes the other side through.
    return np.fmin(
        np.take_along_axis(values, before, axis=1), np.take_along_axis(values, after, axis=1)
    )
