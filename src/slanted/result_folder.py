"""A result read from its folder, with its images, calibration, record and ground truth."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slanted.errors import FileError
from slanted.images.checks import size_text
from slanted.io import Calibration, read_disparity
from slanted.io.names import ARRAYS, RECORD, TRUTH
from slanted.io.replacement import read_settled
from slanted.output.result_data import read_record
from slanted.output.strangers import only_inside
from slanted.result import Result

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from slanted.evaluation.region import Region
    from slanted.evaluation.scores import Scores
    from slanted.images import Image


@dataclass(frozen=True, eq=False)
class ResultFolder:
    """A result with what its folder holds beside it."""

    name: str
    """Name of the folder, for titles."""
    result: Result
    left: Image | None
    right: Image | None
    """The pair, if the folder has it."""
    calibration: Calibration | None
    """Calibration of the cameras, if the run was given one."""
    record: dict[str, Any]
    """The content of ``run.json``."""
    truth: NDArray[np.float32] | None = None
    """Ground truth of the left image, if the folder has it, as that of the demo."""


def open_result(folder: Path) -> ResultFolder:
    """Read a folder that ``slanted run`` or `Result.save` wrote.

    Images are those in the folder; results of early versions have none.

    Raises
    ------
    FileError
        If it is no result, or is damaged.
    """
    return read_settled(folder, lambda: _open(folder))


def _open(folder: Path) -> ResultFolder:
    if not (folder / RECORD).is_file() or not (folder / ARRAYS).is_file():
        inside = next(iter(sorted(folder.glob(f"*/{ARRAYS}"))), None)
        hint = "make one with slanted run" if inside is None else f"{inside.parent} is one"
        raise FileError(
            folder, f"expected the folder of a result, with {RECORD} and {ARRAYS} inside; {hint}"
        )
    only_inside(folder, RECORD)
    record = read_record(folder / RECORD)
    result = Result.load(folder)
    return ResultFolder(
        name=folder.resolve().name,
        result=result,
        left=result.left,
        right=result.right,
        calibration=result.calibration,
        record=record,
        truth=own_truth(folder, result.disparity.shape),
    )


def own_truth(folder: Path, size: tuple[int, ...]) -> NDArray[np.float32] | None:
    """Return the ground truth in the folder of a result, or None if it has none."""
    only_inside(folder, TRUTH)
    file = folder / TRUTH
    return read_truth(file, size) if file.is_file() else None


def read_truth(
    file: Path, size: tuple[int, ...], scale: float | None = None
) -> NDArray[np.float32]:
    """Read a ground truth, which must have the size of its disparity.

    For 8-bit maps, pixels = value / scale.
    """
    truth = read_disparity(file, scale=scale, allow_negative=True)
    if truth.shape != size:
        height, width = size
        raise FileError(
            file,
            f"expected the size of the left image, {width}×{height} pixels, got {size_text(truth)}",
        )
    return truth


def score_result(
    result: Result,
    truth: NDArray[np.float32],
    visible: NDArray[np.float32] | None = None,
    least: float | None = None,
    region: Region | None = None,
) -> Scores:
    """Return the errors of a result, without the pixels below a confidence.

    `least` is the lowest one to keep, by default that of the run. With a `region`, only that part
    of the image is measured.
    """
    from slanted.evaluation.scores import score

    threshold = result.least_confidence(least)
    return score(result.disparity, truth, visible, result.confidence, threshold, region)
