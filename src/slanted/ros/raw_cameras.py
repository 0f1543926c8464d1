"""Cameras of raw images, which are rectified as image_proc does it: by K, D, R and P."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from slanted.errors import InputError
from slanted.io.raw_calibration import (
    DISTORTION_COUNTS,
    FISHEYE_COUNT,
    ROS_MODELS,
    RawCalibration,
    RawCamera,
)
from slanted.ros.messages import image_size_of, of_image, projection_of


def raw_cameras_of(names: tuple[str, str], left: Any, right: Any) -> RawCalibration | None:
    """Return a pair of raw cameras from messages; None if rectification would change nothing.

    Parameters
    ----------
    names
        What errors call the messages, such as their topics.
    left, right
        Messages ``sensor_msgs/CameraInfo`` of rclpy or of rosbags.

    Raises
    ------
    InputError
        If they are not calibrated, or their distortion is of a model that is not known.
    """
    one, other = _raw_camera(names[0], left), _raw_camera(names[1], right)
    if one.is_rectified and other.is_rectified:
        return None
    return RawCalibration(Path(names[0]), one, other, image_size=image_size_of(left))


def _raw_camera(name: str, camera: Any) -> RawCamera:
    model = str(camera.distortion_model or "plumb_bob")
    if model not in ROS_MODELS:
        raise InputError(
            f"{name}: expected a distortion_model of {', '.join(ROS_MODELS)}, got {model!r}; "
            "rectify the images before"
        )
    is_fisheye = ROS_MODELS[model]
    counts = (FISHEYE_COUNT,) if is_fisheye else DISTORTION_COUNTS
    distortion = np.asarray(camera.d, np.float64)
    if distortion.size == 0:  # a camera without distortion may have no coefficients
        distortion = np.zeros(counts[0])
    matrix, turn = (np.asarray(each, np.float64).reshape(3, 3) for each in (camera.k, camera.r))
    numbers = np.concatenate([matrix.ravel(), turn.ravel(), distortion])
    if distortion.size not in counts or not np.isfinite(numbers).all() or matrix[0, 0] <= 0:
        raise InputError(
            f"{name}: expected K, D and R of a calibrated camera, got none; calibrate it, or "
            "rectify the images before"
        )
    turned = turn, projection_of(name, camera)
    return RawCamera(of_image(matrix, camera), distortion, turned, is_fisheye)
