"""KITTI pairs as a recording of ROS 2, and its results read back and compared number by number.

A recording is written with rosbags, as MCAP and in SQLite, `slanted batch` makes a new one of it,
and rosbags reads that. Disparity, depth, points, colours, stamps and frames are compared with
those of `slanted.Stream` on the same pairs.

python benchmarks/recordings.py [--pairs 20] [--preset fast] [--storages mcap sqlite3]
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from rosbags.rosbag2 import Reader, StoragePlugin, Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

import slanted
from common import SMOKE, frames_of, options, pair_of, record, told
from slanted.batch.recording import run_recording
from slanted.ros.messages import CAMERA, IMAGE

PERIOD = 100_000_000
"""Nanoseconds between two frames of KITTI's cameras."""
START = 1_317_042_272_000_000_000
FRAME = "left_optical"
STORE = get_typestore(Stores.ROS2_HUMBLE)
Pair = tuple[np.ndarray, np.ndarray, slanted.Calibration]


def main() -> None:
    """Compare the results of each storage."""
    smoke = {"pairs": 2, "storages": ["mcap", "sqlite3"]}
    arguments = options(__doc__, smoke, pairs=20, preset="fast", storages=["mcap", "sqlite3"])
    pairs = list(read_pairs(arguments.pairs))
    settings = slanted.Settings.preset(arguments.preset)
    expected = list(streamed(pairs, settings))
    rows = []
    for storage in arguments.storages:
        with tempfile.TemporaryDirectory() as folder:
            rows.append(told(measure(Path(folder), storage, pairs, expected)))
    record("recordings", arguments, rows)
    if any(row["numbers_that_differ"] for row in rows):
        sys.exit("the numbers that were read back are not those that were estimated")


def read_pairs(count: int) -> Iterator[Pair]:
    """Yield pairs with their cameras."""
    for frame in frames_of("kitti2015", "all", count):
        left, right = pair_of(frame)
        height, width = left.shape[:2]
        cameras = (
            slanted.Calibration(700.0, 700.0, width / 2, height / 2, 0.5)
            if frame.calibration is None
            else slanted.read_calibration(frame.calibration)
        )
        yield left, right, replace(cameras, image_size=(width, height))


def streamed(pairs: list[Pair], settings: slanted.Settings) -> Iterator[slanted.Result]:
    """Yield the result of each pair; other cameras are another stream."""
    stream = None
    for left, right, cameras in pairs:
        if stream is None or stream.calibration != cameras:
            stream = slanted.Stream(settings, cameras)
        yield stream(left, right)


def measure(
    folder: Path, storage: str, pairs: list[Pair], expected: list[slanted.Result]
) -> dict[str, Any]:
    """Return how many numbers were compared and how many differ, with time and size."""
    source = folder / "kitti"
    with Writer(source, version=8, storage_plugin=StoragePlugin[storage.upper()]) as writer:
        topics: dict[str, Any] = {}
        for number, pair in enumerate(pairs):
            for topic, message in sent(pair, START + number * PERIOD):
                kind = message.__msgtype__
                if topic not in topics:
                    topics[topic] = writer.add_connection(topic, kind, typestore=STORE)
                raw = STORE.serialize_cdr(message, kind)
                writer.write(topics[topic], START + number * PERIOD, raw)
    outcome = run_recording(source, folder / "out", expected[0].settings)
    assert outcome.tally.done == len(pairs), outcome
    compared = wrong = 0
    for number, (found, result) in enumerate(zip(read(outcome.bag), expected, strict=True)):
        for ours, theirs in compare(found, result, START + number * PERIOD):
            same = ours == theirs
            if ours.dtype.kind == "f":
                same |= np.isnan(ours) & np.isnan(theirs)
            compared, wrong = compared + same.size, wrong + int((~same).sum())
    assert SMOKE or compared > 1e6
    return {
        "storage": storage,
        "pairs": len(pairs),
        "numbers_compared": compared,
        "numbers_that_differ": wrong,
        "seconds_a_pair": outcome.tally.seconds / len(pairs),
        "input_megabytes": size_of(source),
        "output_megabytes": size_of(outcome.bag),
        "remarks": list(outcome.remarks),
    }


def sent(pair: Pair, stamp: int) -> Iterator[tuple[str, Any]]:
    """Yield the topics and messages of two cameras."""
    types = STORE.types
    cameras = pair[2]
    time = types["builtin_interfaces/msg/Time"](*divmod(stamp, 10**9))
    header = types["std_msgs/msg/Header"](time, FRAME)
    roi = types["sensor_msgs/msg/RegionOfInterest"](0, 0, 0, 0, False)
    for side, image in zip(("left", "right"), pair[:2], strict=True):
        height, width = image.shape[:2]
        encoding = "mono8" if image.ndim == 2 else "rgb8"
        data = np.ascontiguousarray(image).reshape(-1)
        yield (
            f"/kitti/{side}/image_rect",
            types[IMAGE](header, height, width, encoding, 0, data.size // height, data),
        )
        p = np.zeros((3, 4))
        p[0, 0], p[1, 1], p[2, 2] = cameras.fx_pixels, cameras.fy_pixels, 1
        p[:2, 2] = cameras.cx_pixels, cameras.cy_pixels
        if side == "right":
            p[0, 2] += cameras.doffs_pixels
            p[0, 3] = -cameras.fx_pixels * cameras.baseline_meters
        eye = np.eye(3).reshape(-1)
        rest = "plumb_bob", np.zeros(5), eye, eye, p.reshape(-1), 0, 0, roi
        yield f"/kitti/{side}/camera_info", types[CAMERA](header, height, width, *rest)


def read(bag: Path) -> Iterator[dict[str, Any]]:
    """Yield the messages of each stamp by topic, read with the definitions in the recording."""
    frames: dict[int, dict[str, Any]] = {}
    with Reader(bag) as reader:
        store = get_typestore(Stores.EMPTY)
        for connection in reader.connections:
            store.register(get_types_from_msg(connection.msgdef.data, connection.msgtype))
        for connection, logged, raw in reader.messages():
            message = store.deserialize_cdr(raw, connection.msgtype)
            frames.setdefault(logged, {})[connection.topic] = message
    yield from (frames[logged] for logged in sorted(frames))


def compare(
    found: dict[str, Any], result: slanted.Result, stamp: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield what was read and what it should be, as arrays of equal shape."""
    assert set(found) == {
        f"/kitti/{name}"
        for name in ("disparity", "depth/image_rect", "depth/camera_info", "points")
    }
    for message in found.values():
        time = message.header.stamp
        yield np.array([time.sec, time.nanosec]), np.array(divmod(stamp, 10**9))
        yield np.array([message.header.frame_id]), np.array([FRAME])
    assert result.calibration is not None
    disparity = found["/kitti/disparity"]
    values = np.frombuffer(disparity.image.data, "<f4").reshape(result.disparity.shape)
    solid = result.solid_disparity() + np.float32(result.calibration.doffs_pixels)
    yield np.where(values < disparity.min_disparity, np.nan, values), solid
    cameras = [result.calibration.fx_pixels, result.calibration.baseline_meters]
    yield np.array([disparity.f, disparity.t]), np.array(cameras, np.float32)
    depth = np.frombuffer(found["/kitti/depth/image_rect"].data, "<f4")
    yield depth, result.depth().reshape(-1)
    points = np.frombuffer(found["/kitti/points"].data, "<f4").reshape(-1, 4)
    known = np.isfinite(points[:, :3]).all(axis=1)
    positions, colours = result.points()
    yield points[known, :3], positions
    packed = points[known, 3].copy().view("<u4")
    yield np.stack([packed >> 16, packed >> 8 & 255, packed & 255], axis=1), colours


def size_of(folder: Path) -> float:
    """Return the size of a folder's files in megabytes."""
    return sum(file.stat().st_size for file in folder.iterdir()) / 1e6


if __name__ == "__main__":
    main()
