"""Time and memory of the census matcher beside SGBM HH: 1 and 2 threads, 64 to 256 disparities.

python benchmarks/matching_speed.py [--repeats 7] [--disparities 64 128 256] [--threads 1 2]
"""

from __future__ import annotations

from statistics import median

import numpy as np

from common import frames_of, interleaved, options, pair_of, peak_mib, record, sgbm_hh
from slanted.matching import DisparityRange
from slanted.runtime.threads import thread_limit
from slanted.settings import CensusSettings, MatchingSettings

PEAK = """
from slanted.io import read_image
from slanted.matching import DisparityRange
from slanted.settings import MatchingSettings
from slanted.runtime.threads import thread_limit
left, right, method = read_image(sys.argv[1]), read_image(sys.argv[2]), sys.argv[3]
if method == "census":
    from slanted.matching.census_sgm import match
elif method == "sgbm":
    from slanted.matching.sgbm import match
else:
    import cv2, numba, slanted.matching.census_sgm
    match = lambda *_: None
with thread_limit(int(sys.argv[5])):
    match(left, right, DisparityRange(0, int(sys.argv[4])), MatchingSettings())
"""


def main() -> None:
    """Time both matchers in turn and record times, ratios and peak memory."""
    smoke = {"repeats": 1, "disparities": [64], "threads": [1]}
    arguments = options(__doc__, smoke, repeats=7, disparities=[64, 128, 256], threads=[1, 2])
    frame = frames_of("kitti2015", "validation", 1)[0]
    left, right = pair_of(frame)
    files = frame.left, frame.right
    results: dict[str, object] = {"size": left.shape[:2]}
    results["peak MiB, imports only"] = peak_mib(PEAK, *files, "imports", 1, 1)
    for threads in arguments.threads:
        for count in arguments.disparities:
            results[f"{threads} threads, {count} disparities"] = {
                **times(left, right, count, threads, arguments.repeats),
                "peak MiB": {
                    name: peak_mib(PEAK, *files, name, count, threads)
                    for name in ("census", "sgbm")
                },
            }
    record("matching_speed", arguments, results)


def times(
    left: np.ndarray, right: np.ndarray, count: int, threads: int, repeats: int
) -> dict[str, dict[str, float]]:
    """Return median seconds of each matcher on one pair, and the ratio to SGBM HH."""
    from slanted.matching import census_sgm

    searched = DisparityRange(0, count)
    eight, four = (MatchingSettings(census=CensusSettings(paths=paths)) for paths in (8, 4))
    with thread_limit(threads):
        seconds = interleaved(
            {
                "sgbm_hh": lambda: sgbm_hh(left, right, count),
                "census, 8 paths": lambda: census_sgm.match(left, right, searched, eight),
                "census, 4 paths": lambda: census_sgm.match(left, right, searched, four),
            },
            repeats,
        )
    base = median(seconds["sgbm_hh"])
    found = {name: median(each) for name, each in seconds.items()}
    return {name: {"seconds": each, "ratio": each / base} for name, each in found.items()}


if __name__ == "__main__":
    main()
