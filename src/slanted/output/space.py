"""What of a result has a place in space: how far clouds and meshes reach, and what is too oblique.

A surface at disparity d above that of infinity changes its depth by 1/d of it for each pixel of
disparity, so far away a small error is a long way. `AUTO_DISPARITY` is where clouds and meshes end
unless they are told a depth.

Seen at an angle θ, the part of a surface that a pixel shows is 1/sin θ times as long as one that
faces the camera. A mesh leaves out what is more oblique than `SLOPE` allows. So if two points of a
surface are L pixels apart in the image, and the nearer one is R away from the camera, then

    length ≤ SLOPE · L · R / f.

For in the triangle of camera and points the angle at the camera is at most L / f, that at the
farther point at least θ, and by the law of sines the length is R times the sine of the first over
that of the second. Every edge of a mesh keeps to this bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from slanted.errors import InputError
from slanted.io import Calibration
from slanted.runtime.arrays import Flags, Floats

if TYPE_CHECKING:
    from slanted.output.result_fields import ResultData

LEAST_DISPARITY = 0.5
"""Pixels above the disparity of infinity; anything farther has no usable depth."""
AUTO_DISPARITY = 6.0
"""Pixels above the disparity of infinity at which clouds and meshes of calibrated pairs end: one
pixel is a sixth of the depth there, and the usual error of a plane, a quarter of a pixel, 4 %. With
KITTI's cameras it is 65 m."""
SLOPE = 30.0
"""Most times that a surface is longer than it looks: it is seen at 1.9° or more. For a camera
1.65 m above the ground, as KITTI's, the mesh of the ground ends at 50 m."""
ASSUMED_BASELINE = 1.0
PIXELS_AT_A_TIME = 2**18
"""Each takes about 50 bytes while its angle is computed."""


def assumed_calibration(height: int, width: int) -> Calibration:
    """Return cameras for a pair of which nothing is known.

    The focal length is taken to be the image's width (a field of view of 53°), the principal point
    its centre; lengths are then in baselines.
    """
    return Calibration(width, width, (width - 1) / 2, (height - 1) / 2, ASSUMED_BASELINE)


@dataclass(frozen=True)
class Space:
    """Cameras, and how far what they see is used.

    Parameters
    ----------
    cameras
        The calibration, or an assumed one.
    is_known
        Whether it is a calibration: angles and the disparity of infinity are real.
    max_depth
        Metres, or baselines of assumed cameras; None for `AUTO_DISPARITY` if the cameras are known,
        and otherwise for no limit but `LEAST_DISPARITY`.
    """

    cameras: Calibration
    is_known: bool = True
    max_depth: float | None = None

    def __post_init__(self) -> None:
        if self.max_depth is not None and not self.max_depth > 0:
            raise InputError(f"max_depth: expected a depth above 0, got {self.max_depth}")

    @classmethod
    def of(
        cls, result: ResultData, calibration: Calibration | None, max_depth: float | None = None
    ) -> Space:
        """Return the space of a result; `max_depth` is by default ``space.max_depth``."""
        depth = result.settings.space.max_depth if max_depth is None else max_depth
        if calibration is None:
            return cls(assumed_calibration(*result.disparity.shape), False, depth)
        return cls(calibration, True, depth)

    @property
    def least(self) -> float:
        """Least disparity, in pixels above that of infinity, of what has a place in space."""
        if self.max_depth is None:
            return AUTO_DISPARITY if self.is_known else LEAST_DISPARITY
        return max(
            LEAST_DISPARITY, self.cameras.fx_pixels * self.cameras.baseline_meters / self.max_depth
        )

    @property
    def infinity(self) -> float:
        """Disparity of what is infinitely far; −∞ if that is not known."""
        return -self.cameras.doffs_pixels if self.is_known else -np.inf

    def slopes(self, gradient: Floats, disparity: Floats, u: Floats, v: Floats) -> Floats:
        """Return how many times longer surfaces are than they look: 1 / sin θ.

        Parameters
        ----------
        gradient
            (..., 2) change of the disparity for each pixel to the right and down.
        disparity, u, v
            Disparity at points of the image, and where they are.
        """
        cameras = self.cameras
        across = np.stack([u - cameras.cx_pixels, v - cameras.cy_pixels], axis=-1)
        above = disparity + cameras.doffs_pixels
        focal = np.array([cameras.fx_pixels, cameras.fy_pixels])
        # The plane n · (X, Y, Z) = f B; the ray (x, y, 1) meets it at the sine n · ray / |n| |ray|,
        # and n · ray is the disparity.
        along_axis = above - (gradient * across).sum(axis=-1)
        normal = np.sqrt(((gradient * focal) ** 2).sum(axis=-1) + along_axis**2)
        ray = np.sqrt(1 + ((across / focal) ** 2).sum(axis=-1))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(above > 0, normal * ray / above, np.inf)

    def oblique(self, result: ResultData) -> Flags | None:
        """Return the (H, W) pixels whose planes are too oblique; None if angles are not known."""
        if not self.is_known:
            return None
        cameras, labels = self.cameras, result.regions.label_image
        focal = np.array([cameras.fx_pixels, cameras.fy_pixels])
        principal = np.array([cameras.cx_pixels, cameras.cy_pixels])
        gradient = result.planes[:, :2]
        # The disparity where the axis of the camera meets the plane, as in `slopes`.
        axis = (gradient * (principal - result.regions.centre)).sum(axis=1) + result.planes[:, 2]
        axis = axis + cameras.doffs_pixels
        normal = np.sqrt(((gradient * focal) ** 2).sum(axis=1) + axis**2)
        scaled = np.column_stack([gradient, axis]) * SLOPE
        scaled /= np.maximum(normal, np.finfo(np.float64).tiny)[:, np.newaxis]
        found = np.empty(labels.shape, np.bool_)
        u, v = np.arange(labels.shape[1]) - principal[0], np.arange(len(labels)) - principal[1]
        rows = max(1, PIXELS_AT_A_TIME // labels.shape[1])
        for block in (slice(start, start + rows) for start in range(0, len(labels), rows)):
            across, down, along = (each[labels[block]] for each in np.ascontiguousarray(scaled.T))
            down_v = v[block, np.newaxis]
            ray = np.sqrt(1 + (u / focal[0]) ** 2 + (down_v / focal[1]) ** 2)
            found[block] = ~(across * u + down * down_v + along >= ray)
        return found

    def longest(
        self, pixels: NDArray[np.floating], distance: NDArray[np.floating]
    ) -> NDArray[np.floating]:
        """Return the bound on the length of an edge; see the module.

        Parameters
        ----------
        pixels
            Its length in the image.
        distance
            That of its nearer end from the camera.
        """
        focal = min(self.cameras.fx_pixels, self.cameras.fy_pixels)
        return SLOPE * pixels * distance / focal
