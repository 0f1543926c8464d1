"""Middlebury scenes: 2001 to 2006 with scaled 8-bit ground truth, 2014 (and v3) with PFM.

Either a ``scenes.json`` in the root names the files and the scale of each scene up to 2006, or each
folder of the root is a scene in the layout of the official archives. The scale of an 8-bit ground
truth in such a folder follows from its width.

References
----------
.. [1] D. Scharstein, R. Szeliski, IJCV 47, 2002 (the 2001 scenes).
.. [2] D. Scharstein, R. Szeliski, "High-accuracy stereo depth maps using structured light", CVPR
   2003.
.. [3] D. Scharstein, C. Pal, "Learning conditional random fields for stereo", CVPR 2007 (2005);
   H. Hirschmüller, D. Scharstein, "Evaluation of cost functions for stereo matching", CVPR 2007
   (2006).
.. [4] D. Scharstein, H. Hirschmüller, Y. Kitajima, G. Krathwohl, N. Nešić, X. Wang, P. Westling,
   "High-resolution stereo datasets with subpixel-accurate ground truth", GCPR 2014.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from slanted.errors import FileError
from slanted.evaluation.datasets.frame import Candidate, Frame, check_right_image
from slanted.io.files import read_bytes
from slanted.io.texts import LARGEST_TEXT, read_json_object

SCENES_FILE = "scenes.json"

MIDDLEBURY_EXPECTED = (
    f"{SCENES_FILE}, or a folder per scene with view1, view5 and disp1 (2005, 2006) or im2, im6 "
    "and disp2 (2001, 2003)"
)
MIDDLEBURY2014_EXPECTED = (
    "a folder per scene with im0.png, im1.png, calib.txt and disp0GT.pfm or disp0.pfm"
)

_NDISP = re.compile(r"^\s*ndisp\s*=\s*(.*?)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class SceneNaming:
    """Names of the files of one generation of scenes.

    Attributes
    ----------
    left, right, truth, truth_right
        File names without suffix.
    scales
        (least width, greatest width, scale) in image pixels; empty where the ground truth is PFM.
    image_suffixes, truth_suffixes
        Endings of the images and of the ground truth, preferred first.
    """

    left: str
    right: str
    truth: str
    truth_right: str
    scales: tuple[tuple[int, int, int], ...]
    image_suffixes: tuple[str, ...] = (".png", ".ppm")
    truth_suffixes: tuple[str, ...] = (".png", ".pgm")


# Full, half and third size.
_NAMING_2005 = SceneNaming(
    "view1", "view5", "disp1", "disp5", ((1230, 1400, 1), (615, 700, 2), (410, 467, 3))
)
# 2003 in full, half and quarter size; 2001 is 430 to 435 wide.
_NAMING_2001 = SceneNaming(
    *("im2", "im6", "disp2", "disp6"),
    scales=((1800, 1800, 1), (900, 900, 2), (450, 450, 4), (428, 440, 8)),
)
_NAMING_2014 = SceneNaming("im0", "im1", "disp0", "disp1", (), (".png",), ("GT.pfm", ".pfm"))


def find_middlebury_frames(root: Path) -> list[Candidate]:
    """List the scenes of 2001 to 2006 under `root` that have a left image and ground truth.

    Each also needs a right image and a scale.

    Raises
    ------
    FileError
        If ``scenes.json`` cannot be read.
    """
    listing = root / SCENES_FILE
    if listing.is_file():
        return [
            (name, partial(_listed_scene, listing, name, scene))
            for name, scene in read_json_object(listing).items()
        ]
    return _find_scenes(root, (_NAMING_2005, _NAMING_2001))


def find_middlebury2014_frames(root: Path) -> list[Candidate]:
    """List the scenes of 2014 under `root` that have a left image and ground truth.

    Each also needs a right image; ``calib.txt`` may be missing, but must be readable if present.
    """
    return _find_scenes(root, (_NAMING_2014,))


def _find_scenes(root: Path, namings: Iterable[SceneNaming]) -> list[Candidate]:
    found: list[Candidate] = []
    for folder in (path for path in root.iterdir() if path.is_dir()):
        for naming in namings:
            left = _first_file(folder, naming.left, naming.image_suffixes)
            truth = _first_file(folder, naming.truth, naming.truth_suffixes)
            if left is not None and truth is not None:
                found.append((folder.name, partial(_folder_scene, folder, naming, left, truth)))
                break
    return found


def _first_file(folder: Path, stem: str, suffixes: tuple[str, ...]) -> Path | None:
    """Return the first of `stem` + suffix that exists in `folder`, None if none does."""
    candidates = (folder / f"{stem}{suffix}" for suffix in suffixes)
    return next((path for path in candidates if path.is_file()), None)


def _folder_scene(folder: Path, naming: SceneNaming, left: Path, truth: Path) -> Frame:
    """Return the scene in a folder of an official archive."""
    right = _first_file(folder, naming.right, naming.image_suffixes)
    frame = Frame(
        name=folder.name,
        left=left,
        right=check_right_image(right or folder / f"{naming.right}{left.suffix}", left),
        ground_truth=truth,
        ground_truth_right=_first_file(folder, naming.truth_right, naming.truth_suffixes),
    )
    if naming.scales:
        scale = _scale(truth, naming)
        return replace(frame, disparity_format="middlebury", disparity_scale=scale)
    calibration = _first_file(folder, "calib", (".txt",))
    return replace(
        frame,
        disparity_format="pfm",
        calibration=calibration,
        max_disparity=None if calibration is None else _ndisp(calibration),
        # Archives of single scenes have no mask, but ground truth of both views.
        visible_mask=_first_file(folder, "mask0nocc", (".png",)),
    )


def _scale(truth: Path, naming: SceneNaming) -> float:
    from slanted.io import read_image

    width = read_image(truth).shape[1]
    for least, greatest, scale in naming.scales:
        if least <= width <= greatest:
            return float(scale)
    sizes = ", ".join(
        f"{least}" if least == greatest else f"{least}-{greatest}"
        for least, greatest, _ in naming.scales
    )
    raise FileError(
        truth,
        f"expected an official width ({sizes} pixels) to infer the disparity scale, got {width}; "
        f"state the scale in a {SCENES_FILE} beside the scene folders.",
    )


def _ndisp(calibration: Path) -> int | None:
    """Return the conservative bound on disparity that the authors give for the scene."""
    try:
        text = read_bytes(calibration, LARGEST_TEXT, may_be_empty=True).decode("utf-8")
    except UnicodeDecodeError as error:
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


def _listed_scene(listing: Path, name: str, scene: Any) -> Frame:
    if not isinstance(scene, dict):
        raise FileError(
            listing,
            f'expected an object of files for the scene "{name}", got {type(scene).__name__}; give '
            "it left, right, gt and disparity_scale.",
        )
    scale = scene.get("disparity_scale")
    if isinstance(scale, bool) or not isinstance(scale, int | float) or not 0 < scale < math.inf:
        raise FileError(
            listing,
            f'expected a positive number as disparity_scale of "{name}", got {scale!r}; give the '
            "stored value of one pixel of disparity.",
        )
    return Frame(
        name=name,
        left=_listed_file(listing, name, scene, "left"),
        right=_listed_file(listing, name, scene, "right"),
        ground_truth=_listed_file(listing, name, scene, "gt"),
        disparity_format="middlebury",
        disparity_scale=float(scale),
        visible_mask=_optional_file(listing, name, scene, "mask_vis"),
        ground_truth_right=_optional_file(listing, name, scene, "gt_right"),
    )


def _listed_file(listing: Path, name: str, scene: Mapping[str, Any], key: str) -> Path:
    value = scene.get(key)
    if not isinstance(value, str):
        raise FileError(
            listing,
            f'expected a file name as {key} of "{name}", got {value!r}; name it relative to '
            f"{listing.parent}.",
        )
    path = listing.parent / value
    if not path.is_file():
        raise FileError(
            path,
            f'expected the {key} of "{name}" that {listing} names, found no such file; correct '
            "the name or restore the file.",
        )
    return path


def _optional_file(listing: Path, name: str, scene: Mapping[str, Any], key: str) -> Path | None:
    return None if scene.get(key) is None else _listed_file(listing, name, scene, key)
