"""Results as messages of ROS 2, and cameras from its messages, without any ROS.

A `Message` is a type and its fields. Whoever has a class for each type makes real messages of it
with `Message.made`: rosbags in `slanted.ros.bag_writer`, rclpy in ``examples/ros2``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from slanted.errors import InputError
from slanted.io.calibration import Calibration
from slanted.io.calibration_files import calibration_from_projections
from slanted.output.export import depth_map
from slanted.output.space import Space

if TYPE_CHECKING:
    from slanted.output.result_fields import ResultData

DISPARITY, IMAGE = "stereo_msgs/msg/DisparityImage", "sensor_msgs/msg/Image"
COMPRESSED, POINTS = "sensor_msgs/msg/CompressedImage", "sensor_msgs/msg/PointCloud2"
CAMERA, HEADER = "sensor_msgs/msg/CameraInfo", "std_msgs/msg/Header"
STEP = 1 / 16
"""Smallest difference of disparities, in pixels: planes have any value, but the matches that they
are fitted to are not finer."""
UNKNOWN_BELOW = 1.0
"""Unknown disparities lie this far below ``min_disparity``, as those of stereo_image_proc do."""
FLOAT32 = 7
"""The number of ``PointField.FLOAT32``."""
_POINT = np.dtype([("x", "<f4"), ("y", "<f4"), ("z", "<f4"), ("rgb", "<u4")])


@dataclass(frozen=True, eq=False)
class Message:
    """A message of ROS 2."""

    type: str
    """As in ``sensor_msgs/msg/Image``."""
    fields: dict[str, Any]
    """Numbers, texts, arrays, further messages, and lists of these."""

    def made(self, make: Callable[[str, dict[str, Any]], Any]) -> Any:
        """Return what `make` makes of the type and the fields, inner messages first."""

        def real(value: Any) -> Any:
            if isinstance(value, Message):
                return value.made(make)
            return [real(each) for each in value] if isinstance(value, list) else value

        return make(self.type, {name: real(value) for name, value in self.fields.items()})


def header_of(header: Any) -> Message:
    """Return a copy of the header of another message: its stamp and frame."""
    return header_at(stamp_of(header), str(header.frame_id))


def header_at(stamp: int, frame: str) -> Message:
    """Return a header of a stamp in nanoseconds."""
    seconds, rest = divmod(stamp, 10**9)
    time = Message("builtin_interfaces/msg/Time", {"sec": seconds, "nanosec": rest})
    return Message(HEADER, {"stamp": time, "frame_id": frame})


def stamp_of(header: Any) -> int:
    """Return the stamp of a header in nanoseconds."""
    return int(header.stamp.sec) * 10**9 + int(header.stamp.nanosec)


def disparity_message(result: ResultData, cameras: Calibration, header: Message) -> Message:
    """Return the disparity as ``stereo_msgs/DisparityImage``.

    By its definition Z = f t / d, so that the difference of the principal points is added to the
    disparities. The sky and pixels below ``confidence.min`` are unknown, below ``min_disparity``.

    Examples
    --------
    >>> import slanted
    >>> from slanted.synthetic import make_scene
    >>> scene = make_scene(96, 64, segments=40, seed=1)
    >>> result = slanted.estimate(scene.left, scene.right, preset="fast")
    >>> cameras = slanted.Calibration(100.0, 100.0, 47.5, 31.5, baseline_meters=0.1)
    >>> message = disparity_message(result, cameras, header_at(1_500_000_000, "left"))
    >>> message.fields["f"], message.fields["t"], message.fields["image"].fields["encoding"]
    (100.0, 0.1, '32FC1')
    """
    shifted = result.solid_disparity() + np.float32(cameras.doffs_pixels)
    known = shifted[np.isfinite(shifted)]
    # Some disparities lie outside of what was searched, as at the rim that one camera sees.
    low, high = (0, 0) if result.searched is None else (result.searched.low, result.searched.high)
    lowest = float(known.min(initial=low + cameras.doffs_pixels))
    highest = float(known.max(initial=high + cameras.doffs_pixels))
    disparity = np.where(np.isfinite(shifted), shifted, np.float32(lowest - UNKNOWN_BELOW))
    height, width = disparity.shape
    window = {"x_offset": 0, "y_offset": 0, "height": height, "width": width, "do_rectify": False}
    return Message(
        DISPARITY,
        {
            "header": header,
            "image": float_image(disparity, header),
            "f": cameras.fx_pixels,
            "t": cameras.baseline_meters,
            "valid_window": Message("sensor_msgs/msg/RegionOfInterest", window),
            "min_disparity": lowest,
            "max_disparity": highest,
            "delta_d": STEP,
        },
    )


def depth_message(result: ResultData, cameras: Calibration, header: Message) -> Message:
    """Return the depth in metres as REP 118 has it: NaN where unknown, infinite in the sky."""
    return float_image(depth_map(result, cameras), header)


def points_message(
    result: ResultData, cameras: Calibration, rgb: NDArray[np.uint8], header: Message
) -> Message:
    """Return a point for each pixel, NaN where unknown, in the frame of the left camera.

    The cloud has the rows and columns of the image and the fields x, y, z and rgb, as that of
    stereo_image_proc.
    """
    positions = cameras.points(result.solid_disparity(), Space.of(result, cameras).least)
    height, width = positions.shape[:2]
    points = np.empty((height, width), _POINT)
    for axis, name in enumerate("xyz"):
        points[name] = positions[..., axis]
    red, green, blue = (rgb[..., channel].astype(np.uint32) for channel in range(3))
    points["rgb"] = red << 16 | green << 8 | blue
    fields = [
        Message(
            "sensor_msgs/msg/PointField",
            {"name": name, "offset": 4 * place, "datatype": FLOAT32, "count": 1},
        )
        for place, name in enumerate(_POINT.names or ())
    ]
    return Message(
        POINTS,
        {
            "header": header,
            "height": height,
            "width": width,
            "fields": fields,
            "is_bigendian": False,
            "point_step": _POINT.itemsize,
            "row_step": width * _POINT.itemsize,
            "data": points.reshape(-1).view(np.uint8),
            "is_dense": bool(np.isfinite(positions).all()),
        },
    )


def result_messages(result: Any, cameras: Calibration, header: Message) -> dict[str, Message]:
    """Return all messages of a `slanted.Result`, by the last parts of their topics."""
    from slanted.output.pictures import rgb_or_grey

    rgb = rgb_or_grey(result.left, result.disparity.shape)
    return {
        "disparity": disparity_message(result, cameras, header),
        "depth/image_rect": depth_message(result, cameras, header),
        "depth/camera_info": camera_message(cameras, result.disparity.shape, header),
        "points": points_message(result, cameras, rgb, header),
    }


def camera_message(cameras: Calibration, shape: tuple[int, ...], header: Message) -> Message:
    """Return the left camera, whose images are rectified and of (height, width), for the depth."""
    k = np.zeros((3, 4))
    k[0, 0], k[1, 1], k[2, 2] = cameras.fx_pixels, cameras.fy_pixels, 1
    k[:2, 2] = cameras.cx_pixels, cameras.cy_pixels
    whole = {"x_offset": 0, "y_offset": 0, "height": 0, "width": 0, "do_rectify": False}
    return Message(
        CAMERA,
        {
            "header": header,
            "height": shape[0],
            "width": shape[1],
            "distortion_model": "plumb_bob",
            "d": np.zeros(5),
            "k": k[:, :3].reshape(-1),
            "r": np.eye(3).reshape(-1),
            "p": k.reshape(-1),
            "binning_x": 0,
            "binning_y": 0,
            "roi": Message("sensor_msgs/msg/RegionOfInterest", whole),
        },
    )


def float_image(values: NDArray[np.float32], header: Message) -> Message:
    """Return a map as an image of 32-bit floats."""
    height, width = values.shape
    data = np.ascontiguousarray(values, "<f4").reshape(-1).view(np.uint8)
    fields = {"height": height, "width": width, "encoding": "32FC1", "is_bigendian": 0}
    return Message(IMAGE, {"header": header, **fields, "step": 4 * width, "data": data})


def cameras_of(names: tuple[str, str], left: Any, right: Any) -> Calibration:
    """Return the calibration of a pair from the two messages ``sensor_msgs/CameraInfo``.

    Parameters
    ----------
    names
        What errors call the messages, such as their topics.
    left, right
        Messages of rclpy or of rosbags.

    Raises
    ------
    InputError
        If they do not hold the projections of a rectified pair.
    """
    try:
        found = calibration_from_projections(
            projection_of(names[0], left), projection_of(names[1], right)
        )
    except InputError as error:
        problem = str(error)
        if not problem.startswith(names):
            problem = f"{names[0]}, {names[1]}: the cameras make no sense ({problem})"
        raise InputError(f"{problem}; calibrate them, or give the calibration with --calib") from (
            error
        )
    return replace(found, image_size=image_size_of(left))


def projection_of(name: str, camera: Any) -> NDArray[np.float64]:
    """Return P of a message; refuse that of a camera that is not calibrated."""
    full = np.asarray(camera.p, np.float64).reshape(3, 4)
    if not np.isfinite(full).all() or full[0, 0] <= 0 or full[1, 1] <= 0:
        raise InputError(f"{name}: expected the projection P of a calibrated camera, got none")
    return of_image(full, camera)


def of_image(matrix: NDArray[np.float64], camera: Any) -> NDArray[np.float64]:
    """Return K or P for the pixels of the image, which may be a binned part of the sensor's."""
    part = matrix.copy()
    part[:2, 2] -= camera.roi.x_offset, camera.roi.y_offset
    part[0] /= max(1, camera.binning_x)
    part[1] /= max(1, camera.binning_y)
    return part


def image_size_of(camera: Any) -> tuple[int, int] | None:
    """Return width and height of the images of a camera; None if it does not say."""
    width = (camera.roi.width or camera.width) // max(1, camera.binning_x)
    height = (camera.roi.height or camera.height) // max(1, camera.binning_y)
    return (int(width), int(height)) if width and height else None
