"""Time of inference on KITTI frames beside SGBM, and its growth with the number of segments.

python benchmarks/inference_speed.py [--repeats 5] [--frames 3] [--threads 2]
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from functools import partial

import cv2
import numpy as np

from common import data_folder, interleaved, medians, record, sgbm_hh
from slanted.evaluation.datasets import find_frames
from slanted.inference.pcbp import infer
from slanted.io import read_image
from slanted.matching import match
from slanted.regions import build_regions
from slanted.segmentation import segment
from slanted.settings import MatchingSettings, Settings

COUNTS = (300, 600, 1200, 2500, 5000)


def settings_for(count: int) -> Settings:
    """Return N = 10, 5 iterations, `count` segments of SLIC ∩ UCM."""
    return Settings.preset("paper").with_text(
        {
            "segmentation.method": "slic+ucm",
            "segmentation.count": str(count),
            "inference.particles": "10",
            "inference.iterations": "5",
            "inference.proposals": "mixture",
            "inference.sweeps": str(Settings().inference.sweeps),
        }
    )


def main() -> None:
    """Time inference at 1200 segments against SGBM, then at several numbers of segments."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--frames", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    cv2.setNumThreads(arguments.threads)
    results: dict[str, object] = {}
    frames = find_frames("kitti2015", data_folder() / "kitti2015", "validation", arguments.frames)
    growth: dict[int, list[float]] = {count: [] for count in COUNTS}
    for frame in frames:
        left, right = read_image(frame.left), read_image(frame.right)
        matched = match(left, right, MatchingSettings(method="sgbm"))
        for count in COUNTS:
            settings = settings_for(count)
            regions = build_regions(segment(left, settings.segmentation), left)
            run = partial(infer, regions, matched, settings, threads=arguments.threads)
            if count == 1200:
                parts = {"sgbm_hh": partial(sgbm_hh, left, right), "inference": run}
                results[frame.name] = medians(interleaved(parts, arguments.repeats), "sgbm_hh")
            run()
            start = time.perf_counter()
            run()
            growth[count].append(time.perf_counter() - start)
    means = {count: statistics.mean(times) for count, times in growth.items()}
    slope = np.polyfit([math.log(c) for c in means], [math.log(t) for t in means.values()], 1)[0]
    results["seconds by segments"] = means
    results["exponent"] = float(slope)
    record("inference_speed", arguments, results)


if __name__ == "__main__":
    main()
