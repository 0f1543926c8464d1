"""Answers about parts of a frame: errors in a rectangle, values along a line, the energy's course.

The figures are those of `slanted evaluate` and of the arrays of the result.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from slanted.evaluation.region import Region
from slanted.inference.outcome import graph_changes
from slanted.output.pixel_flag import PixelFlag
from slanted.output.pixel_maps import flags_of_rows

if TYPE_CHECKING:
    from slanted.output.profile import Pixel
    from slanted.result import Result
    from slanted.viewer.frames import Scene
    from slanted.viewer.others import Shown

ROWS_AT_A_TIME = 256


def frame_metrics(
    scene: Scene, frame: Shown, percent: int = 0, region: Region | None = None
) -> dict[str, Any]:
    """Return the errors of a frame, in a rectangle if there is one, and the shares of its flags.

    Pixels whose confidence is below `percent` are left out, as `slanted evaluate` does; an
    InputError says that the rectangle is not inside the image. Without a pixel of ground truth,
    ``metrics`` is None.
    """
    from slanted.evaluation.scores import metrics_above

    height, width = frame.disparity.shape
    part = region or Region(0, 0, width, height)
    disparity, result = part.of(frame.disparity), frame.result
    truth = None if scene.truth is None else part.of(scene.truth)
    metrics, known = None, 0 if truth is None else int(np.isfinite(truth).sum())
    if truth is not None and known:
        least = 0.0 if result is None else least_of(result, percent)
        confidence = None if result is None or result.confidence is None else result.confidence
        sure = None if confidence is None else part.of(confidence)
        metrics = metrics_above(disparity, truth, None, sure, least)
    return {
        "region": None if region is None else list(region),
        "pixels": part.width * part.height,
        "known": known,
        "metrics": metrics,
        "flags": {} if result is None else flag_shares(result, part),
        "disparity": _range_of(disparity),
    }


def least_of(result: Result, percent: int) -> float:
    """Return the confidence below which pixels are left out; 0 if the result has none."""
    return 0.0 if result.confidence is None else min(percent, 100) / 100


def flag_shares(result: Result, part: Region) -> dict[str, float]:
    """Return the percentage of a rectangle's pixels that have each flag, by its name."""
    counts = np.zeros(256, np.int64)
    last = part.y + part.height
    for first in range(part.y, last, ROWS_AT_A_TIME):
        flags = flags_of_rows(result, slice(first, min(first + ROWS_AT_A_TIME, last)))
        inside = flags[:, part.x : part.x + part.width]
        counts += np.bincount(inside.reshape(-1), minlength=256)
    values = np.arange(256)
    return {
        flag.words(): float(100 * counts[(values & flag) > 0].sum() / counts.sum())
        for flag in PixelFlag
    }


def _range_of(disparity: NDArray[np.float32]) -> dict[str, float]:
    """Return the lowest, median and highest known disparity."""
    known = disparity[np.isfinite(disparity)]
    if not known.size:
        return {}
    low, high = float(known.min()), float(known.max())
    return {"low": low, "median": float(np.median(known)), "high": high}


def frame_profile(scene: Scene, frame: Shown, start: Pixel, end: Pixel) -> dict[str, Any]:
    """Return the values of a frame's maps along a line; an InputError if it leaves the image."""
    from slanted.output.profile import distance, profile
    from slanted.output.space import LEAST_DISPARITY

    line = profile(frame.disparity.shape, start, end)
    found: dict[str, Any] = {"u": line.u.tolist(), "v": line.v.tolist()}
    found["along"] = line.along.tolist()
    disparity = np.asarray(line.of(frame.disparity), np.float32)
    found["disparity"] = disparity.tolist()
    result = frame.result
    maps = {
        "matched": None if result is None else result.matched,
        "truth": scene.truth,
        "confidence": None if result is None else result.confidence,
    }
    found |= {name: line.of(array).tolist() for name, array in maps.items() if array is not None}
    if scene.calibration is not None:
        depth = scene.calibration.depth(disparity, LEAST_DISPARITY)
        if result is not None and result.sky is not None:
            depth[np.asarray(line.of(result.sky), bool)] = np.nan
        found["depth"] = depth.tolist()
        # The sky has a disparity, of what the planes there happen to be, but is at no distance.
        is_known = bool(np.isfinite(depth[[0, -1]]).all())
        apart = distance(frame.disparity, scene.calibration, start, end) if is_known else math.nan
        found["distance"] = apart
    return found


def energy_course(result: Result) -> list[dict[str, Any]]:
    """Return the energy after each outer iteration, and where the segments changed before it.

    Energies of different segments are of different graphs: the energy may rise where they change.
    """
    steps = result.inference.iterations
    changes = graph_changes(steps, result.settings)
    start = result.inference.initial_energy
    is_known = bool(steps) and not math.isnan(start)
    course = [_moment(0, start, math.nan, steps[0].segments)] if is_known else []
    for number, step in enumerate(steps):
        moment = _moment(number + 1, step.energy, step.bound, step.segments)
        course.append({**moment, "changed": number in changes})
    return course


def _moment(iteration: int, energy: float, bound: float, segments: int) -> dict[str, Any]:
    named = {"iteration": iteration, "energy": energy, "bound": bound, "segments": segments}
    return {**named, "changed": False}
