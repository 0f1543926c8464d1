"""The cameras of a recording, which may change in the midst of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from slanted.errors import FileError, InputError
from slanted.ros.bags import Recording
from slanted.ros.messages import cameras_of, stamp_of
from slanted.ros.topics import PairTopics

if TYPE_CHECKING:
    from slanted.io import Calibration

CalibrationSource = Callable[[tuple[int, int]], "Calibration"]
"""From the height and width of an image to its calibration."""


class Cameras:
    """The calibration at any time of a recording."""

    def __init__(
        self, recording: Recording, topics: PairTopics, given: CalibrationSource | None
    ) -> None:
        self._given = given
        self._topics = topics.left_camera, topics.right_camera
        self._known = [_changes(recording, topic) for topic in self._topics]
        if given is None and not all(self._known):
            missing = [
                image
                for image, known in zip((topics.left, topics.right), self._known, strict=True)
                if not known
            ]
            raise FileError(
                recording.path,
                f"no camera_info was found beside {' and '.join(missing)}; give the calibration "
                "with --calib, or --fx and --baseline",
            )

    def at(self, stamp: int, size: tuple[int, int]) -> Calibration:
        """Return the calibration at a time, of images of (height, width)."""
        if self._given is not None:
            return self._given(size)
        names = str(self._topics[0]), str(self._topics[1])
        return cameras_of(names, *(_latest(known, stamp) for known in self._known))


def _changes(recording: Recording, topic: str | None) -> list[tuple[int, Any]]:
    """Return the first message of a camera, and each that differs from the one before."""
    found: list[tuple[int, Any]] = []
    try:
        for message in recording.messages(topic) if topic is not None else ():
            camera = recording.decoded(str(topic), message)
            if not found or _identity(found[-1][1]) != _identity(camera):
                found.append((stamp_of(camera.header), camera))
    except (FileError, InputError):  # damaged from here on, which the images' topics say as well
        return found
    return found


def _identity(camera: Any) -> tuple[Any, ...]:
    size = camera.width, camera.height, camera.binning_x, camera.binning_y
    roi = camera.roi
    return (*size, roi.x_offset, roi.y_offset, roi.width, roi.height, *np.asarray(camera.p))


def _latest(known: list[tuple[int, Any]], stamp: int) -> Any:
    """Return the last camera until a time, or the first one."""
    return next((camera for at, camera in reversed(known) if at <= stamp), known[0][1])
