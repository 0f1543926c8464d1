"""Tiles against whole images on Middlebury's full-size scenes: energies, errors at the seams.

python benchmarks/tiles.py [--pixels 250000] [--scenes Aloe Art ...] [--set key=value ...]
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from common import data_folder, options, record, told
from slanted import Settings, estimate, read_disparity, read_image

SCENES = ["Aloe", "Art", "Books", "Dolls", "Lampshade2", "Reindeer"]
NEAR = 12
"""Rows this close to a seam count as part of it."""


def main() -> None:
    """Run every scene both ways."""
    smoke = {"pixels": 10_000, "scenes": ["test"]}
    arguments = options(__doc__, smoke, pixels=250_000, scenes=SCENES, set=list[str]())
    root = data_folder() / "middlebury"
    changed = Settings().with_text(dict(setting.split("=", 1) for setting in arguments.set))
    rows = [told(measure(root / name, arguments.pixels, changed)) for name in arguments.scenes]
    record("tiles", arguments, rows)


def measure(folder: Path, pixels: int, whole: Settings) -> dict[str, Any]:
    """Return how far the energies differ, and the errors of both at seams and elsewhere."""
    left, right = read_image(folder / "view1.png"), read_image(folder / "view5.png")
    truth = read_disparity(folder / "disp1.png", scale=1.0)
    settings = whole.with_text({"tiles.above": "1", "tiles.pixels": str(pixels)})
    one, many = estimate(left, right, whole), estimate(left, right, settings)
    tiles = round(truth.size / pixels)
    near = np.zeros(len(truth), np.bool_)
    for k in range(1, tiles):
        seam = len(truth) * k // tiles
        near[seam - NEAR : seam + NEAR] = True
    known = np.isfinite(truth) & (truth > 0)
    row: dict[str, Any] = {"scene": folder.name, "tiles": tiles, "segments": one.regions.count}
    row["energy_percent"] = 100 * (many.energy / one.energy - 1)
    for name, result in (("whole", one), ("tiles", many)):
        wrong = (np.abs(result.disparity - truth) > 2) & known
        row[f"{name}_seams"] = 100 * float(wrong[near].sum() / known[near].sum())
        row[f"{name}_elsewhere"] = 100 * float(wrong[~near].sum() / known[~near].sum())
    return row


if __name__ == "__main__":
    main()
