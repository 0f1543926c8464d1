"""One stereo pair of a benchmark, and its ground truth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from slanted.errors import FileError, InputError

CROSS_CHECK_PIXELS = 1.0

_VISIBLE = 255
_MASK_VALUES = (0, 128, _VISIBLE)


@dataclass(frozen=True)
class Frame:
    """The files of one rectified pair with ground truth for its left view.

    What is visible in both views comes from the first of `ground_truth_noc`, `visible_mask` and
    `ground_truth_right` that is given.

    Attributes
    ----------
    name
        Unique within the dataset; splits refer to it.
    left, right
        The images.
    ground_truth
        Disparity of the left view wherever it was measured.
    ground_truth_noc
        The same, only for pixels visible in both views (KITTI).
    calibration
        The dataset's own calibration file.
    max_disparity
        Upper bound of the true disparities in pixels where the dataset declares one.
    disparity_format
        How the ground-truth files store disparity; see :func:`slanted.io.read_disparity`.
    disparity_scale
        Stored value of one pixel of disparity, for the format "middlebury".
    visible_mask
        Image of the left view: 255 visible in both views, 128 occluded, 0 no ground truth.
    ground_truth_right
        Disparity of the right view, for a cross-check where there is no mask.
    """

    name: str
    left: Path
    right: Path
    ground_truth: Path
    ground_truth_noc: Path | None = None
    calibration: Path | None = None
    max_disparity: int | None = None
    disparity_format: Literal["kitti", "middlebury", "pfm"] = "kitti"
    disparity_scale: float | None = None
    visible_mask: Path | None = None
    ground_truth_right: Path | None = None

    def load_ground_truth(
        self,
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32] | None]:
        """Read the ground truth of all pixels and of those visible in both views.

        Returns
        -------
        Two (H, W) float32 maps in pixels, NaN where unknown; the second is None if the dataset does
        not say what is occluded.

        Raises
        ------
        FileError
            If a file cannot be read, or differs in size from the ground truth.
        """
        truth = self._read_map(self.ground_truth)
        if self.ground_truth_noc is not None:
            noc = self._read_map(self.ground_truth_noc)
            _require_size(self.ground_truth_noc, noc.shape, truth.shape)
            return truth, noc
        visible = self._visible(truth)
        if visible is None:
            return truth, None
        return truth, np.where(visible, truth, np.float32(np.nan))

    def _visible(self, truth: npt.NDArray[np.float32]) -> npt.NDArray[np.bool_] | None:
        if self.visible_mask is not None:
            visible = read_visible(self.visible_mask)
            _require_size(self.visible_mask, visible.shape, truth.shape)
            return visible
        if self.ground_truth_right is not None:
            right = self._read_map(self.ground_truth_right)
            _require_size(self.ground_truth_right, right.shape, truth.shape)
            return visible_in_both(truth, right)
        return None

    def _read_map(self, path: Path) -> npt.NDArray[np.float32]:
        from slanted.io import read_disparity

        return read_disparity(path, format=self.disparity_format, scale=self.disparity_scale)


Candidate = tuple[str, Callable[[], Frame]]
"""The name of a possible frame, and a function that returns it or raises a FileError."""


def check_right_image(right: Path, left: Path) -> Path:
    """Return `right`; raise a FileError if it is missing, so that half a pair is not skipped."""
    if not right.is_file():
        raise FileError(
            right,
            f"expected the right image of {left}, found no such file; unpack the archive again.",
        )
    return right


def read_visible(path: Path) -> npt.NDArray[np.bool_]:
    """Read a Middlebury visibility mask: True where a pixel is visible in both views.

    Raises
    ------
    FileError
        If the file is not a grey image of 255 (visible), 128 (occluded) and 0 (no ground truth).
    """
    from slanted.io import read_image

    mask = read_image(path)
    if mask.ndim != 2:
        raise FileError(
            path, f"expected a mask of one channel, got shape {mask.shape}; convert it to grey."
        )
    others = np.setdiff1d(mask, _MASK_VALUES)
    if others.size:
        raise FileError(
            path,
            "expected a mask of 255 (visible), 128 (occluded) and 0 (no ground truth), got also "
            f"the value {others[0]}; save it without smoothing or JPEG compression.",
        )
    visible: npt.NDArray[np.bool_] = mask == _VISIBLE
    return visible


def visible_in_both(
    left: npt.NDArray[np.float32],
    right: npt.NDArray[np.float32],
    tolerance: float = CROSS_CHECK_PIXELS,
) -> npt.NDArray[np.bool_]:
    """Cross-check the ground truths of two views.

    A pixel x of disparity d is visible in both where round(x - d) lies in the right view and the
    right disparity there, or at one of its two neighbours in the row, is within `tolerance` of d.
    The neighbours make up for rounding: without them, pixels where a slanted surface jumps by one
    level of an 8-bit map would count as occluded.

    Parameters
    ----------
    left, right
        (H, W) disparities of the left and right view, positive, NaN where unknown.
    tolerance
        Largest difference in pixels within one surface.

    Returns
    -------
    (H, W) mask of the left view, False where `left` is unknown.
    """
    if left.ndim != 2 or left.shape != right.shape:
        raise InputError(
            f"right: expected a map of the shape of left, {left.shape}, got {right.shape}; pass "
            "the ground truths of one pair."
        )
    columns = left.shape[1]
    known = np.isfinite(left)
    target = np.rint(np.arange(columns) - np.where(known, left, 0)).astype(np.int64)
    agrees = np.zeros(left.shape, dtype=np.bool_)
    for offset in (-1, 0, 1):
        there = np.take_along_axis(right, np.clip(target + offset, 0, columns - 1), axis=1)
        agrees |= np.abs(there - left) <= tolerance
    inside: npt.NDArray[np.bool_] = (target >= 0) & (target < columns)
    return known & inside & agrees


def _require_size(path: Path, got: tuple[int, ...], expected: tuple[int, ...]) -> None:
    if got != expected:
        raise FileError(
            path,
            f"expected the size of the ground truth, {expected[1]}x{expected[0]}, got "
            f"{got[1]}x{got[0]}; use files of one resolution.",
        )
