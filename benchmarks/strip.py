"""Errors in the strip at the left that the right view does not see.

The strip is all ground truth whose match would lie left of the right image. Its own error is the
percentage of its pixels that are more than 3 px off, as a mean over the frames that have at least
50 of them. Compared are the result, its planes as they are (`model.strip_step` = 0), the matcher's
map with holes filled, and row filling: every row of the strip has the disparity of the result at
the row's first pixel that the right view shows, or at the first that also has a match. The errors
of all pixels stand beside them.

    python benchmarks/strip.py [--limit 0] [--preset default]
"""

from __future__ import annotations

import numpy as np

from common import SMOKE, frames_of, options, pair_of, record, told
from slanted.evaluation.datasets import Frame
from slanted.matching.interpolation import interpolate_background
from slanted.model.drawing import draw_result
from slanted.pipeline import estimate
from slanted.settings import Settings

SETS = [
    *(("kitti2015", "train"), ("kitti2015", "validation")),
    *(("middlebury", "train"), ("middlebury", "test")),
    *([] if SMOKE else [("kitti2015", "train_more"), ("middlebury2001", "test")]),
]
FEWEST = 50
WRONG = 3.0


def filled_rows(disparity: np.ndarray, is_seen: np.ndarray) -> np.ndarray:
    """Return the disparity with each row continued to the left of its first seen pixel."""
    first = is_seen.argmax(axis=1)[:, np.newaxis]
    reached = np.take_along_axis(disparity, first, axis=1)
    return np.where(np.arange(disparity.shape[1]) < first, reached, disparity)


def errors(frame: Frame, settings: Settings) -> dict[str, tuple[float, float]] | None:
    """Return the percentages of wrong pixels in the strip and in all; None without a strip."""
    truth = frame.load_ground_truth()[0]
    columns = np.arange(truth.shape[1])
    strip = columns < truth
    if strip.sum() < FEWEST:
        return None
    result = estimate(*pair_of(frame), settings)
    plain = settings.with_text({"model.strip_step": "0"})
    made = plain, result.searched, result.matched
    planes = draw_result(result.regions, result.planes, *made)
    is_seen = columns >= planes
    maps = {
        "slanted": result.disparity,
        "planes": planes,
        "rows from the first seen": filled_rows(planes, is_seen),
        "rows from the first match": filled_rows(planes, is_seen & np.isfinite(result.matched)),
        "matches filled": interpolate_background(result.matched),
    }
    known = np.isfinite(truth)
    wrong = {name: np.abs(disparity - truth) > WRONG for name, disparity in maps.items()}
    return {
        name: (100 * float(each[strip].mean()), 100 * float(each[known].mean()))
        for name, each in wrong.items()
    }


def main() -> None:
    """Measure and record."""
    arguments = options(__doc__, {}, limit=0, preset="default")
    settings, results = Settings.preset(arguments.preset), {}
    for dataset, split in SETS:
        frames = frames_of(dataset, split, arguments.limit)
        rows = [row for frame in frames if (row := errors(frame, settings)) is not None]
        means = {name: np.mean([row[name] for row in rows], axis=0).tolist() for name in rows[0]}
        named = {name: {"strip": strip, "all": all_} for name, (strip, all_) in means.items()}
        results[f"{dataset} {split}"] = told({"frames": len(rows), **named})
    record("strip", arguments, results)


if __name__ == "__main__":
    main()
