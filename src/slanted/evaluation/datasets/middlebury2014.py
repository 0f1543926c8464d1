"""Scenes of Middlebury 2014 and of the stereo evaluation, version 3: PFM ground truth.

References
----------
.. [1] D. Scharstein, H. Hirschmüller, Y. Kitajima, G. Krathwohl, N. Nešić, X. Wang, P. Westling,
   "High-resolution stereo datasets with subpixel-accurate ground truth", GCPR 2014.
"""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

from slanted.errors import FileError
from slanted.evaluation.datasets.files import first_file, require_right_image
from slanted.evaluation.datasets.frame import Candidate, Frame

MIDDLEBURY2014_EXPECTED = (
    "a folder per scene with im0.png, im1.png, calib.txt and disp0GT.pfm or disp0.pfm"
)

_NDISP = re.compile(r"^\s*ndisp\s*=\s*(.*?)\s*$", re.MULTILINE)


def find_middlebury2014_frames(root: Path) -> list[Candidate]:
    """List the scenes under `root` that have a left image and ground truth.

    Each also needs a right image, and a ``calib.txt`` that can be read if there is one.
    """
    found: list[Candidate] = []
    for folder in (path for path in root.iterdir() if path.is_dir()):
        left = first_file(folder, "im0", (".png",))
        truth = first_file(folder, "disp0", ("GT.pfm", ".pfm"))
        if left is not None and truth is not None:
            found.append((folder.name, partial(_frame, folder, left, truth)))
    return found


def _frame(folder: Path, left: Path, truth: Path) -> Frame:
    calibration = first_file(folder, "calib", (".txt",))
    right = first_file(folder, "im1", (".png",))
    return Frame(
        name=folder.name,
        left=left,
        right=require_right_image(right, left, folder / "im1.png"),
        ground_truth=truth,
        calibration=calibration,
        max_disparity=None if calibration is None else _ndisp(calibration),
        disparity_format="pfm",
        visible_mask=first_file(folder, "mask0nocc", (".png",)),
        # The archives of single scenes have no mask, but the ground truth of both views.
        ground_truth_right=first_file(folder, "disp1", ("GT.pfm", ".pfm")),
    )


def _ndisp(calibration: Path) -> int | None:
    """Return the conservative bound on disparity that the authors give for the scene."""
    try:
        text = calibration.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(
            calibration,
            f"expected a text file with the calibration, got {error}; restore it from the archive.",
        ) from error
    found = _NDISP.search(text)
    if found is None:
        return None
    if not found[1].isdecimal() or int(found[1]) == 0:
        raise FileError(
            calibration,
            f'expected a positive whole number after "ndisp=", got "{found[1]}"; correct the line '
            "or delete it.",
        )
    return int(found[1])
