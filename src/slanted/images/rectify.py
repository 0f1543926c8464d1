"""Rectification on the fly: images of raw cameras become those of parallel ones without distortion.

The maps, from each pixel of a rectified image to its place in the raw one, are made once for a pair
of cameras; then a pair of images takes a few milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from slanted.errors import FileError, InputError
from slanted.images.checks import size_text
from slanted.io.calibration_files import calibration_from_projections, check_calibration
from slanted.io.raw_calibration import RawCalibration, RawCamera
from slanted.runtime.opencv import cv2

if TYPE_CHECKING:
    from slanted.images import Image
    from slanted.io import Calibration

Maps = tuple[NDArray[Any], NDArray[Any]]
"""The two maps that ``cv2.remap`` takes, in the fixed-point form that is fastest."""

Turn = tuple[NDArray[np.float64], NDArray[np.float64]]
"""A rotation R and a projection P."""


@dataclass(frozen=True, eq=False)
class Rectifier:
    """Rectifies pairs of images of one pair of cameras.

    Examples
    --------
    >>> import numpy as np
    >>> from pathlib import Path
    >>> from slanted.io.raw_calibration import RawCalibration, RawCamera
    >>> K = np.array([[100.0, 0, 47.5], [0, 100, 31.5], [0, 0, 1]])
    >>> camera = RawCamera(K, np.array([-0.1, 0.01, 0, 0]))
    >>> pose = np.eye(3), np.array([-0.1, 0, 0])
    >>> cameras = RawCalibration(Path("calib.yml"), camera, camera, pose)
    >>> rectify = make_rectifier(cameras, (64, 96))
    >>> left, right = rectify(np.zeros((64, 96), np.uint8), np.zeros((64, 96), np.uint8))
    >>> left.shape, round(rectify.calibration.baseline_meters, 3)
    ((64, 96), 0.1)
    """

    calibration: Calibration
    """The cameras after rectification, which give depth."""
    left: Maps
    right: Maps

    def __call__(
        self, left: Image, right: Image, names: tuple[str, str] = ("left", "right")
    ) -> tuple[Image, Image]:
        """Return the rectified pair; `names` are what messages call the images.

        Raises
        ------
        InputError
            If an image is not of the size of the maps.
        """
        rectified: list[Image] = []
        for name, image, maps in zip(names, (left, right), (self.left, self.right), strict=True):
            if image.shape[:2] != maps[0].shape[:2]:
                raise InputError(
                    f"{name}: expected images of the size of the calibration, "
                    f"{size_text(maps[0])}, got {size_text(image)}"
                )
            rectified.append(cv2.remap(image, *maps, cv2.INTER_LINEAR))
        return rectified[0], rectified[1]


def make_rectifier(raw: RawCalibration, size: tuple[int, int]) -> Rectifier:
    """Return what rectifies images of (height, width) of a pair of cameras.

    Raises
    ------
    FileError
        If the calibration is of images of another size, or makes no sense.
    """
    height, width = size
    try:
        turns = _turns(raw, (width, height))
        (_, left), (_, right) = turns
        cameras = calibration_from_projections(left, right, raw.unit_meters)
        check_calibration(raw.path, replace(cameras, image_size=raw.image_size), size)
        maps = [
            _maps(camera, turn, (width, height))
            for camera, turn in zip((raw.left, raw.right), turns, strict=True)
        ]
    except (InputError, cv2.error) as error:
        why = error.err if isinstance(error, cv2.error) else error
        raise FileError(raw.path, f"the calibration makes no sense ({why}); check it") from error
    return Rectifier(replace(cameras, image_size=(width, height)), maps[0], maps[1])


def _turns(raw: RawCalibration, size: tuple[int, int]) -> tuple[Turn, Turn]:
    """Return the rotations and projections that make the cameras parallel."""
    left, right = raw.left, raw.right
    if left.turn is not None and right.turn is not None:
        return left.turn, right.turn
    if raw.pose is None:
        raise InputError("R, T: expected how the cameras stand to each other, got neither")
    rotation, translation = raw.pose
    # Without a border: every pixel of the rectified images is one of the raw images.
    R1, R2, P1, P2, *_ = cv2.stereoRectify(
        *(left.matrix, left.distortion, right.matrix, right.distortion),
        *(size, rotation, translation.reshape(3, 1)),
        alpha=0,
    )
    if P2[1, 3] != 0:
        raise InputError("T: expected cameras beside each other, got one above the other")
    return (R1, P1), (R2, P2)


def _maps(camera: RawCamera, turn: Turn, size: tuple[int, int]) -> Maps:
    make = cv2.fisheye.initUndistortRectifyMap if camera.fisheye else cv2.initUndistortRectifyMap
    rotation, projection = turn
    # The fisheye's function takes no projection with a fourth column.
    given = camera.matrix, camera.distortion, rotation, np.ascontiguousarray(projection[:, :3])
    fixed, fractions = make(*given, size, cv2.CV_16SC2)
    return fixed, fractions
