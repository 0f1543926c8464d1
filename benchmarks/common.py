"""What every benchmark shares: real data, interleaved timing, and a JSON record."""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import cv2
import numpy as np

ROOT = Path(__file__).resolve().parents[1]


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


def record(name: str, arguments: argparse.Namespace, results: Any) -> None:
    """Write the results with commit, versions and machine to ``benchmarks/results`` and stdout."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    packages = ("slanted", "numpy", "numba", "opencv-python-headless", "scikit-image", "higra")
    content = {
        "benchmark": name,
        "arguments": {key: str(value) for key, value in vars(arguments).items()},
        "commit": commit.stdout.strip(),
        "python": platform.python_version(),
        "packages": {package: _version(package) for package in packages},
        "machine": {"processor": _processor(), "cores": os.cpu_count()},
        "results": results,
    }
    folder = ROOT / "benchmarks" / "results"
    folder.mkdir(exist_ok=True)
    text = json.dumps(content, indent=1)
    (folder / f"{name}.json").write_text(text + "\n")
    print(text)  # noqa: T201


def _version(package: str) -> str:
    try:
        return version(package)
    except ImportError:
        return "not installed"


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()
