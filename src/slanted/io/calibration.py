"""The geometry of a rectified pair: from disparity to metres."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slanted.errors import InputError, warn

FARTHEST_METERS = 10.0
"""A longer baseline is more likely one in millimetres."""


@cache
def _doubt_baseline(meters: float) -> None:
    """Warn, once for each length: the pairs of a batch have the same cameras."""
    warn(
        f"a baseline of {meters:g} m is far for two cameras; if it is in millimetres, give metres, "
        "or --baseline-unit 0.001 for a calibration file"
    )


@dataclass(frozen=True)
class Calibration:
    """A rectified pair of cameras.

    Parameters
    ----------
    fx_pixels, fy_pixels
        Focal lengths.
    cx_pixels, cy_pixels
        Principal point of the left camera.
    baseline_meters
        Distance between the cameras.
    doffs_pixels
        Principal point of the right camera minus that of the left, in x. A point at infinity has
        the disparity −doffs.
    image_size
        Width and height of the images, if known.

    Examples
    --------
    >>> import numpy as np
    >>> import slanted
    >>> cameras = slanted.Calibration(700.0, 700.0, 48.0, 32.0, baseline_meters=0.5)
    >>> cameras.depth(np.array([[35.0, 70.0]]))
    array([[10.,  5.]], dtype=float32)
    """

    fx_pixels: float
    fy_pixels: float
    cx_pixels: float
    cy_pixels: float
    baseline_meters: float
    doffs_pixels: float = 0.0
    image_size: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            if field.name == "image_size":
                continue
            value = getattr(self, field.name)
            must_be_positive = field.name in ("fx_pixels", "fy_pixels", "baseline_meters")
            if not math.isfinite(value) or (must_be_positive and value <= 0):
                kind = "finite number above 0" if must_be_positive else "finite number"
                raise InputError(f"{field.name}: expected a {kind}, got {value}")
        if self.baseline_meters > FARTHEST_METERS:
            _doubt_baseline(self.baseline_meters)

    def depth(
        self, disparity: NDArray[np.floating[Any]], least: float = 0.0
    ) -> NDArray[np.float32]:
        """Return the depth of every pixel in metres, NaN where unknown or behind the camera.

        Parameters
        ----------
        disparity
            Pixels, NaN or infinite where unknown.
        least
            A disparity less than this many pixels above that of infinity counts as unknown.
        """
        shifted = np.asarray(disparity, dtype=np.float64) + self.doffs_pixels
        is_in_front = np.isfinite(shifted) & (shifted > 0) & (shifted >= least)
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            depth = (self.fx_pixels * self.baseline_meters / shifted).astype(np.float32)
        return np.where(is_in_front & np.isfinite(depth), depth, np.float32(np.nan))

    def points(
        self, disparity: NDArray[np.floating[Any]], least: float = 0.0
    ) -> NDArray[np.float32]:
        """Return the position of every pixel of an ``(H, W)`` map; see `positions`."""
        disparity = np.asarray(disparity)
        if disparity.ndim != 2:
            raise InputError(f"disparity: expected shape (H, W), got {disparity.shape}")
        height, width = disparity.shape
        return self.positions(np.arange(width), np.arange(height)[:, np.newaxis], disparity, least)

    def positions(
        self,
        u: NDArray[Any],
        v: NDArray[Any],
        disparity: NDArray[np.floating[Any]],
        least: float = 0.0,
    ) -> NDArray[np.float32]:
        """Return the positions of points of the left image, in the left camera's coordinates.

        Parameters
        ----------
        u, v
            Column and row, pixels; fractions are allowed.
        disparity
            Disparity of each point; the three shapes must broadcast.
        least
            As for `depth`.

        Returns
        -------
        NDArray[np.float32]
            ``(..., 3)``, metres: X right, Y down, Z forward; NaN where unknown.
        """
        depth = self.depth(disparity, least)
        x = depth * (u - self.cx_pixels) / self.fx_pixels
        y = depth * (v - self.cy_pixels) / self.fy_pixels
        return np.stack([x, y, depth], axis=-1).astype(np.float32)
