"""Shared parts of benchmarks: options, data, timing in turns, fresh processes, a JSON record.

Every script takes ``--smoke``: it then runs in a few seconds on made-up data and records nothing,
so that a test can check that it still works.
"""

from __future__ import annotations

import argparse
import atexit
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

# Nothing of slanted is imported here: mutants.py must not load what it is about to break.
if TYPE_CHECKING:
    from slanted.evaluation.datasets import Frame
    from slanted.synthetic import Scene

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
SMOKE = "--smoke" in sys.argv
MADE_UP_SIZE = (160, 96)
PEAK = """
import json, sys
from pathlib import Path
{code}
# Not getrusage: its maximum starts from that of the parent process.
status = Path("/proc/self/status").read_text()
print(json.dumps(int(status.split("VmHWM:")[1].split()[0]) / 1024))
"""


# Options


def options(text: str | None, smoke: Mapping[str, Any], **defaults: Any) -> argparse.Namespace:
    """Read the command line, which has an option for each default, of the same type.

    Parameters
    ----------
    text
        Description for ``--help``.
    smoke
        Values that replace the defaults under ``--smoke``.
    defaults
        A list takes several values; False makes a switch.
    """
    parser = argparse.ArgumentParser(
        description=text, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, default in defaults.items():
        option = f"--{name.replace('_', '-')}"
        if default is False:
            parser.add_argument(option, action="store_true")
        elif isinstance(default, list):
            kind = type(default[0]) if default else str
            parser.add_argument(option, type=kind, nargs="*", default=default)
        else:
            parser.add_argument(option, type=type(default), default=default)
    return parse(parser, smoke)


def parse(parser: argparse.ArgumentParser, smoke: Mapping[str, Any]) -> argparse.Namespace:
    """Read the command line with a parser, which also gets the option ``--smoke``."""
    about = "a few seconds on made-up data, to check that the script works; nothing is recorded"
    parser.add_argument("--smoke", action="store_true", help=about)
    if SMOKE:
        parser.set_defaults(**smoke)
    return parser.parse_args()


# Data


def data_folder() -> Path:
    """Return the folder of KITTI and Middlebury; exit with a message if there is none."""
    if SMOKE:
        return _made_up_data()
    folder = Path(os.environ.get("SLANTED_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        sys.exit(f"{folder}: expected kitti2015/ and middlebury/ there; set SLANTED_DATA")
    return folder


def frames_of(dataset: str, split: str, limit: int | None = None) -> list[Frame]:
    """Return the first frames of a split of ``kitti2015`` or ``middlebury``."""
    from slanted.evaluation.datasets import find_frames

    return list(find_frames(dataset, data_folder() / dataset, split, limit or None))


def pair_of(frame: Frame) -> tuple[np.ndarray, np.ndarray]:
    """Return both images of a frame."""
    from slanted.io import read_image

    return read_image(frame.left), read_image(frame.right)


def scene_of(pixels: float, aspect: float, **options: Any) -> Scene:
    """Draw a synthetic pair of about `pixels` pixels."""
    from slanted.synthetic import make_scene

    width = round(math.sqrt(aspect * pixels))
    return make_scene(width, round(pixels / width), seed=1, **options)


def write_pair(folder: Path, scene: Scene) -> tuple[Path, Path]:
    """Write both images of a scene as left.png and right.png; return the files."""
    from slanted.io import write_image

    files = folder / "left.png", folder / "right.png"
    for file, image in zip(files, (scene.left, scene.right), strict=True):
        write_image(file, image)
    return files


@cache
def _made_up_data() -> Path:
    """Write a frame for each split of KITTI and of Middlebury."""
    from slanted.io import write_disparity, write_image
    from slanted.synthetic import make_scene, write_kitti

    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    scenes = [make_scene(*MADE_UP_SIZE, seed=seed, max_disparity=40.0) for seed in range(2)]
    write_kitti(folder / "kitti2015", {"train": scenes[:1], "validation": scenes[1:]})
    listing = {}
    for split, scene in zip(("train", "test"), scenes, strict=True):
        files = {"left": "view1", "right": "view5", "gt": "disp1", "mask_vis": "mask_vis1"}
        files = {key: f"{split}/{name}.png" for key, name in files.items()}
        listing[split] = {**files, "split": split, "disparity_scale": 1}
        place = folder / "middlebury"
        write_image(place / files["left"], scene.left)
        write_image(place / files["right"], scene.right)
        write_image(place / files["mask_vis"], np.where(scene.occluded, 0, 255).astype(np.uint8))
        write_disparity(place / files["gt"], scene.disparity, format="middlebury", scale=1.0)
    (folder / "middlebury" / "scenes.json").write_text(json.dumps(listing))
    return folder


# Time and memory


def sgbm_hh(left: np.ndarray, right: np.ndarray, disparities: int = 128) -> np.ndarray:
    """Run the yardstick: cv2.StereoSGBM MODE_HH, block 3, penalties as in OpenCV's samples."""
    import cv2

    matcher = cv2.StereoSGBM_create(
        0, disparities, 3, 216, 864, 1, 63, 10, 100, 2, cv2.STEREO_SGBM_MODE_HH
    )
    return np.asarray(matcher.compute(left, right))


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds that a call takes, and its result."""
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def interleaved(
    parts: Mapping[str, Callable[[], Any]], repeats: int, warm_up: int = 1
) -> dict[str, list[float]]:
    """Time several functions in turn, so that a slow spell of the machine hits all of them."""
    seconds: dict[str, list[float]] = {name: [] for name in parts}
    for turn in range(warm_up + repeats):
        for name, function in parts.items():
            taken, _ = timed(function)
            if turn >= warm_up:
                seconds[name].append(taken)
    return seconds


def medians(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the median of each column."""
    return {name: statistics.median(row[name] for row in rows) for name in rows[0]}


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """Return the exponent of growth with size: the slope of a line through the logarithms."""
    if len(sizes) < 2 or min(values) <= 0:
        return math.nan
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def in_new_process(code: str, *arguments: object) -> Any:
    """Return the JSON value that `code` prints in a Python process of its own."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def peak_mib(code: str, *arguments: object) -> float:
    """Return the peak memory, in MiB, of a process that runs only `code`."""
    return float(in_new_process(PEAK.format(code=code), *arguments))


# Results


def say(text: str) -> None:
    """Print a line and flush it."""
    print(text, flush=True)  # noqa: T201


def told(row: Any) -> Any:
    """Return a result, and print it to standard error at once: the next one may take long."""
    print(json.dumps(row), file=sys.stderr, flush=True)  # noqa: T201
    return row


def record(name: str, arguments: argparse.Namespace, results: Any) -> None:
    """Print the results with commit, versions and machine, and keep them in benchmarks/results."""
    from slanted.research.experiments.provenance import provenance

    content = {
        "benchmark": name,
        "arguments": {key: str(value) for key, value in vars(arguments).items()},
        **provenance(),
        "results": results,
    }
    text = json.dumps(content, indent=1)
    if not SMOKE:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / f"{name}.json").write_text(text + "\n")
    say(text)
