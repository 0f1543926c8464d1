"""OpenCV's semi-global block matcher (Hirschmüller 2008), which the paper starts from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from slanted.errors import InputError
from slanted.images.colour import as_grey
from slanted.runtime.arrays import Bytes, DisparityMap
from slanted.runtime.opencv import cv2

if TYPE_CHECKING:
    from slanted.matching import DisparityRange
    from slanted.settings import MatchingSettings, SgbmSettings

MODES = {
    "sgbm": cv2.STEREO_SGBM_MODE_SGBM,
    "hh": cv2.STEREO_SGBM_MODE_HH,
    "3way": cv2.STEREO_SGBM_MODE_SGBM_3WAY,
    "hh4": cv2.STEREO_SGBM_MODE_HH4,
}
FIXED_POINT = 16
"""OpenCV returns disparities in sixteenths of a pixel."""
LARGEST_DISPARITY = 32767 // FIXED_POINT
BYTES_A_CELL = 4
"""Memory per pixel and disparity in mode hh: a cost and a sum of 16 bits each."""
LARGEST_COST = 32767
"""Largest path cost that fits OpenCV's 16 bits, which wrap around without an error."""


def match(
    left: Bytes, right: Bytes, searched: DisparityRange, settings: MatchingSettings
) -> DisparityMap:
    """Match an 8-bit pair, in grey if ``sgbm.grey`` is set; see `slanted.matching`.

    OpenCV leaves a band at the left border unmatched (and at the right one for negative
    disparities), so both images are padded by repeating their border pixels.
    """
    if settings.sgbm.grey:
        left, right = (np.asarray(as_grey(image), np.uint8) for image in (left, right))
    p1, p2 = penalties(settings.sgbm, 1 if left.ndim == 2 else 3)
    if max(-searched.low, searched.high - 1) > LARGEST_DISPARITY:
        raise InputError(
            f"matching.max_disparity: expected disparities within ±{LARGEST_DISPARITY} px for the "
            f"matcher sgbm, got {searched.low} to {searched.high}; narrow the range, reduce the "
            f"images or use another matcher"
        )
    count = -(-len(searched) // 16) * 16  # OpenCV requires a multiple of 16
    before, after = max(0, searched.low + count), max(0, -searched.low)
    padded = [
        cv2.copyMakeBorder(image, 0, 0, before, after, cv2.BORDER_REPLICATE)
        for image in (left, right)
    ]
    matcher = cv2.StereoSGBM_create(
        minDisparity=searched.low,
        numDisparities=count,
        blockSize=settings.sgbm.block_size,
        P1=p1,
        P2=p2,
        # OpenCV takes 0 for 1; a difference as wide as the range switches the check off.
        disp12MaxDiff=settings.left_right_threshold or count,
        preFilterCap=settings.sgbm.prefilter_cap,
        uniquenessRatio=settings.sgbm.uniqueness,
        speckleWindowSize=settings.speckle_size,
        speckleRange=settings.speckle_range,
        mode=MODES[settings.sgbm.mode],
    )
    try:
        fixed = matcher.compute(*padded)[:, before : before + left.shape[1]]
    except cv2.error as error:
        gigabytes = padded[0].shape[0] * padded[0].shape[1] * count * BYTES_A_CELL / 1e9
        raise InputError(
            f"matching.sgbm: OpenCV fails on {left.shape[1]}×{left.shape[0]} pixels with {count} "
            f"disparities, for which mode hh needs about {gigabytes:.1f} GB of memory "
            f"({error.err or error}); lower max_disparity, reduce the images or set mode=3way"
        ) from error
    disparity: DisparityMap = fixed.astype(np.float32) / FIXED_POINT
    disparity[(disparity < searched.low) | (disparity >= searched.high)] = np.nan
    return disparity


def penalties(settings: SgbmSettings, channels: int) -> tuple[int, int]:
    """Return P1 and P2, or raise an error if path costs would not fit OpenCV's 16 bits."""
    area = channels * settings.block_size**2
    p1 = 8 * area if settings.p1 is None else settings.p1
    p2 = 32 * area if settings.p2 is None else settings.p2
    if p2 <= p1:
        raise InputError(f"matching.sgbm.p2: expected more than p1 ({p1}), got {p2}; raise it")
    largest = 2 * settings.prefilter_cap * area + p2
    if largest > LARGEST_COST:
        raise InputError(
            f"matching.sgbm.block_size: expected path costs of at most {LARGEST_COST}, got up to "
            f"{largest} with blocks of {settings.block_size} px in {channels} channels and P2 = "
            f"{p2}; lower block_size, p2 or prefilter_cap"
        )
    return p1, p2
