"""OpenCV's semi-global block matcher (Hirschmüller 2008), which the paper starts from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cv2
import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from slanted.matching import DisparityRange
    from slanted.settings import MatchingSettings

MODES = {
    "sgbm": cv2.STEREO_SGBM_MODE_SGBM,
    "hh": cv2.STEREO_SGBM_MODE_HH,
    "3way": cv2.STEREO_SGBM_MODE_SGBM_3WAY,
    "hh4": cv2.STEREO_SGBM_MODE_HH4,
}
FIXED_POINT = 16
"""OpenCV returns disparities in sixteenths of a pixel."""


def match(
    left: NDArray[np.uint8],
    right: NDArray[np.uint8],
    searched: DisparityRange,
    settings: MatchingSettings,
) -> NDArray[np.float32]:
    """Match an 8-bit pair; see `slanted.matching` for the interface.

    OpenCV leaves a band at the left border (and at the right one for negative disparities)
    unmatched; both images are padded by their edge so that the whole left image is matched.
    """
    count = -(-len(searched) // 16) * 16  # OpenCV wants a multiple of 16
    before, after = max(0, searched.low + count), max(0, -searched.low)
    padded = [
        cv2.copyMakeBorder(image, 0, 0, before, after, cv2.BORDER_REPLICATE)
        for image in (left, right)
    ]
    area = (1 if left.ndim == 2 else 3) * settings.sgbm.block_size**2
    p1 = 8 * area if settings.sgbm.p1 is None else settings.sgbm.p1
    p2 = 32 * area if settings.sgbm.p2 is None else settings.sgbm.p2
    matcher = cv2.StereoSGBM_create(
        minDisparity=searched.low,
        numDisparities=count,
        blockSize=settings.sgbm.block_size,
        P1=p1,
        P2=max(p2, p1 + 1),
        disp12MaxDiff=settings.left_right_threshold,
        preFilterCap=settings.sgbm.prefilter_cap,
        uniquenessRatio=settings.sgbm.uniqueness,
        speckleWindowSize=settings.speckle_size,
        speckleRange=max(1, round(settings.speckle_range)),
        mode=MODES[settings.sgbm.mode],
    )
    fixed = matcher.compute(*padded)[:, before : before + left.shape[1]]
    disparity: NDArray[np.float32] = fixed.astype(np.float32) / FIXED_POINT
    disparity[fixed < searched.low * FIXED_POINT] = np.nan
    return disparity
