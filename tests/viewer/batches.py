"""A small batch to look at, without running one."""

import dataclasses

import numpy as np

from slanted.batch.records import row_of, write_summary
from slanted.io import write_disparity
from slanted.io.names import BATCH_MARKER, TRUTH
from viewer.worlds import CAMERAS, estimated, scene, sure

FAILED = "pair-broken"


def name_of(number):
    return f"day/pair-{number:03}"


def seconds_of(number):
    """Different for each pair, and not in their order."""
    return float((7 * number) % 101) / 10 + 0.5


def disparity_of(number):
    """Different for each pair."""
    return estimated()[0].disparity + np.float32(0.125 * number)


def write_batch(folder, pairs, *, truth=False):
    """Write the results of some pairs and of one that failed, and their summary."""
    folder.mkdir()
    (folder / BATCH_MARKER).touch()
    rows = []
    for number in range(pairs):
        result = dataclasses.replace(
            sure(estimated()[0]), disparity=disparity_of(number), calibration=CAMERAS
        )
        place = folder / name_of(number)
        result.save(place, scene().left // (1 + number % 4), scene().right)
        if truth:
            write_disparity(place / TRUTH, scene().disparity)
        record = {"name": name_of(number), "status": "done", "width": 160, "height": 120}
        record |= {"seconds": {"total": seconds_of(number)}, "gap_percent": 0.5, "energy": 1e6}
        record |= {"matched_percent": 90 - number / 7} if number % 5 else {}
        rows.append(row_of({**record, "versions": {}, "warnings": []}))
    failed = {"name": FAILED, "status": "failed", "error": "right.png: expected an image"}
    write_summary(folder, [*rows, row_of(failed)])
    return folder
