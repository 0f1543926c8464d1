"""A result read from its folder, with its images, calibration and record."""

from __future__ import annotations

import dataclasses
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slanted.errors import FileError, InputError
from slanted.io import Calibration, read_bytes, read_disparity, read_image
from slanted.io.names import ARRAYS, LEFT, RECORD, RIGHT, TRUTH
from slanted.io.replacement import read_settled
from slanted.output.result_data import check_claims, only_inside, read_record
from slanted.result import Result

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

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
    only_inside(folder, ARRAYS, RECORD, LEFT, RIGHT, TRUTH)
    record = read_record(folder / RECORD)
    calibration = _calibration(folder, record)
    # Decoding large images takes as long as reading the arrays; both leave the interpreter free.
    with ThreadPoolExecutor(2) as pool:
        views = [pool.submit(_image, folder / name) for name in (LEFT, RIGHT)]
        result = Result.load(folder)
        left, right = (view.result() for view in views)
    size = result.disparity.shape
    return ResultFolder(
        name=folder.resolve().name,
        result=result,
        left=_of_size(folder / LEFT, left, size),
        right=_of_size(folder / RIGHT, right, size),
        calibration=calibration,
        record=record,
        truth=_truth(folder / TRUTH, size),
    )


def _truth(path: Path, size: tuple[int, ...]) -> NDArray[np.float32] | None:
    if not path.is_file():
        return None
    truth = read_disparity(path, allow_negative=True)
    if truth.shape != size:
        raise FileError(path, "expected a map of the disparity's size; remove or replace it")
    return truth


def _of_size(path: Path, image: Image | None, size: tuple[int, ...]) -> Image | None:
    if image is not None and image.shape[:2] != size:
        raise FileError(path, "expected an image of the disparity's size; run again")
    return image


def _image(path: Path) -> Image | None:
    """Return a view of the pair, None if the folder does not have it.

    The record names the files that the run read, but they are never opened: they may have changed,
    and a folder from somebody else must not name files of this machine.
    """
    from slanted.images.checks import check_image
    from slanted.io.containers import read_header

    if not path.is_file():
        return None
    header = read_header(path, read_bytes(path))
    check_claims(path.parent, header.height_pixels * header.width_pixels)
    return check_image(path.name, read_image(path))


def _calibration(folder: Path, record: dict[str, Any]) -> Calibration | None:
    stored = record.get("calibration")
    if stored is None:
        return None
    try:
        known = {field.name for field in dataclasses.fields(Calibration)}
        values = {key: value for key, value in stored.items() if key in known}
        if values.get("image_size") is not None:
            values["image_size"] = tuple(values["image_size"])
        return Calibration(**values)
    except (TypeError, AttributeError, OverflowError, InputError) as error:
        raise FileError(
            folder / RECORD, f"expected the calibration of a run, but it does not fit ({error})"
        ) from error
