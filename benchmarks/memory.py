"""Peak resident memory of a run, whole and by stage, in fresh processes.

python benchmarks/memory.py [--threads 1 2] [--preset default] [--pixels 80000 1000000 4000000]

KITTI, Middlebury, and synthetic pairs of several sizes. "imports" is a process that only loads what
a run needs. The peak of a stage is the most that was resident while it ran (Linux only: the
kernel's mark is reset when the stage starts).
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from common import kitti_frames, middlebury_frames, peak_mib, record
from slanted.io import write_image
from slanted.synthetic import make_scene

IMPORTS = "import cv2, numba, slanted.pipeline, slanted.refinement.refine, slanted.segmentation"
STAGES = """
import json, sys
from pathlib import Path
from slanted import Settings, estimate
from slanted.io import read_image

def high_water():
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1024

peaks, names = {}, ["reading"]
def starts(name):
    peaks[names[-1]] = high_water()
    names.append(name)
    Path("/proc/self/clear_refs").write_text("5")

settings = Settings.preset(sys.argv[3]).with_text({"threads": sys.argv[4]})
estimate(read_image(sys.argv[1]), read_image(sys.argv[2]), settings, progress=starts)
starts("end")
print(json.dumps(peaks))
"""


def main() -> None:
    """Measure each pair with each number of threads."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--preset", default="default")
    parser.add_argument("--pixels", type=int, nargs="*", default=[80_000, 1_000_000, 4_000_000])
    arguments = parser.parse_args()
    results: dict[str, Any] = {"imports MiB": peak_mib(IMPORTS)}
    with tempfile.TemporaryDirectory() as folder:
        pairs = {"KITTI": kitti_frames(1)[0], "Middlebury": middlebury_frames(1)[0]}
        files = {name: (frame.left, frame.right) for name, frame in pairs.items()}
        for pixels in arguments.pixels:
            files[f"synthetic, {pixels / 1e6:g} MP"] = synthetic_pair(Path(folder), pixels)
        for name, pair in files.items():
            for threads in arguments.threads:
                results[f"{name}, {threads} threads"] = peaks(*pair, arguments.preset, threads)
    record("memory", arguments, results)


def synthetic_pair(folder: Path, pixels: int) -> tuple[Path, Path]:
    """Draw a pair of about so many pixels."""
    width = round(math.sqrt(1.5 * pixels))
    scene = make_scene(width, round(pixels / width), seed=1)
    files = folder / f"{pixels}-left.png", folder / f"{pixels}-right.png"
    for file, image in zip(files, (scene.left, scene.right), strict=True):
        write_image(file, image)
    return files


def peaks(left: Path, right: Path, preset: str, threads: int) -> dict[str, Any]:
    """Return the peak of the whole run and of each stage, in MiB."""
    command = [sys.executable, "-c", STAGES, str(left), str(right), preset, str(threads)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    stages = json.loads(done.stdout)
    return {"peak MiB": max(stages.values()), "stages MiB": stages}


if __name__ == "__main__":
    main()
