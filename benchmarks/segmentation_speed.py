"""Time of segmentation and regions on KITTI frames, one thread, beside SGBM.

python benchmarks/segmentation_speed.py [--repeats 7] [--frames 3]
"""

from __future__ import annotations

import argparse

import cv2

from common import data_folder, interleaved, medians, record, sgbm_hh
from slanted.evaluation.datasets import find_frames
from slanted.io import read_image
from slanted.matching import match
from slanted.regions import build_regions
from slanted.segmentation import make_ucm, segment
from slanted.settings import MatchingSettings, SegmentationSettings


def main() -> None:
    """Time each part on a few frames and record the ratios."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--frames", type=int, default=3)
    arguments = parser.parse_args()
    cv2.setNumThreads(1)
    results = {}
    for frame in find_frames("kitti2015", data_folder() / "kitti2015", limit=arguments.frames):
        left, right = read_image(frame.left), read_image(frame.right)
        plain = SegmentationSettings(method="slic", count=1000)
        seeing = SegmentationSettings(method="slic+disparity", count=1000)
        disparity = match(left, right, MatchingSettings(method="sgbm"))
        labels = segment(left, plain)

        def slic_and_regions() -> None:
            build_regions(segment(left, plain), left)  # noqa: B023 (called in this turn only)

        seconds = interleaved(
            {
                "sgbm_hh": lambda: sgbm_hh(left, right),  # noqa: B023
                "slic": lambda: segment(left, plain),  # noqa: B023
                "slic+disparity": lambda: segment(left, seeing, disparity),  # noqa: B023
                "regions": lambda: build_regions(labels, left),  # noqa: B023
                "slic and regions": slic_and_regions,
                "contours and ucm": lambda: make_ucm(left, plain).cut_regions(300),  # noqa: B023
            },
            arguments.repeats,
        )
        results[frame.name] = medians(seconds, "sgbm_hh")
    record("segmentation_speed", arguments, results)


if __name__ == "__main__":
    main()
