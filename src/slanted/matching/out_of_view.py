"""Matches that cannot be: small patches at the left border, where surfaces leave the right view.

A surface of disparity d is seen by both views from column d on; left of that there is nothing to
match, and what a matcher finds there all the same is farther away, for nearer would be out of view
too. Such strays stand alone, far off the surface that they belong to, and would tilt its plane.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slanted.partition.patch_kernels import count_implausible, find_patches

STEP = 2.0
"""Pixels; matches side by side that differ by more are not of one patch, and what is nearer by more
is another surface."""


def drop_out_of_view(disparity: NDArray[np.float32], share: float) -> None:
    """Make unknown, in place, patches that are most likely strays.

    Those of less than `share` of the image of which more than half lies left of a nearer surface,
    where that surface is out of the right view. Patches that reach beyond the columns in which this
    can happen are left alone.
    """
    known = np.isfinite(disparity)
    if not known.any():
        return
    band = min(int(np.ceil(disparity[known].max())), disparity.shape[1])
    if band <= 0:
        return
    inside = np.ascontiguousarray(disparity[:, :band])
    patches = find_patches(np.ascontiguousarray(known[:, :band]), inside, STEP, 1)
    size = np.bincount(patches[patches >= 0], minlength=1)
    trusted = size >= share * disparity.size
    reaching = patches[:, -1]
    trusted[reaching[reaching >= 0]] = True
    counts = count_implausible(patches, trusted, disparity, STEP)
    stray = (2 * counts > size) & ~trusted
    disparity[:, :band][(patches >= 0) & stray[patches]] = np.nan
