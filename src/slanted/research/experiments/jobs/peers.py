"""Methods to compare with: OpenCV's block matcher, ELAS, and results in a folder.

Their holes are filled as KITTI does, since a pixel without a disparity counts as wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from slanted.errors import FileError, InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from slanted.matching import DisparityRange
    from slanted.research.experiments.jobs.frames import Pair

BLOCK = 15
"""Side of a block in pixels: near the best of 9 to 21 on both datasets."""


def block_matching(pair: Pair) -> NDArray[np.float32]:
    """Match with ``cv2.StereoBM``, padded at the left as our SGBM is."""
    import numpy as np

    from slanted.matching.interpolation import interpolate_background
    from slanted.matching.sgbm import FIXED_POINT
    from slanted.runtime.opencv import cv2

    images, searched = _grey_images(pair)
    count = -(-len(searched) // 16) * 16
    padded = [cv2.copyMakeBorder(i, 0, 0, count, 0, cv2.BORDER_REPLICATE) for i in images]
    matcher = cv2.StereoBM_create(count, BLOCK)
    matcher.setMinDisparity(searched.low)
    matcher.setDisp12MaxDiff(1)
    found = matcher.compute(*padded)[:, count:].astype(np.float32) / FIXED_POINT
    found[found < searched.low] = np.nan
    return interpolate_background(found)


def elas(pair: Pair) -> NDArray[np.float32]:
    """Match with ELAS, in its settings for Middlebury, which fill most holes."""
    import numpy as np

    from slanted.matching.interpolation import interpolate_background

    try:
        import elas as library
    except ImportError as error:
        raise InputError("ELAS: not installed; pip install pyelas, or go without it") from error
    images, searched = _grey_images(pair)
    matcher = library.Elas()
    matcher.set_preset(library.PRESET_MIDDLEBURY)
    matcher.disp_max = searched.high
    found = np.array(matcher.process(*images)[0], np.float32)
    found[found < 0] = np.nan
    return interpolate_background(found)


def _grey_images(pair: Pair) -> tuple[list[NDArray[np.uint8]], DisparityRange]:
    """Return the pair as 8-bit grey images, and the range of disparities to search."""
    import numpy as np

    from slanted.images.colour import as_8_bit, as_grey
    from slanted.matching.disparity_range import disparity_range

    pair8 = as_8_bit(pair.left, pair.right)
    searched = disparity_range(*pair8, pair.settings.matching)
    return [np.ascontiguousarray(as_grey(image)) for image in pair8], searched


def stored(pair: Pair) -> NDArray[np.float32]:
    """Read the disparity of this frame from a folder."""
    from slanted.io import read_disparity
    from slanted.matching.interpolation import interpolate_background
    from slanted.research.experiments.jobs.frames import stored_file

    path = stored_file(pair.job)
    if not path.exists():
        raise FileError(
            path,
            f"expected a disparity of {pair.job.frame.name} there, as .pfm, .npy, .png (KITTI) or "
            f".tif, found none",
        )
    found = read_disparity(path)
    if found.shape != pair.truth.shape:
        rows, columns = pair.truth.shape
        raise FileError(
            path,
            f"expected the size of the images, {columns}×{rows}, got "
            f"{found.shape[1]}×{found.shape[0]}; use results at full size",
        )
    return interpolate_background(found)
