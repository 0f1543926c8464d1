"""Growth of time and memory with pixels, disparities, segments, particles, iterations, threads.

python benchmarks/scaling.py [--repeats 3] [--axes pixels segments ...]

Pairs are synthetic, so that only one quantity changes. Each time is the median of repeats in one
process after a warm-up run. Peak memory is that of a fresh process, above that of a process with
everything imported. Exponents are slopes of straight lines through the logarithms: 1 is linear.
`scaling_pixels.py` goes beyond 2 megapixels.
"""

from __future__ import annotations

import json
import tempfile
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

from common import SMOKE, exponent, medians, options, peak_mib, record, scene_of, write_pair
from memory import IMPORTS
from slanted.pipeline import estimate
from slanted.settings import Settings
from slanted.synthetic import Scene

PIXELS = 15_000 if SMOKE else 465_750  # KITTI's
RANGE = 64
AXES: dict[str, tuple[int, ...]] = {
    "pixels": (120_000, 250_000, 500_000, 1_000_000, 2_000_000),
    "disparities": (64, 128, 256, 512, 1024),
    "segments": (500, 1000, 2000, 4000),
    "particles": (5, 10, 20, 40),
    "iterations": (1, 2, 4, 8),
    "threads": (1, 2),
}
if SMOKE:
    AXES |= {"pixels": (10_000, 15_000), "particles": (3, 6)}
SETTINGS = {
    "disparities": "matching.max_disparity",
    "segments": "segmentation.count",
    "particles": "inference.particles",
    "iterations": "inference.iterations",
    "threads": "threads",
}
STAGES = {"disparities": "matching", "pixels": None, "threads": None}
"""The stage that an axis is about, if not inference; None for the whole run."""
PEAK = """
from slanted import Settings, estimate
from slanted.io import read_image
settings = Settings().with_text(json.loads(sys.argv[3]))
estimate(read_image(sys.argv[1]), read_image(sys.argv[2]), settings)
"""


def main() -> None:
    """Measure along each axis."""
    smoke = {"repeats": 1, "axes": ["pixels", "particles"]}
    arguments = options(__doc__, smoke, repeats=3, axes=list(AXES))
    imports = peak_mib(IMPORTS)
    results = {axis: along(axis, arguments.repeats, imports) for axis in arguments.axes}
    record("scaling", arguments, results)


def texts(axis: str, value: int) -> dict[str, str]:
    """Return the settings of a point of an axis, with one thread unless threads are the axis."""
    base = {"threads": "1", "matching.max_disparity": str(RANGE)}
    if axis == "pixels":
        # The default number of segments stops growing at some size; here it keeps growing.
        base["segmentation.count"] = str(round(value / 400))
    else:
        base[SETTINGS[axis]] = str(value)
    return base


def peak_of(scene: Scene, settings: dict[str, str]) -> float:
    """Return the peak memory, in MiB, of a process that reads and estimates a pair."""
    with tempfile.TemporaryDirectory() as name:
        return peak_mib(PEAK, *write_pair(Path(name), scene), json.dumps(settings))


@cache
def wide_scene(pixels: int) -> Scene:
    """Draw a pair of about `pixels` pixels, in KITTI's aspect ratio."""
    return scene_of(pixels, aspect=3.3, max_disparity=RANGE - 4.0)


def along(axis: str, repeats: int, imports: float) -> dict[str, Any]:
    """Return the points of an axis and the exponents fitted to them."""
    rows = []
    for value in AXES[axis]:
        scene = wide_scene(value if axis == "pixels" else PIXELS)
        settings = Settings().with_text(texts(axis, value))
        runs = [estimate(scene.left, scene.right, settings) for _ in range(repeats + 1)][1:]
        row = {"value": value, "seconds": median(sum(run.seconds.values()) for run in runs)}
        row |= {"stages": medians([run.seconds for run in runs])}
        row |= {"segments": runs[0].regions.count}
        if axis in ("pixels", "segments"):
            row["peak MiB above imports"] = peak_of(scene, texts(axis, value)) - imports
        rows.append(row)
    stage = STAGES.get(axis, "inference")
    sizes = [row["segments"] if axis == "segments" else row["value"] for row in rows]
    found = {"seconds": exponent(sizes, [row["seconds"] for row in rows])}
    if stage is not None:
        found[f"seconds of {stage}"] = exponent(sizes, [row["stages"][stage] for row in rows])
    if "peak MiB above imports" in rows[0]:
        found["peak"] = exponent(sizes, [row["peak MiB above imports"] for row in rows])
    return {"rows": rows, "exponents": found}


if __name__ == "__main__":
    main()
