"""How much of the sky is found, and what else is taken for it.

`sky_polygons.json` has polygons of pixels, drawn by hand, for KITTI frames: `sky` and `not_sky` are
certain, `thin` are lines along wires, lamps and poles in front of the sky. A band of three pixels
along every outline and line is left out. The rule was tuned on the five frames `TUNED`; the figures
of another five were seen meanwhile, and those of `UNSEEN` only when it was fixed.

The results are the percentages of marked pixels that are flagged; of all frames with ground truth,
the percentage of its pixels that are flagged, which should be none; and of indoor scenes, the
percentage of all pixels.

    python benchmarks/sky.py [--limit 0] [--preset default]
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from common import SMOKE, frames_of, options, pair_of, record, told
from slanted.evaluation.motorcycle import load_motorcycle
from slanted.pipeline import estimate
from slanted.settings import Settings

POLYGONS = Path(__file__).with_name("sky_polygons.json")
TUNED = ("000001_10", "000010_10", "000034_10", "000116_10", "000185_10")
UNSEEN = ("000042_10", "000107_10", "000146_10", "000165_10", "000197_10")
BAND = 3
"""Pixels along outlines that are not judged."""

Marks = Mapping[str, Sequence[Sequence[tuple[int, int]]]]


def marked(marks: Marks, shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Return the masks of pixels that are sky and that are not, without the bands."""
    no_sky, lines = np.zeros((2, *shape), np.uint8)
    sky = np.zeros(shape, np.uint8)
    for name, mask in (("sky", sky), ("not_sky", no_sky)):
        for polygon in marks[name]:
            cv2.fillPoly(mask, [np.array(polygon, np.int32)], 1)
    for line in marks["thin"]:
        cv2.polylines(lines, [np.array(line, np.int32)], False, 1)
    band = np.ones((2 * BAND + 1, 2 * BAND + 1), np.uint8)
    sky &= ~(no_sky | lines)
    return cv2.erode(sky, band) > 0, cv2.erode(no_sky, band) > 0


def percent(mask: np.ndarray, of: np.ndarray) -> float:
    """Return the percentage of the pixels `of` that lie in a mask."""
    return 100 * float(mask[of].mean()) if of.any() else 0.0


def kitti(limit: int, settings: Settings) -> dict[str, Any]:
    """Return the percentages of marked pixels and of ground truth over all splits."""
    marks = json.loads(POLYGONS.read_text())
    rows, known, flagged = {}, 0, 0
    splits = ("train", "validation") if SMOKE else ("train", "train_more", "validation")
    for frame in (frame for split in splits for frame in frames_of("kitti2015", split, limit)):
        sky = estimate(*pair_of(frame), settings).sky
        truth = np.isfinite(frame.load_ground_truth()[0])
        known, flagged = known + int(truth.sum()), flagged + int(truth[sky].sum())
        of_frame = next(iter(marks.values())) if SMOKE else marks.get(frame.name)
        if of_frame is not None:
            is_sky, is_not = marked(of_frame, sky.shape)
            found = {"sky": percent(sky, is_sky), "not sky": percent(sky, is_not)}
            rows[frame.name] = told({**found, "ground truth": percent(sky, truth)})
    groups = {"tuned": TUNED, "unseen": UNSEEN, "others": set(rows) - {*TUNED, *UNSEEN}}
    means = {
        f"{group}, {kind}": float(np.mean([rows[name][kind] for name in names if name in rows]))
        for group, names in groups.items()
        if set(names) & set(rows)
        for kind in ("sky", "not sky")
    }
    return {"frames": rows, **means, "ground truth of all": 100 * flagged / known}


def indoors(limit: int, settings: Settings) -> dict[str, float]:
    """Return the percentage of flagged pixels of each scene."""
    pairs = {
        frame.name: pair_of(frame)
        for split in ("train", "test")
        for frame in frames_of("middlebury", split, limit)
    }
    if not SMOKE:
        pairs["Motorcycle"] = load_motorcycle()[:2]
    return {name: 100 * float(estimate(*pair, settings).sky.mean()) for name, pair in pairs.items()}


def main() -> None:
    """Measure and record."""
    arguments = options(__doc__, {}, limit=0, preset="default")
    settings = Settings.preset(arguments.preset)
    results = {
        "kitti2015": kitti(arguments.limit, settings),
        "indoors": indoors(arguments.limit, settings),
    }
    record("sky", arguments, results)


if __name__ == "__main__":
    main()
