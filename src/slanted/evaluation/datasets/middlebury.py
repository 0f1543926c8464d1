"""Scenes of Middlebury 2001, 2003, 2005 and 2006: 8-bit ground truth with a scale.

Either a ``scenes.json`` in the root names the files and the scale of each scene, or each folder of
the root is a scene in the layout of the official archives, whose scale follows from its width.

References
----------
.. [1] D. Scharstein, R. Szeliski, IJCV 47, 2002 (the 2001 scenes).
.. [2] D. Scharstein, R. Szeliski, "High-accuracy stereo depth maps using structured light", CVPR
   2003.
.. [3] D. Scharstein, C. Pal, "Learning conditional random fields for stereo", CVPR 2007 (2005);
   H. Hirschmüller, D. Scharstein, "Evaluation of cost functions for stereo matching", CVPR 2007
   (2006).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from slanted.errors import FileError
from slanted.evaluation.datasets.files import first_file, require_right_image
from slanted.evaluation.datasets.frame import Candidate, Frame
from slanted.io.texts import read_json_object

SCENES_FILE = "scenes.json"

MIDDLEBURY_EXPECTED = (
    f"{SCENES_FILE}, or a folder per scene with view1, view5 and disp1 (2005, 2006) or im2, im6 "
    "and disp2 (2001, 2003)"
)

_IMAGE_SUFFIXES = (".png", ".ppm")
_TRUTH_SUFFIXES = (".png", ".pgm")


@dataclass(frozen=True)
class SceneNaming:
    """File stems of one generation of scenes, and the scale for each of its sizes.

    Attributes
    ----------
    left, right, truth, truth_right
        File names without suffix.
    scales
        (least width, greatest width, scale) in image pixels.
    """

    left: str
    right: str
    truth: str
    truth_right: str
    scales: tuple[tuple[int, int, int], ...]


_NAMINGS = (
    # 2005 and 2006, full, half and third size.
    SceneNaming(
        "view1", "view5", "disp1", "disp5", ((1230, 1400, 1), (615, 700, 2), (410, 467, 3))
    ),
    # 2003 in full, half and quarter size; 2001 is 430 to 435 wide.
    SceneNaming(
        "im2",
        "im6",
        "disp2",
        "disp6",
        ((1800, 1800, 1), (900, 900, 2), (450, 450, 4), (428, 440, 8)),
    ),
)


def find_middlebury_frames(root: Path) -> list[Candidate]:
    """List the scenes under `root` that have a left image and ground truth.

    Each also needs a right image and a scale.

    Raises
    ------
    FileError
        If ``scenes.json`` cannot be read.
    """
    listing = root / SCENES_FILE
    if listing.is_file():
        scenes = read_json_object(listing)
        return [
            (name, partial(_listed_scene, listing, name, scene)) for name, scene in scenes.items()
        ]
    found: list[Candidate] = []
    for folder in (path for path in root.iterdir() if path.is_dir()):
        for naming in _NAMINGS:
            left = first_file(folder, naming.left, _IMAGE_SUFFIXES)
            truth = first_file(folder, naming.truth, _TRUTH_SUFFIXES)
            if left is not None and truth is not None:
                found.append((folder.name, partial(_folder_scene, folder, naming, left, truth)))
                break
    return found


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


def _folder_scene(folder: Path, naming: SceneNaming, left: Path, truth: Path) -> Frame:
    """Return the scene in an official folder."""
    right = first_file(folder, naming.right, _IMAGE_SUFFIXES)
    return Frame(
        name=folder.name,
        left=left,
        right=require_right_image(right, left, folder / f"{naming.right}{left.suffix}"),
        ground_truth=truth,
        disparity_format="middlebury",
        disparity_scale=_scale(truth, naming),
        ground_truth_right=first_file(folder, naming.truth_right, _TRUTH_SUFFIXES),
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
        f"expected an official width ({sizes} pixels) to tell the disparity scale by, got {width}; "
        f"state the scale in a {SCENES_FILE} beside the scene folders.",
    )
