"""Which topics of a recording are the pair: those that the user names, or the only ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from slanted.errors import FileError, did_you_mean
from slanted.ros.messages import CAMERA, COMPRESSED, IMAGE

SIDES = (("left", "right"), ("infra1", "infra2"), ("cam0", "cam1"), ("camera0", "camera1"))
"""Parts of the names of left topics, and what stands there in those of right ones."""
RECTIFIED = "rect"
"""Part of the last name of topics with rectified images, by ROS's convention."""
PACKED = "/compressed"
"""Ends the names of topics with JPEG and PNG."""


@dataclass(frozen=True)
class PairTopics:
    """The topics of a pair."""

    left: str
    right: str
    left_camera: str | None
    right_camera: str | None
    """The topics with the cameras' calibrations; None if there are none."""

    @property
    def namespace(self) -> str:
        """What both names begin with, to which the names of results are added."""
        parts = []
        for one, other in zip(self.left.split("/"), self.right.split("/"), strict=False):
            if one != other:
                break
            parts.append(one)
        return "/".join(parts).rstrip("/")

    @property
    def are_rectified(self) -> bool:
        """Whether both images are rectified, as their names say."""
        return _is_rectified(self.left) and _is_rectified(self.right)


def find_topics(
    source: Path, types: Mapping[str, str], left: str | None = None, right: str | None = None
) -> PairTopics:
    """Return the topics of the pair.

    Parameters
    ----------
    source
        The recording, for messages.
    types
        The type of each topic.
    left, right
        The topics of the images, if the user names them.

    Raises
    ------
    FileError
        If there is no such topic, or it is not clear which are meant; the message lists those that
        there are.

    Examples
    --------
    >>> types = {f"/{side}/image_rect": IMAGE for side in ("left", "right")}
    >>> find_topics(Path("recording.mcap"), {**types, "/left/camera_info": CAMERA}).left_camera
    '/left/camera_info'
    """
    images = [topic for topic, kind in types.items() if kind in (IMAGE, COMPRESSED)]
    for option, topic in (("--left", left), ("--right", right)):
        if topic is not None and topic not in images:
            what = f"holds {types[topic]}, no images" if topic in types else "is not there"
            hint = did_you_mean(topic, images)
            raise FileError(source, f"{option}: the topic {topic} {what}{hint}; {_listed(images)}")
    pairs = [
        (one, other)
        for one, other in _plausible(images)
        if left in (None, one) and right in (None, other)
    ]
    if left is not None and right is not None:
        pairs = [(left, right)]
    if len(pairs) != 1:
        some = f"has {len(pairs)} pairs" if pairs else "has no pair"
        which = f"{some} of cameras whose names belong together"
        raise FileError(
            source, f"{which}; name two topics with --left and --right; {_listed(images)}"
        )
    cameras = (_camera_of(topic, types) for topic in pairs[0])
    return PairTopics(*pairs[0], *cameras)


def _plausible(images: list[str]) -> list[tuple[str, str]]:
    """Return the pairs by name: rectified ones if there are any, uncompressed ones if any."""
    pairs = []
    for topic in images:
        for one, other in SIDES:
            partner = topic.replace(one, other)
            if one in topic and partner in images:
                pairs.append((topic, partner))
                break
    pairs = [pair for pair in pairs if _is_rectified(pair[0])] or pairs
    whole = [pair for pair in pairs if not pair[0].endswith(PACKED)]
    return whole or pairs


def _is_rectified(topic: str) -> bool:
    return RECTIFIED in topic.removesuffix(PACKED).rpartition("/")[2]


def _camera_of(topic: str, types: Mapping[str, str]) -> str | None:
    """Return the topic of an image's camera: beside the image, or below its name."""
    image = topic if types[topic] == IMAGE else topic.rpartition("/")[0]
    names = (f"{image.rpartition('/')[0]}/camera_info", f"{image}/camera_info")
    return next((name for name in names if types.get(name) == CAMERA), None)


def _listed(images: list[str]) -> str:
    if not images:
        return "it holds no images at all"
    return f"the topics with images are {', '.join(sorted(images))}"
