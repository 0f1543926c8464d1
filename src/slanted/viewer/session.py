"""A session: the scene that a server shows, the frames of the newest run, and its settings."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import asdict
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from slanted.errors import InputError, SlantedError
from slanted.output.export import export, export_names
from slanted.output.pictures import COLOUR_MAPS, disparity_scale
from slanted.output.pixel_pictures import depth_scale
from slanted.output.space import LEAST_DISPARITY
from slanted.viewer.answers import energy_course
from slanted.viewer.cache import Cache
from slanted.viewer.frames import Frame, Scene, frames_of_run
from slanted.viewer.geometry import MOST_TRIANGLES, cameras_data, pack_cloud, pack_mesh
from slanted.viewer.jobs import Jobs
from slanted.viewer.layers import (
    Look,
    layer_legend,
    layer_names,
    layer_title,
    paint_layer,
)
from slanted.viewer.others import Others
from slanted.viewer.sliders import OF_SEGMENTS, slider_data, slider_ranges
from slanted.viewer.tiles import TILE, Layer, layer_cache

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from slanted.inference.outcome import Snapshot
    from slanted.result import Result
    from slanted.result_folder import ResultFolder
    from slanted.viewer.others import Shown

PACKED_BYTES = 150_000_000
"""Memory for clouds and meshes; a mesh of 600,000 triangles takes about 17 MB."""


class NotThereError(SlantedError):
    """A page asked for something that does not exist, or no longer exists."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what}: does not exist, or not any more; reload the page")


class Session:
    """What a server shows: a result, its ground truth and the snapshots of its run, if known.

    All methods may be called from any thread. The keys of frames start with a `prefix`, random by
    default, because browsers keep pictures by address and the next result often has the same port.
    `compared` is a result or a disparity map to compare with, after its title.
    """

    def __init__(
        self,
        opened: ResultFolder,
        truth: NDArray[np.float32] | None = None,
        snapshots: list[Snapshot] | None = None,
        prefix: str | None = None,
        compared: tuple[str, Result | NDArray[np.float32]] | None = None,
    ) -> None:
        result = opened.result
        shown = result.disparity if truth is None else truth
        cameras = opened.calibration
        depths = (
            (1.0, 10.0)
            if cameras is None
            else depth_scale(cameras.depth(result.disparity, LEAST_DISPARITY))
        )
        views = opened.left, opened.right
        self.scene = Scene(opened.name, *views, cameras, truth, disparity_scale(shown), depths)
        self._prefix = secrets.token_hex(6) + "-" if prefix is None else prefix
        frames = frames_of_run(self._run_key(0), result, snapshots or [])
        left, right = views
        pair = None if left is None or right is None else (left, right)
        self._others = Others(self._prefix, compared, pair, result.searched)
        self._layers = layer_cache()
        self._packed: Cache[bytes] = Cache(PACKED_BYTES, len)
        self._frames = {frame.key: frame for frame in frames}
        self._settings = result.settings
        inputs = opened.record.get("inputs")
        self._keeps_segments = isinstance(inputs, dict) and bool(inputs.get("segments"))
        self._ranges = slider_ranges(result, OF_SEGMENTS if self._keeps_segments else ())
        self._lock = Lock()
        self._serial = 0
        self._jobs = Jobs(self._finished, self._changed)

    def state(self) -> dict[str, Any]:
        """Return what a page needs to show itself and to notice changes."""
        with self._lock:
            frames = list(self._frames.values())
            serial = self._serial
        last = frames[-1].result
        height, width = last.disparity.shape
        calibrated = self.scene.calibration is not None
        return {
            "serial": serial,
            "name": self.scene.name,
            "width": width,
            "height": height,
            "unit": "m" if calibrated else "baselines",
            "cameras": cameras_data(self.scene.source(last).cameras),
            "tile": TILE,
            "most_triangles": MOST_TRIANGLES,
            "calibrated": calibrated,
            "has_image": self.scene.left is not None,
            "frames": [frame.summary() for frame in frames],
            "job": asdict(self._jobs.state),
            "why_no_run": self._why_no_run(),
            "sliders": slider_data(self._settings, last, self._ranges),
            "exports": export_names(calibrated=calibrated),
            "least": round(100 * self._settings.confidence.min),
            "has_truth": self.scene.truth is not None,
            "energy": energy_course(frames[-1].final),
            "others": self._others.titles(),
            "colours": COLOUR_MAPS,
        }

    def frame(self, key: str) -> Frame:
        """Return a frame; a NotThereError if there is none, or a newer run replaced it."""
        with self._lock:
            frame = self._frames.get(key)
        if frame is None:
            raise NotThereError(key)
        return frame

    def shown(self, key: str) -> Shown:
        """Return a frame, or what it is compared with; a NotThereError if there is none."""
        return self._others.frame(key) or self.frame(key)

    def other(self, name: str) -> Shown:
        """Return what the result is compared with; SGBM takes a while the first time."""
        found = self._others.opened(name)
        if found is None:
            raise NotThereError(name)
        return found

    def describe_frame(self, key: str, colours: str = COLOUR_MAPS[0]) -> dict[str, Any]:
        """Return the summary of a frame, and its layers with their legends."""
        frame, look = self.shown(key), Look(0, colours)
        layers = [
            {
                "name": name,
                "title": layer_title(name),
                "legend": layer_legend(self.scene, frame, name, look).as_data(),
            }
            for name in layer_names(self.scene, frame)
        ]
        return {**frame.summary(), "layers": layers}

    def layer(self, key: str, name: str, look: Look | None = None) -> Layer:
        """Return a layer of a frame; a NotThereError if there is none."""
        frame = self.shown(key)
        if name not in layer_names(self.scene, frame):
            raise NotThereError(name)
        how = (look or Look()).of(name)
        made = f"{name} {how.percent} {how.colours}"
        return self._layers.get(key, made, lambda: paint_layer(self.scene, frame, name, how))

    def packed(self, key: str, kind: str, most: int, percent: int = 0) -> bytes:
        """Return a frame's ``cloud`` or ``mesh`` of at most `most` points or triangles.

        Pixels whose confidence is below `percent` are left out.
        """
        frame, pack = self.frame(key), {"cloud": pack_cloud, "mesh": pack_mesh}[kind]
        made = f"{kind} {most} {percent}"
        return self._packed.get(key, made, lambda: pack(self.scene, frame, most, percent))

    def run(self, changes: Mapping[str, Any], *, replace: bool = False) -> bool:
        """Start inference with other settings; return False if a run is under way.

        `changes` are values by the path of the setting, which must be in `SLIDERS`. A run that is
        under way is replaced if `replace` is true. An InputError says that a setting cannot be
        changed, a value is out of range, or the pair is missing.
        """
        from slanted.pipeline import reestimate

        reason = self._why_no_run()
        if reason:
            raise InputError(reason)
        for path, value in changes.items():
            if path not in self._ranges:
                raise InputError(f"{path}: cannot be changed here; expected one of the sliders")
            if type(value) not in (int, float):
                raise InputError(f"{path}: expected a number, got {value!r}")
            low, high = self._ranges[path]
            if not low <= value <= high:
                raise InputError(f"{path}: expected {low:g} to {high:g}, got {str(value)[:20]}")
        settings = self._settings.with_text({path: str(value) for path, value in changes.items()})
        scene, last = self.scene, self._last()

        def work(stage: Callable[[str], None], watch: Callable[[Snapshot], None]) -> Result:
            return reestimate(
                last.final,
                scene.left,
                scene.right,
                settings,
                keep_segments=self._keeps_segments,
                progress=stage,
                watch=watch,
            )

        return self._jobs.start(work, settings, replace=replace)

    def is_running(self) -> bool:
        """Return whether a run is under way or waits."""
        return self._jobs.state.status == "running"

    def cancel(self, number: int | None = None) -> None:
        """Stop the newest run; with a `number`, only if that is its number."""
        self._jobs.cancel(number)

    def close(self) -> None:
        """Stop background work."""
        self._jobs.cancel()
        self._jobs.wait(10)

    def export(self, key: str, name: str, percent: int = 0) -> dict[str, bytes]:
        """Return the files of an export, without pixels whose confidence is below `percent`."""
        frame = self.frame(key)
        return export(name, self.scene.source(frame.result, frame.least(percent)))

    def _run_key(self, number: int) -> str:
        return f"{self._prefix}{number}"

    def _last(self) -> Frame:
        with self._lock:
            return list(self._frames.values())[-1]

    def _finished(self, number: int, result: Result, snapshots: list[Snapshot]) -> None:
        frames = frames_of_run(self._run_key(number), result, snapshots)
        with self._lock:
            self._frames = {frame.key: frame for frame in frames}
            self._settings = result.settings
        keys = {frame.key for frame in frames} | self._others.keys()
        for cache in (self._layers, self._packed):
            cache.keep_only(keys)

    def _changed(self) -> None:
        with self._lock:
            self._serial += 1

    def _why_no_run(self) -> str:
        if self.scene.left is None or self.scene.right is None:
            return (
                "the pair was not found beside the result: run it again with this version, or open "
                "it as slanted view LEFT RIGHT"
            )
        return ""
