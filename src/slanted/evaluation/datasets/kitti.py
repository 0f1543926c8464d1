"""Training frames of KITTI 2012 and KITTI 2015 in the layout of the official archives."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from slanted.evaluation.datasets.frame import Candidate, Frame, check_right_image


@dataclass(frozen=True)
class KittiFolders:
    """Folder names under ``training``.

    Attributes
    ----------
    images
        Pairs of left and right folder, preferred first; the first pair that exists is used.
    truth, truth_noc
        Ground truth of all and of the non-occluded pixels.
    calibration
        One text file per frame.
    """

    images: tuple[tuple[str, str], ...]
    truth: str
    truth_noc: str
    calibration: str

    @property
    def expected(self) -> str:
        """The layout, for messages."""
        left, right = self.images[0]
        return f"training/{left}, training/{right} and training/{self.truth} with *_10.png files"


KITTI2012 = KittiFolders(
    images=(("colored_0", "colored_1"), ("image_0", "image_1")),
    truth="disp_occ",
    truth_noc="disp_noc",
    calibration="calib",
)
KITTI2015 = KittiFolders(
    images=(("image_2", "image_3"),),
    truth="disp_occ_0",
    truth_noc="disp_noc_0",
    calibration="calib_cam_to_cam",
)


def find_kitti_frames(root: Path, folders: KittiFolders) -> list[Candidate]:
    """List the frames that have a left image and ground truth; each needs a right image too.

    `root` is the dataset or its ``training`` folder.
    """
    training = root / "training" if (root / "training").is_dir() else root
    pairs = [pair for pair in folders.images if (training / pair[0]).is_dir()]
    if not pairs:
        return []
    left_folder, right_folder = pairs[0]
    # *_10 is the reference view of each scene, the only one with ground truth; others are video.
    return [
        (left.stem, partial(_frame, training, left, training / right_folder / left.name, folders))
        for left in (training / left_folder).glob("*_10.png")
        if (training / folders.truth / left.name).is_file()
    ]


def _frame(training: Path, left: Path, right: Path, folders: KittiFolders) -> Frame:
    noc = training / folders.truth_noc / left.name
    calibration = training / folders.calibration / f"{left.stem.removesuffix('_10')}.txt"
    return Frame(
        name=left.stem,
        left=left,
        right=check_right_image(right, left),
        ground_truth=training / folders.truth / left.name,
        ground_truth_noc=noc if noc.is_file() else None,
        calibration=calibration if calibration.is_file() else None,
        disparity_format="kitti",
    )
