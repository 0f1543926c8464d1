"""Recordings made with rosbags, and what it reads of ours."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("rosbags", reason="recordings need the extra ros")

from rosbags.rosbag2 import Reader, StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from slanted.ros.messages import CAMERA, COMPRESSED, IMAGE

STORE = get_typestore(Stores.ROS2_HUMBLE)
TYPES = STORE.types
MILLISECOND = 10**6
CAMERAS = {"fx": 100.0, "cx": 47.5, "cy": 31.5, "baseline": 0.1}


def header(stamp, frame="left_optical"):
    time = TYPES["builtin_interfaces/msg/Time"](*divmod(stamp, 10**9))
    return TYPES["std_msgs/msg/Header"](time, frame)


def image(pixels, stamp, encoding=None, frame="left_optical", padding=0):
    """An image message; its rows may be padded."""
    encoding = encoding or ("mono8" if pixels.ndim == 2 else "rgb8")
    rows = np.ascontiguousarray(pixels).reshape(len(pixels), -1).view(np.uint8)
    rows = np.pad(rows, ((0, 0), (0, padding)))
    size = pixels.shape[:2]
    return TYPES[IMAGE](header(stamp, frame), *size, encoding, 0, rows.shape[1], rows.reshape(-1))


def compressed(data, stamp, frame="left_optical"):
    return TYPES[COMPRESSED](header(stamp, frame), "jpeg", np.frombuffer(data, np.uint8))


def camera(stamp, size=(64, 96), side="left", doffs=0.0, **changes):
    """A camera_info message of one side of a rectified pair."""
    known = {**CAMERAS, **changes}
    p = np.zeros((3, 4))
    p[0, 0] = p[1, 1] = known["fx"]
    p[:2, 2] = known["cx"] + (doffs if side == "right" else 0), known["cy"]
    p[2, 2] = 1
    p[0, 3] = -known["fx"] * known["baseline"] if side == "right" else 0
    roi = TYPES["sensor_msgs/msg/RegionOfInterest"](0, 0, 0, 0, False)
    given = {"d": np.zeros(5), "k": np.eye(3), "r": np.eye(3), "p": p} | known
    rest = known.get("model", "plumb_bob"), *(given[name].reshape(-1) for name in "dkrp")
    binning = changes.get("binning", 0)
    return TYPES[CAMERA](header(stamp), *size, *rest, binning, binning, roi)


def write_bag(path, messages, storage="mcap"):
    """Write (topic, time of recording, message) with rosbags; return the folder."""
    with Writer(path, version=8, storage_plugin=StoragePlugin[storage.upper()]) as writer:
        connections = {}
        for topic, logged, message in messages:
            kind = message.__msgtype__
            if topic not in connections:
                connections[topic] = writer.add_connection(topic, kind, typestore=STORE)
            writer.write(connections[topic], logged, bytes(STORE.serialize_cdr(message, kind)))
    return path


def frame_messages(frame, stamp, right_stamp=None, size=(64, 96), logged=None):
    """The four messages of a pair, as two cameras publish them."""
    logged = stamp + MILLISECOND if logged is None else logged
    right_stamp = stamp if right_stamp is None else right_stamp
    yield "/left/image_rect", logged, image(frame.left, stamp)
    yield "/left/camera_info", logged, camera(stamp, size)
    yield "/right/image_rect", logged, image(frame.right, right_stamp, frame="right_optical")
    yield "/right/camera_info", logged, camera(right_stamp, size, "right")


def read_bag(path):
    """Return {topic: [(time of recording, message), ...]} as rosbags reads it."""
    found = {}
    with Reader(path) as reader:
        for connection, logged, raw in reader.messages():
            store = get_typestore(Stores.EMPTY)
            from rosbags.typesys import get_types_from_msg

            # With the definitions that the recording holds, as a stranger reads it.
            store.register(get_types_from_msg(connection.msgdef.data, connection.msgtype))
            message = store.deserialize_cdr(raw, connection.msgtype)
            found.setdefault(connection.topic, []).append((logged, message))
    return found


def floats(message):
    """The pixels of a 32FC1 image."""
    assert message.encoding == "32FC1"
    return np.frombuffer(message.data, "<f4").reshape(message.height, message.width)


def points(message):
    """The positions and colours of a cloud, by the offsets of its fields."""
    offsets = {field.name: field.offset for field in message.fields}
    rows = np.frombuffer(message.data, np.uint8).reshape(message.height, message.width, -1)
    assert rows.shape[2] == message.point_step
    xyz = [rows[..., offsets[n] : offsets[n] + 4].copy().view("<f4")[..., 0] for n in "xyz"]
    packed = rows[..., offsets["rgb"] : offsets["rgb"] + 4].copy().view("<u4")[..., 0]
    rgb = np.stack([packed >> 16 & 255, packed >> 8 & 255, packed & 255], axis=-1)
    return np.stack(xyz, axis=-1), rgb.astype(np.uint8)


def stamped(message):
    return SimpleNamespace(
        stamp=message.header.stamp.sec * 10**9 + message.header.stamp.nanosec,
        frame=message.header.frame_id,
    )
