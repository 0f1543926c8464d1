"""Middlebury 2014 Motorcycle, a real pair that ships with scikit-image and needs no download."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from slanted.errors import MissingExtraError
from slanted.io import Calibration
from slanted.runtime.extras import how_to_install

CALIBRATION = Calibration(
    fx_pixels=994.978,
    fy_pixels=994.978,
    cx_pixels=311.193,
    cy_pixels=254.877,
    baseline_meters=0.193001,
    doffs_pixels=31.086,
)
"""Calibration at the size that scikit-image ships; the numbers are from its documentation."""


def load_motorcycle() -> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.float32]]:
    """Return the left image, the right image, and the left disparity with NaN where unknown."""
    try:
        from skimage.data import stereo_motorcycle
    except ModuleNotFoundError as missing:
        # Whoever has no OpenCV either is told once.
        extras = "demo" if find_spec("cv2") else "opencv,demo"
        raise MissingExtraError(
            "the pair Motorcycle ships inside scikit-image, which is not installed; "
            f"{how_to_install(extras)}"
        ) from missing

    left, right, disparity = stereo_motorcycle()
    truth = disparity.astype(np.float32)
    truth[~np.isfinite(truth)] = np.nan
    return left, right, truth
