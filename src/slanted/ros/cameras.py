"""The cameras of a recording, which may change in the midst of it.

Their images are rectified if the names of the topics do not say that they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from slanted.errors import FileError, InputError
from slanted.images.rectify import Rectifier, make_rectifier
from slanted.ros.bags import Recording
from slanted.ros.messages import cameras_of, stamp_of
from slanted.ros.raw_cameras import raw_cameras_of
from slanted.ros.topics import PairTopics

if TYPE_CHECKING:
    from slanted.images import Image
    from slanted.io import Calibration

CalibrationSource = Callable[[tuple[int, int]], "Calibration"]
"""From the height and width of an image to its calibration."""


class Cameras:
    """The calibration at any time of a recording, and rectified images."""

    def __init__(
        self, recording: Recording, topics: PairTopics, given: CalibrationSource | None
    ) -> None:
        self._given = given
        self._are_rectified = topics.are_rectified
        self._images = f"{topics.left}, {topics.right}"
        self._key: tuple[Any, ...] = ()  # of the cameras and the size that the next one is of
        self._rectify: Rectifier | Calibration | None = None
        self._have_changed = False  # whether images were rectified
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

    def seen(
        self, stamp: int, names: tuple[str, str], left: Image, right: Image
    ) -> tuple[Calibration, Image, Image]:
        """Return the calibration at a time, and the images that it is of, which are rectified.

        Raises
        ------
        InputError
            If the cameras make no sense, or raw images are not of their size.
        """
        size = left.shape[0], left.shape[1]
        if self._given is not None:
            return self._given(size), left, right
        one, other = (_latest(known, stamp) for known in self._known)
        key = id(one), id(other), size  # the messages are kept, and so are their numbers
        if self._rectify is None or self._key != key:
            self._rectify, self._key = self._rectifier(one, other, size), key
        if not isinstance(self._rectify, Rectifier):
            return self._rectify, left, right
        self._have_changed = True
        return self._rectify.calibration, *self._rectify(left, right, names)

    def remarks(self) -> list[str]:
        """Return a sentence if images were rectified."""
        if not self._have_changed:
            return []
        return [
            f"{self._images}: the names do not say that the images are rectified, so they were, "
            "with K, D, R and P of their cameras; if they were before, give the calibration with "
            "--calib, or --fx and --baseline"
        ]

    def _rectifier(self, left: Any, right: Any, size: tuple[int, int]) -> Rectifier | Calibration:
        """Return what rectifies raw images, or the calibration of those that are rectified."""
        names = str(self._topics[0]), str(self._topics[1])
        calibration = cameras_of(names, left, right)
        raw = None if self._are_rectified else raw_cameras_of(names, left, right)
        return calibration if raw is None else make_rectifier(raw, size)


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
    window = roi.x_offset, roi.y_offset, roi.width, roi.height, camera.distortion_model
    return (*size, *window, *camera.k, *camera.d, *camera.r, *camera.p)


def _latest(known: list[tuple[int, Any]], stamp: int) -> Any:
    """Return the last camera until a time, or the first one."""
    return next((camera for at, camera in reversed(known) if at <= stamp), known[0][1])
