"""What a result was made of, read back from its folder: the pair and the calibration."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slanted.errors import FileError, InputError
from slanted.io import Calibration, read_bytes, read_image
from slanted.io.names import RECORD
from slanted.output.strangers import check_claims

if TYPE_CHECKING:
    from slanted.images import Image


def read_view(path: Path) -> Image | None:
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


def check_size(path: Path, image: Image | None, size: tuple[int, ...]) -> Image | None:
    """Return a view if it has the size of the disparity, or raise a FileError."""
    if image is not None and image.shape[:2] != size:
        raise FileError(path, "expected an image of the disparity's size; run again")
    return image


def recorded_calibration(folder: Path, record: dict[str, Any]) -> Calibration | None:
    """Return the calibration in the record of a run, None if it was given none."""
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
