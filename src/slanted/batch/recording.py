"""A recording as a batch: from the images of two cameras to a new recording of what they saw."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slanted.batch.pairs import has_pairs
from slanted.batch.run import Progress, Tally
from slanted.batch.work import collected_warnings
from slanted.errors import FileError, InputError, SlantedError, plural
from slanted.io.replacement import own_folder
from slanted.output.folder import check_folder
from slanted.ros.bag_writer import BagWriter, new_bag
from slanted.ros.bags import METADATA, STORAGES, Recording, is_recording
from slanted.ros.cameras import CalibrationSource, Cameras
from slanted.ros.frames import Frame, Frames
from slanted.ros.images import image_of
from slanted.ros.messages import Message, header_of, result_messages
from slanted.ros.pairing import Pairing, Stamps, pair_by_stamp, remarks, seconds, short_time
from slanted.ros.topics import find_topics
from slanted.runtime.threads import core_count
from slanted.stream.stream import Stream

if TYPE_CHECKING:
    from slanted.settings import Settings

SUFFIX = "_disparity"
"""Added to the name of a recording, for that of its results."""


@dataclass(frozen=True)
class RecordingOutcome:
    """What became of a recording."""

    tally: Tally
    """Pairs that are done and that failed."""
    bag: Path
    """The new recording, a folder."""
    topics: tuple[str, ...]
    """Its topics."""
    remarks: tuple[str, ...]
    """What was not as it should be, a sentence each."""
    complete: bool = True
    """Whether the recording could be read to its end."""


def run_recording(
    source: Path,
    output: Path,
    settings: Settings,
    *,
    topics: tuple[str | None, str | None] = (None, None),
    calibration: CalibrationSource | None = None,
    progress: Progress | None = None,
) -> RecordingOutcome:
    """Estimate all pairs of a recording, and write the results as a recording.

    Parameters
    ----------
    source
        A folder of rosbag2, or its file.
    output
        Folder that gets the new recording, of the same storage.
    settings
        Settings of all pairs.
    topics
        The topics of the left and the right images; by default the only ones that can be.
    calibration
        Gives the calibration; by default it comes from the cameras' topics.
    progress
        Called at every change, as by `slanted.batch.run.run_batch`.

    Raises
    ------
    FileError
        If the recording cannot be read, or lacks the topics; if the new one cannot be written.
    InputError
        If no two frames belong together, or no pair could be estimated.
    MissingExtraError
        If rosbags is not installed.

    Examples
    --------
    >>> from pathlib import Path
    >>> import slanted
    >>> from slanted.ros.messages import IMAGE, header_at
    >>> from slanted.synthetic import make_scene
    >>> scene = make_scene(96, 64, segments=40, seed=1)
    >>> fields = {"height": 64, "width": 96, "encoding": "rgb8", "is_bigendian": 0, "step": 288}
    >>> fields["header"] = header_at(1_500_000_000, "left")
    >>> with new_bag(Path("drive"), "mcap") as bag:  # as a robot records it
    ...     for side in ("left", "right"):
    ...         image = Message(IMAGE, {**fields, "data": getattr(scene, side).reshape(-1)})
    ...         bag.write({f"/{side}/image_rect": image}, logged=1_500_000_000)
    >>> cameras = slanted.Calibration(100.0, 100.0, 47.5, 31.5, baseline_meters=0.1)
    >>> settings = slanted.Settings.preset("fast")
    >>> run_recording(Path("drive"), Path("out"), settings, calibration=lambda size: cameras).topics
    ('/disparity', '/depth/image_rect', '/depth/camera_info', '/points')
    """
    check_folder(output)
    recording = Recording(source)
    named = find_topics(source, recording.types, *topics)
    left, right = recording.stamps(named.left), recording.stamps(named.right)
    pairing = pair_by_stamp(left, right)
    _check_paired(source, left, right, pairing)
    cameras = Cameras(recording, named, calibration)
    frames = Frames(recording, left, right, pairing)
    loop = _Loop(settings, cameras, frames, progress)
    folder = recording_folder(source, output)
    with own_folder(output), new_bag(folder, recording.storage) as bag:
        loop.run(bag, named.namespace)
    if not loop.tally.done:
        raise InputError(f"{source}: no pair could be estimated; the first: {loop.first_failure}")
    problems = [each.problem for each in (left, right) if each.problem]
    return RecordingOutcome(
        loop.tally,
        folder,
        bag.topics,
        (*remarks(left, right, pairing), *cameras.remarks(), *loop.remarks()),
        complete=not problems,
    )


def recording_folder(source: Path, output: Path) -> Path:
    """Return the folder of the new recording."""
    whole = source.resolve()  # a folder may have a dot in its name
    name = whole.stem if whole.suffix.lower() in STORAGES else whole.name
    return output / f"{name}{SUFFIX}"


def is_recording_to_run(source: Path) -> bool:
    """Return whether a source is a recording; a folder of pairs is none, whatever lies beside them.

    What has the metadata of a recording is one.
    """
    if not is_recording(source):
        return False
    return not source.is_dir() or (source / METADATA).is_file() or not has_pairs(source)


def _check_paired(source: Path, left: Stamps, right: Stamps, pairing: Pairing) -> None:
    """Refuse a recording without a single pair, and say why there is none."""
    for stamps in (left, right):
        if not len(stamps.stamp):
            raise FileError(
                source, stamps.problem or f"the topic {stamps.topic} holds no images; name another"
            )
    if not len(pairing.left):
        raise InputError(
            f"{source}: no frames of {left.topic} and {right.topic} were taken within "
            f"{short_time(pairing.limit)}, half a period, of each other, the nearest "
            f"{short_time(pairing.nearest or 0)}; are their clocks the same?"
        )


class _Loop:
    """The state of a run over a recording."""

    def __init__(
        self, settings: Settings, cameras: Cameras, frames: Frames, progress: Progress | None
    ) -> None:
        self._cameras, self._frames = cameras, frames
        self._progress = progress
        self._stream = Stream(settings)
        self._start = time.perf_counter()
        self.tally = Tally(len(frames), threads=settings.threads or core_count())
        self._warnings: list[str] = []  # the first one of each pair that had any
        self.first_failure = ""

    def run(self, bag: BagWriter, namespace: str) -> None:
        """Estimate all pairs and write what they give."""
        self._tell(None)
        for frame in self._frames:
            start = time.perf_counter()
            record: dict[str, Any] = {"name": seconds(frame.stamp)}
            try:
                with collected_warnings() as said:
                    messages, energy = self._estimated(frame)
            except SlantedError as error:
                self._stream.forget()
                self.first_failure = self.first_failure or str(error)
                record |= {"outcome": "failed", "error": str(error)}
            else:
                logged = {f"{namespace}/{name}": each for name, each in messages.items()}
                bag.write(logged, frame.logged)
                self._warnings += said[:1]
                total = time.perf_counter() - start
                record |= {"outcome": "done", "seconds": {"total": total}, "energy": energy}
            outcome = record["outcome"]
            self.tally = replace(self.tally, **{outcome: getattr(self.tally, outcome) + 1})
            self._tell(record)

    def remarks(self) -> list[str]:
        """Return a sentence on the warnings, which are much the same for all pairs."""
        if not self._warnings:
            return []
        count = f"{len(self._warnings)} of {plural(self.tally.total, 'pair')}"
        return [f"{count} came with a warning, the first: {self._warnings[0]}"]

    def _estimated(self, frame: Frame) -> tuple[dict[str, Message], float]:
        """Return the messages of a pair's result, and its energy."""
        left, right = (
            image_of(name, message)
            for name, message in zip(frame.names, (frame.left, frame.right), strict=True)
        )
        calibration, left, right = self._cameras.seen(frame.stamp, frame.names, left, right)
        self._stream.calibration = calibration
        if frame.afresh:
            self._stream.forget()
        result = self._stream(left, right, names=frame.names)
        header = header_of(frame.left.header)
        messages = result_messages(result, calibration, header)
        return messages, result.energy

    def _tell(self, record: dict[str, Any] | None) -> None:
        self.tally = replace(self.tally, seconds=time.perf_counter() - self._start)
        if self._progress is not None:
            self._progress(self.tally, record)
