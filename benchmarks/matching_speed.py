"""Time and memory of the census matcher beside SGBM HH: 1 and 2 threads, 64 to 256 disparities.

python benchmarks/matching_speed.py [--repeats 7] [--disparities 64 128 256] [--threads 1 2]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys

from common import data_folder, interleaved, medians, record, sgbm_hh
from slanted.evaluation.datasets import find_frames
from slanted.io import read_image
from slanted.matching import DisparityRange
from slanted.settings import CensusSettings, MatchingSettings
from slanted.threads import thread_limit

PEAK = """
import json, sys
from pathlib import Path
from slanted.io import read_image
from slanted.matching import DisparityRange
from slanted.settings import MatchingSettings
from slanted.threads import thread_limit
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
# Not getrusage: its maximum starts from that of the process that started this one.
status = Path("/proc/self/status").read_text()
print(json.dumps(int(status.split("VmHWM:")[1].split()[0]) / 1024))
"""


def main() -> None:
    """Time both matchers in turn and record times, ratios and peak memory."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--disparities", type=int, nargs="+", default=[64, 128, 256])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    arguments = parser.parse_args()
    frame = find_frames("kitti2015", data_folder() / "kitti2015", limit=1)[0]
    left, right = read_image(frame.left), read_image(frame.right)
    files = str(frame.left), str(frame.right)
    results: dict[str, object] = {"size": left.shape[:2]}
    results["peak MiB, imports only"] = peak(*files, "imports", 1, 1)
    for threads in arguments.threads:
        for count in arguments.disparities:
            results[f"{threads} threads, {count} disparities"] = {
                **times(left, right, count, threads, arguments.repeats),
                "peak MiB": {
                    name: peak(*files, name, count, threads) for name in ("census", "sgbm")
                },
            }
    record("matching_speed", arguments, results)


def times(left, right, count: int, threads: int, repeats: int) -> dict[str, dict[str, float]]:  # noqa: ANN001
    """Return median seconds and ratios of the matchers on one pair."""
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
    return medians(seconds, "sgbm_hh")


def peak(left: str, right: str, method: str, count: int, threads: int) -> float:
    """Return the peak memory, in MiB, of a fresh process that matches one pair."""
    command = [sys.executable, "-c", PEAK, left, right, method, str(count), str(threads)]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(json.loads(found.stdout))


if __name__ == "__main__":
    main()
