"""A session: the scene that a server shows, the frames of the newest run, and its settings."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from slanted.errors import InputError, SlantedError
from slanted.output.export import export, export_names
from slanted.output.pictures import disparity_scale
from slanted.settings import leaves
from slanted.viewer.cache import Cache
from slanted.viewer.frames import Frame, Scene, frames_of_run
from slanted.viewer.geometry import MOST_TRIANGLES, cameras_data, pack_cloud, pack_mesh
from slanted.viewer.jobs import Jobs
from slanted.viewer.layers import (
    HIDING,
    TILE,
    Layer,
    layer_cache,
    layer_legend,
    layer_names,
    paint_layer,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from slanted.inference.outcome import Snapshot
    from slanted.result import Result
    from slanted.result_folder import ResultFolder
    from slanted.settings import Leaf

WEIGHTS = ("seg", "bdy1", "bdy2", "jct", "crs", "col", "vis", "pho")
SLIDERS: tuple[tuple[str, str, float, float, int], ...] = (
    ("segmentation.count", "segments", 10, 4000, 2),
    ("inference.iterations", "first iterations", 0, 10, 1),
    ("refinement.rounds", "refinement rounds", 0, 6, 1),
    ("refinement.iterations", "iterations a round", 0, 6, 1),
    *((f"model.weights.{name}", name, 0, 200, 3) for name in WEIGHTS),
)
"""Settings that the page can change: path, name, lowest and highest value of the slider, and the
power by which small values get more of its length."""
OF_SEGMENTS = ("segmentation.count", "refinement.rounds", "refinement.iterations")
"""Settings that have no effect on a run with given segments, which it keeps."""
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
    """

    def __init__(
        self,
        opened: ResultFolder,
        truth: NDArray[np.float32] | None = None,
        snapshots: list[Snapshot] | None = None,
        prefix: str | None = None,
    ) -> None:
        result = opened.result
        scale = disparity_scale(result.disparity if truth is None else truth)
        self.scene = Scene(opened.name, opened.left, opened.right, opened.calibration, truth, scale)
        self._prefix = secrets.token_hex(6) + "-" if prefix is None else prefix
        frames = frames_of_run(self._run_key(0), result, snapshots or [])
        self._layers = layer_cache()
        self._packed: Cache[bytes] = Cache(PACKED_BYTES, len)
        self._frames = {frame.key: frame for frame in frames}
        self._settings = result.settings
        inputs = opened.record.get("inputs")
        self._keeps_segments = isinstance(inputs, dict) and bool(inputs.get("segments"))
        self._ranges = _ranges(result, OF_SEGMENTS if self._keeps_segments else ())
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
            "sliders": self._sliders(last),
            "exports": export_names(calibrated=calibrated),
            "least": round(100 * self._settings.confidence.min),
        }

    def frame(self, key: str) -> Frame:
        """Return a frame; a NotThereError if there is none, or a newer run replaced it."""
        with self._lock:
            frame = self._frames.get(key)
        if frame is None:
            raise NotThereError(key)
        return frame

    def describe_frame(self, key: str) -> dict[str, Any]:
        """Return the summary of a frame, and its layers with their legends."""
        frame = self.frame(key)
        layers = [
            {"name": name, "legend": layer_legend(self.scene, frame, name).as_data()}
            for name in layer_names(self.scene, frame)
        ]
        return {**frame.summary(), "layers": layers}

    def layer(self, key: str, name: str, percent: int = 0) -> Layer:
        """Return a layer of a frame; a NotThereError if there is none.

        The disparity is shown where the confidence is at least `percent`.
        """
        frame = self.frame(key)
        if name not in layer_names(self.scene, frame):
            raise NotThereError(name)
        percent = percent if name == HIDING else 0
        made = f"{name} {percent}"
        return self._layers.get(key, made, lambda: paint_layer(self.scene, frame, name, percent))

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
        for cache in (self._layers, self._packed):
            cache.keep_only({frame.key for frame in frames})

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

    def _sliders(self, result: Result) -> list[dict[str, Any]]:
        values = {leaf.path: leaf for leaf in leaves(self._settings)}
        return [
            {
                "path": path,
                "name": name,
                "low": self._ranges[path][0],
                "high": self._ranges[path][1],
                "power": power,
                "whole": values[path].setting.kind is int,
                "value": _value(values[path], result),
                "doc": values[path].setting.doc,
            }
            for path, name, _, _, power in SLIDERS
            if path in self._ranges
        ]


def _value(leaf: Leaf, result: Result) -> Any:
    from slanted.segmentation import automatic_count

    if leaf.value is None:  # only the number of segments can be None
        return automatic_count(round(result.disparity.size * result.finer**2))
    return leaf.value


def _ranges(result: Result, without: Collection[str]) -> dict[str, tuple[float, float]]:
    """Return the ends of each slider, wide enough for the settings of the result."""
    values = {
        leaf.path: _value(leaf, result)
        for leaf in leaves(result.settings)
        if leaf.path in {path for path, *_ in SLIDERS}
    }
    return {
        path: (min(low, values[path]), max(high, 2 * values[path]))
        for path, _, low, high, _ in SLIDERS
        if path not in without
    }
