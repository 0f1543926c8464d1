"""Removal of matches that the right view cannot confirm.

A surface of disparity d is seen by both views from column d on. Left of that column there is
nothing to match. What a matcher finds there is wrong and farther away, because anything nearer
would be out of view too. Such patches are small, and would tilt the planes fitted to them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from slanted.partition.patch_kernels import count_implausible, find_patches
from slanted.runtime.arrays import DisparityMap
from slanted.runtime.threads import share

if TYPE_CHECKING:
    from slanted.settings import MatchingSettings

STEP = 2.0
"""Pixels: neighbouring matches that differ by more belong to different patches or surfaces."""


def drop_impossible(
    disparity: DisparityMap, confidence: DisparityMap | None, settings: MatchingSettings
) -> tuple[DisparityMap, DisparityMap | None]:
    """Make matches unknown, in place, that lie outside the right image or are probably wrong."""
    # Matchers pad the right image; matches with the padding are meaningless.
    width = disparity.shape[1]
    columns = np.arange(width, dtype=np.float32)

    def drop(first: int, last: int) -> None:
        match_column = columns - disparity[first:last]
        disparity[first:last][(match_column < 0) | (match_column > width - 1)] = np.nan

    share(len(disparity), drop)
    if settings.out_of_view:
        drop_out_of_view(disparity, settings.out_of_view / 100)
    if confidence is not None:
        doubt_unknown(confidence, disparity)
    return disparity, confidence


def doubt_unknown(confidence: DisparityMap, disparity: DisparityMap) -> None:
    """Make a confidence 0, in place, where the disparity is unknown."""

    def some(first: int, last: int) -> None:
        confidence[first:last][np.isnan(disparity[first:last])] = 0.0

    share(len(disparity), some)


def drop_out_of_view(disparity: DisparityMap, share: float) -> None:
    """Make small patches at the left border unknown, in place, that are probably wrong.

    A patch is dropped if it has less than `share` of the image's pixels and more than half of it
    lies left of a nearer surface, where that surface is out of the right view. Patches that extend
    beyond the columns in which this can happen are kept.
    """
    most = np.fmax.reduce(disparity, axis=None)  # NaN only if all are
    if not most > 0:
        return
    inside = np.ascontiguousarray(disparity[:, : min(int(np.ceil(most)), disparity.shape[1])])
    band = inside.shape[1]
    patches = find_patches(np.isfinite(inside), inside, STEP, 1)
    size = np.bincount(patches[patches >= 0], minlength=1)
    trusted = size >= share * disparity.size
    reaching = patches[:, -1]
    trusted[reaching[reaching >= 0]] = True
    counts = count_implausible(patches, trusted, disparity, STEP)
    wrong = (2 * counts > size) & ~trusted
    disparity[:, :band][(patches >= 0) & wrong[patches]] = np.nan
