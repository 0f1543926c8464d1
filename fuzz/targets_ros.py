"""Targets whose input is a message of ROS 2 as bytes; none without the extra ``ros``."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.target import Target, file_target
from slanted.errors import SlantedError

KINDS = ("Image", "CompressedImage", "CameraInfo")


@cache
def _store() -> Any:
    from rosbags.typesys import Stores, get_typestore

    return get_typestore(Stores.ROS2_HUMBLE)


def read_message_file(file: Path) -> None:
    """Read bytes as each kind of message, and what comes of it as an image or as cameras."""
    from slanted.ros.images import image_of
    from slanted.ros.messages import cameras_of

    for kind in KINDS:
        with suppress(Exception):  # of rosbags; a recording leaves such messages out
            message = _store().deserialize_cdr(file.read_bytes(), f"sensor_msgs/msg/{kind}")
            break
    else:
        return
    with suppress(SlantedError):
        if kind == "CameraInfo":
            cameras_of(("/left", "/right"), message, message)
        else:
            image = image_of("/left", message)
            assert image.ndim in (2, 3)
            assert image.dtype in (np.uint8, np.uint16)
    return


def _seeds() -> list[bytes]:
    from slanted.io import Calibration
    from slanted.io.images import encode
    from slanted.ros.messages import COMPRESSED, IMAGE, Message, camera_message, header_at

    header = header_at(10**9, "left")
    pixels = np.arange(6 * 8 * 3, dtype=np.uint8)
    encodings = {"mono8": 8, "rgb8": 24, "bgra8": 32, "mono16": 16, "bayer_rggb8": 8}
    sizes = {"height": 4, "width": 8, "is_bigendian": 0}
    messages = [
        Message(IMAGE, {"header": header, **sizes, "encoding": name, "step": step, "data": pixels})
        for name, step in encodings.items()
    ]
    png = np.frombuffer(encode(".png", pixels.reshape(6, 8, 3)), np.uint8)
    messages.append(Message(COMPRESSED, {"header": header, "format": "png", "data": png}))
    cameras = Calibration(100.0, 100.0, 4.0, 3.0, 0.1)
    messages.append(camera_message(cameras, (6, 8), header))
    store = _store()
    return [
        bytes(store.serialize_cdr(each.made(lambda kind, of: store.types[kind](**of)), each.type))
        for each in messages
    ]


ROS: tuple[Target, ...] = (
    (file_target("message", "message.cdr", read_message_file, _seeds, (b"rgb8", b"mono16")),)
    if find_spec("rosbags")
    else ()
)
