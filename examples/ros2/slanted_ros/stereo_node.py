"""A node: rectified images of two cameras in; disparity, depth and points out.

Every setting of slanted is a parameter, by its dotted name: ``-p matching.max_disparity:=128``.
Pairs that arrive while one is estimated are dropped, but for the newest.
"""

from __future__ import annotations

import array
import sys
import threading
from typing import Any

import message_filters
import numpy as np
import rclpy
from rcl_interfaces.msg import ParameterDescriptor, SetParametersResult
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from rosidl_runtime_py.utilities import get_message
from sensor_msgs.msg import CameraInfo, Image

from slanted import Settings, SlantedError, Stream
from slanted.ros.images import image_of
from slanted.ros.messages import (
    CAMERA,
    DISPARITY,
    IMAGE,
    POINTS,
    cameras_of,
    header_of,
    result_messages,
)
from slanted_ros.latest import Latest
from slanted_ros.parameters import parameters, settings_of

INPUTS = {
    "left/image_rect": Image,
    "right/image_rect": Image,
    "left/camera_info": CameraInfo,
    "right/camera_info": CameraInfo,
}
OUTPUTS = {
    "disparity": DISPARITY,
    "depth/image_rect": IMAGE,
    "depth/camera_info": CAMERA,
    "points": POINTS,
}
QUEUE = 8
"""Messages of a camera that wait for the other's."""
KEPT_RESULTS = 5
"""Results that wait for a slow reader. A number is a reliable profile, of which all subscribers get
what is sent; reliable ones, as RViz is by default, get nothing of a best-effort publisher."""


def real_message(kind: str, fields: dict[str, Any]) -> Any:
    """Return a message of rclpy.

    It takes bytes in an array of Python's own as they are, and looks at each element of others.
    """

    def taken(value: Any) -> Any:
        if not isinstance(value, np.ndarray):
            return value
        return array.array("B", value.tobytes()) if value.dtype == np.uint8 else value.tolist()

    return get_message(kind)(**{name: taken(value) for name, value in fields.items()})


class StereoNode(Node):
    """Estimates the newest pair, in a thread of its own, and publishes what it gives."""

    def __init__(self) -> None:
        super().__init__("slanted")
        # These two are of the start alone.
        fixed = ParameterDescriptor(read_only=True)
        self._preset = str(self.declare_parameter("preset", "fast", fixed).value)
        slop = self.declare_parameter("slop_seconds", 0.005, fixed).value
        for each in parameters(self._preset):
            # Of any type, since slanted itself says what it expects, and takes 5 for 5.0.
            described = ParameterDescriptor(description=each.description, dynamic_typing=True)
            self.declare_parameter(each.name, each.value, described)
        self._names = [each.name for each in parameters(self._preset)]
        self._settings = self._settings_with({})
        self._stream: Stream | None = None  # the worker's alone
        self.add_on_set_parameters_callback(self._changed)

        self._outputs = {
            topic: self.create_publisher(get_message(kind), topic, KEPT_RESULTS)
            for topic, kind in OUTPUTS.items()
        }
        inputs = [
            message_filters.Subscriber(self, kind, topic, qos_profile=qos_profile_sensor_data)
            for topic, kind in INPUTS.items()
        ]
        self._pairs = message_filters.ApproximateTimeSynchronizer(inputs, QUEUE, slop)
        self._latest: Latest[tuple[Any, ...]] = Latest()
        self._pairs.registerCallback(lambda *messages: self._latest.put(messages))
        self._worker = threading.Thread(target=self._work, daemon=True)
        self._worker.start()

    def close(self) -> None:
        """End the worker."""
        self._latest.close()
        self._worker.join()

    def _settings_with(self, changes: dict[str, Any]) -> Settings:
        values = {name: self.get_parameter(name).value for name in self._names}
        return settings_of({**values, **changes}, self._preset)

    def _changed(self, changed: list[Any]) -> Any:
        """Take other settings from the next pair on, or refuse them with a sentence."""
        changes = {each.name: each.value for each in changed if each.name in self._names}
        try:
            self._settings = self._settings_with(changes)
        except SlantedError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    def _work(self) -> None:
        while (messages := self._latest.take()) is not None:
            try:
                self.publish(*messages)
            except Exception as error:  # whatever is wrong with a pair, the next one may be good
                self._stream = None
                self.get_logger().error(str(error), throttle_duration_sec=1.0)

    def publish(self, left: Any, right: Any, left_camera: Any, right_camera: Any) -> None:
        """Estimate a pair and publish what it gives."""
        names = list(INPUTS)
        cameras = cameras_of((names[2], names[3]), left_camera, right_camera)
        if self._stream is None or self._stream.settings != self._settings:
            self._stream = Stream(self._settings)
        self._stream.calibration = cameras
        pair = image_of(names[0], left), image_of(names[1], right)
        result = self._stream(*pair, names=(names[0], names[1]))
        messages = result_messages(result, cameras, header_of(left.header))
        for topic, message in messages.items():
            self._outputs[topic].publish(message.made(real_message))


def main() -> None:
    """Run the node until it is interrupted; settings that cannot be end it with a sentence."""
    rclpy.init()
    try:
        node = StereoNode()
    except SlantedError as error:
        rclpy.try_shutdown()
        sys.exit(f"slanted: {error}")
    try:
        rclpy.spin(node)
    except KeyboardInterrupt:
        pass
    finally:
        node.close()
        node.destroy_node()
        rclpy.try_shutdown()


if __name__ == "__main__":
    main()
