"""What every benchmark shares: real data, interleaved timing, and a JSON record."""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from slanted.evaluation.datasets import Frame, find_frames
from slanted.io import read_image
from slanted.research.experiments.provenance import provenance

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
PEAK = """
import json, sys
from pathlib import Path
{code}
# Not getrusage: its maximum starts from that of the process that started this one.
status = Path("/proc/self/status").read_text()
print(json.dumps(int(status.split("VmHWM:")[1].split()[0]) / 1024))
"""


def data_folder() -> Path:
    """Return the folder of KITTI and Middlebury, or stop with a sentence."""
    folder = Path(os.environ.get("SLANTED_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        sys.exit(f"{folder}: expected kitti2015/ and middlebury/ there; set SLANTED_DATA")
    return folder


def sgbm_hh(left: np.ndarray, right: np.ndarray, disparities: int = 128) -> np.ndarray:
    """Run the yardstick: cv2.StereoSGBM MODE_HH, colour, block 3, as in OpenCV's samples."""
    matcher = cv2.StereoSGBM_create(
        0, disparities, 3, 216, 864, 1, 63, 10, 100, 2, cv2.STEREO_SGBM_MODE_HH
    )
    return np.asarray(matcher.compute(left, right))


def interleaved(
    parts: dict[str, Callable[[], Any]], repeats: int, warm_up: int = 1
) -> dict[str, list[float]]:
    """Time several functions in turn, so that a slow spell of the machine hits all of them."""
    seconds: dict[str, list[float]] = {name: [] for name in parts}
    for turn in range(warm_up + repeats):
        for name, function in parts.items():
            start = time.perf_counter()
            function()
            if turn >= warm_up:
                seconds[name].append(time.perf_counter() - start)
    return seconds


def medians(seconds: dict[str, list[float]], yardstick: str) -> dict[str, dict[str, float]]:
    """Return each part's median time and its ratio to the yardstick's."""
    base = statistics.median(seconds[yardstick])
    return {
        name: {"seconds": statistics.median(times), "ratio": statistics.median(times) / base}
        for name, times in seconds.items()
    }


def peak_mib(code: str, *arguments: object) -> float:
    """Return the peak memory of a fresh process that does nothing but `code`, in MiB."""
    command = [sys.executable, "-c", PEAK.format(code=code), *map(str, arguments)]
    path = os.pathsep.join([str(ROOT / "benchmarks"), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return float(json.loads(done.stdout))


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """Return the power of the size that the values grow with: a line through their logarithms."""
    if len(sizes) < 2 or min(values) <= 0:
        return math.nan
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def kitti_frames(limit: int, split: str = "validation") -> list[Frame]:
    """Return the first frames of a split of KITTI 2015."""
    return list(find_frames("kitti2015", data_folder() / "kitti2015", split, limit))


def middlebury_frames(limit: int, split: str = "test") -> list[Frame]:
    """Return the first scenes of a split of Middlebury."""
    return list(find_frames("middlebury", data_folder() / "middlebury", split, limit))


def pair_of(frame: Frame) -> tuple[np.ndarray, np.ndarray]:
    """Return both images of a frame."""
    return read_image(frame.left), read_image(frame.right)


def said(row: Any) -> Any:
    """Return a result as it is, and say it at once: the others may take long."""
    print(json.dumps(row), file=sys.stderr, flush=True)  # noqa: T201
    return row


def record(name: str, arguments: argparse.Namespace, results: Any) -> None:
    """Write the results with commit, versions and machine to ``benchmarks/results`` and stdout."""
    content = {
        "benchmark": name,
        "arguments": {key: str(value) for key, value in vars(arguments).items()},
        **provenance(),
        "results": results,
    }
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps(content, indent=1)
    (RESULTS / f"{name}.json").write_text(text + "\n")
    print(text)  # noqa: T201
