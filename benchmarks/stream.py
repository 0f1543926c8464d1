"""Streams against single pairs: time, errors, memory and bytes.

No consecutive frames of KITTI are at hand, so videos are made of its single ones: a window that
pans across a frame, and a zoom into it. Made-up drives (``slanted.synthetic.make_video``) have
parallax as well. Every frame is estimated by a stream and by itself, in turns, so that a slow spell
of the machine hits both; times are wall times, and processor times beside them.

python benchmarks/stream.py [--parts speed errors made-up memory bytes] [--split train] [--limit 10]
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from common import MADE_UP_SIZE, SMOKE, frames_of, options, pair_of, record, told
from slanted import Stream, estimate
from slanted.evaluation.metrics import evaluate
from slanted.runtime.opencv import cv2
from slanted.synthetic import make_video

if TYPE_CHECKING:
    from slanted.evaluation.datasets import Frame

Pair = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Both views and the true disparity of the left one."""
PARTS = ["speed", "errors", "made-up", "memory", "bytes"]
WINDOW = (100, 64) if SMOKE else (1000, 340)
STEP = 6
"""Pixels by which a window moves from frame to frame."""
ZOOM = 1.015
"""Factor by which a zoom enlarges from frame to frame."""
METRICS = "D1-all", "out-3px-all"


def main() -> None:
    """Measure the parts that are asked for."""
    smoke = {"limit": 1, "frames": 2, "repeats": 1, "many": 5}
    arguments = options(
        __doc__, smoke, parts=PARTS, split="train", limit=10, frames=4, repeats=3, many=1000
    )
    measures: dict[str, Callable[[Any], Any]] = {
        "speed": speed,
        "errors": errors,
        "made-up": made_up,
        "memory": memory,
        "bytes": same_bytes,
    }
    rows = {part: told(measures[part](arguments)) for part in arguments.parts}
    record("stream", arguments, rows)


def speed(arguments: Any) -> list[dict[str, Any]]:
    """Return times of whole frames, and of frames at half size."""
    rows = []
    for preset in ("default", "fast"):
        for scale in (1.0, 0.5):
            found: list[dict[str, Any]] = []
            for frame in frames_of("kitti2015", arguments.split, arguments.repeats):
                pairs = sliding(frame, arguments.frames, scale)
                found += turns(pairs, preset, matching(scale))
            rows.append({"preset": preset, "scale": scale, **summary(found)})
    return rows


def matching(scale: float) -> dict[str, Any]:
    """Return the settings of a frame of that size: KITTI's usual 128 disparities."""
    return {"matching.max_disparity": 48 if SMOKE else round(128 * scale)}


def errors(arguments: Any) -> list[dict[str, Any]]:
    """Return times and errors of pans and zooms."""
    rows = []
    for name, moved in (("pan", pan), ("zoom", zoom)):
        found: list[dict[str, Any]] = []
        for frame in frames_of("kitti2015", arguments.split, arguments.limit):
            found += turns(moved(frame, arguments.frames), "default", {})
        rows.append({"video": name, **summary(found)})
    return rows


def made_up(arguments: Any) -> dict[str, Any]:
    """Return times and errors of drives past slanted planes."""
    size = MADE_UP_SIZE if SMOKE else (640, 400)
    found: list[dict[str, Any]] = []
    for seed in range(1, 1 + max(1, arguments.limit // 2)):
        video = make_video(*size, frames=arguments.frames, objects=6, seed=seed)
        pairs = ((frame.left, frame.right, frame.disparity) for frame in video)
        found += turns(pairs, "default", {"matching.max_disparity": 80})
    return summary(found)


def memory(arguments: Any) -> dict[str, Any]:
    """Return the memory of the process, in MiB, after frames of a long video."""
    video = [(f.left, f.right) for f in make_video(128, 80, frames=8, max_disparity=30, seed=1)]
    stream, kept = Stream(preset="fast", max_disparity=48), {}
    for number in range(arguments.many):
        stream(*video[number % len(video)])  # it goes back to the start: a cut every eight frames
        if number + 1 in (arguments.many // 10, arguments.many // 2, arguments.many):
            kept[number + 1] = round(resident_mib(), 1)
    return {"frames": stream.state.frames, "resident_mib": kept}


def same_bytes(arguments: Any) -> dict[str, bool]:
    """Return whether frames have the same bytes for one and for two threads."""
    frame = frames_of("kitti2015", arguments.split, 1)[0]
    streams = [Stream({"threads": threads}) for threads in (1, 2)]
    same = []
    for left, right, _ in pan(frame, arguments.frames):
        one, two = (stream(left, right) for stream in streams)
        same.append(
            one.disparity.tobytes() == two.disparity.tobytes()
            and one.planes.tobytes() == two.planes.tobytes()
        )
    return {"same": all(same)}


def turns(pairs: Iterator[Pair], preset: str, settings: dict[str, Any]) -> list[dict[str, Any]]:
    """Estimate every frame both ways; return a row for each but the first, which is the same."""
    stream, rows = Stream(settings, preset=preset), []
    for number, (left, right, truth) in enumerate(pairs):
        runs = {
            "stream": lambda: stream(left, right),  # noqa: B023
            "alone": lambda: estimate(left, right, settings, preset=preset),  # noqa: B023
        }
        row: dict[str, Any] = {}
        for name, run in runs.items():
            start, used = time.perf_counter(), time.process_time()
            result = run()
            row[f"{name}_seconds"] = time.perf_counter() - start
            row[f"{name}_processor"] = time.process_time() - used
            if np.isfinite(truth).any():
                scores = evaluate(result.disparity, truth)
                row |= {f"{name}_{metric}": scores[metric] for metric in METRICS}
        row["fresh"] = stream.state.fresh is not None
        rows += [row] if number else []
    return rows


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return medians of times, and means of errors."""
    names = [name for name in rows[0] if name != "fresh"]
    found = {
        name: (statistics.median if "seconds" in name or "processor" in name else statistics.fmean)(
            [row[name] for row in rows]
        )
        for name in names
    }
    ratios = {
        f"ratio_{what}": statistics.median(
            row[f"stream_{what}"] / row[f"alone_{what}"] for row in rows
        )
        for what in ("seconds", "processor")
    }
    rate = {"frames_a_second": 1 / found["stream_seconds"]}
    return {
        "frames": len(rows),
        "fresh": sum(row["fresh"] for row in rows),
        **found,
        **ratios,
        **rate,
    }


def sliding(frame: Frame, count: int, scale: float) -> Iterator[Pair]:
    """Yield frames of the whole size: the window leaves the image, which is mirrored there."""
    views = [
        cv2.copyMakeBorder(view, 0, 0, 0, STEP * count, cv2.BORDER_REFLECT)
        for view in pair_of(frame)
    ]
    width = views[0].shape[1] - STEP * count
    for number in range(count):
        seen = [view[:, STEP * number :][:, :width] for view in views]
        size = round(width * scale), round(len(views[0]) * scale)
        left, right = (cv2.resize(v, size, interpolation=cv2.INTER_AREA) for v in seen)
        yield left, right, np.full(left.shape[:2], np.nan, np.float32)


def pan(frame: Frame, count: int) -> Iterator[Pair]:
    """Yield what a window sees that moves to the right and down."""
    left, right = pair_of(frame)
    truth = frame.load_ground_truth()[0]
    width, height = WINDOW
    top, first = len(left) - height - 2 * count, (left.shape[1] - width - STEP * count) // 2
    for number in range(count):
        rows = slice(max(0, top + 2 * number), max(0, top + 2 * number) + height)
        columns = slice(max(0, first + STEP * number), max(0, first + STEP * number) + width)
        yield left[rows, columns], right[rows, columns], truth[rows, columns]


def zoom(frame: Frame, count: int) -> Iterator[Pair]:
    """Yield the middle of a frame that is enlarged more and more: what it shows comes nearer."""
    left, right = pair_of(frame)
    truth = frame.load_ground_truth()[0]
    width, height = WINDOW
    for number in range(count):
        size = round(left.shape[1] * ZOOM**number), round(len(left) * ZOOM**number)
        views = [cv2.resize(view, size, interpolation=cv2.INTER_CUBIC) for view in (left, right)]
        near = cv2.resize(truth, size, interpolation=cv2.INTER_NEAREST)
        near *= np.float32(size[0] / left.shape[1])
        rows, first = slice(size[1] - height, size[1]), (size[0] - width) // 2
        yield *(v[rows, first : first + width] for v in views), near[rows, first : first + width]  # type: ignore[misc]


def resident_mib() -> float:
    """Return the memory that the process has now."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


if __name__ == "__main__":
    main()
