"""Peak resident memory of a run, whole and by stage, in fresh processes.

python benchmarks/memory.py [--threads 1 2] [--preset default] [--pixels 80000 1000000 4000000]

It runs KITTI, Middlebury, and synthetic pairs of several sizes. "imports" is a process that only
loads what a run needs. The peak of a stage is the most that was resident while it ran; Linux only,
where the peak counter is reset when the stage starts.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from common import frames_of, in_new_process, options, peak_mib, record, scene_of, write_pair

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
    sizes = [80_000, 1_000_000, 4_000_000]
    smoke = {"threads": [1], "pixels": [8_000]}
    arguments = options(__doc__, smoke, threads=[1, 2], preset="default", pixels=sizes)
    results: dict[str, Any] = {"imports MiB": peak_mib(IMPORTS)}
    with tempfile.TemporaryDirectory() as folder:
        pairs = {"KITTI": ("kitti2015", "validation"), "Middlebury": ("middlebury", "test")}
        frames = {name: frames_of(*split, 1)[0] for name, split in pairs.items()}
        files = {name: (frame.left, frame.right) for name, frame in frames.items()}
        for pixels in arguments.pixels:
            pair = write_pair(Path(folder) / str(pixels), scene_of(pixels, aspect=1.5))
            files[f"synthetic, {pixels / 1e6:g} MP"] = pair
        for name, pair in files.items():
            for threads in arguments.threads:
                results[f"{name}, {threads} threads"] = peaks(*pair, arguments.preset, threads)
    record("memory", arguments, results)


def peaks(left: Path, right: Path, preset: str, threads: int) -> dict[str, Any]:
    """Return the peak of the whole run and of each stage, in MiB."""
    stages = in_new_process(STAGES, left, right, preset, threads)
    return {"peak MiB": max(stages.values()), "stages MiB": stages}


if __name__ == "__main__":
    main()
