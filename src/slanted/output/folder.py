"""A result as a folder of files."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from slanted.errors import FileError
from slanted.io import point_cloud, write_bytes, write_disparity, write_image, write_ply
from slanted.io.disparity import KITTI_LIMIT
from slanted.output.pictures import colour_disparity

if TYPE_CHECKING:
    from slanted.io import Calibration
    from slanted.matching import Image
    from slanted.result import Result


def check_folder(folder: Path) -> None:
    """Raise a FileError if results cannot be written there, before any work is done."""
    nearest = folder
    while not nearest.exists() and nearest != nearest.parent:
        nearest = nearest.parent
    if not nearest.is_dir():
        raise FileError(folder, f"expected a folder to write to, but {nearest} is a file")
    if not os.access(nearest, os.W_OK | os.X_OK):
        raise FileError(folder, f"expected a folder to write to, but {nearest} is not writable")


def write_result(
    folder: Path, result: Result, left: Image, calibration: Calibration | None = None
) -> list[str]:
    """Write a result's files and return their names.

    ``disparity.pfm`` and ``.npy`` always; ``disparity.png`` (KITTI, 16 bit) if its range allows;
    ``disparity_colour.png``; with a calibration ``depth.npy`` in metres and ``cloud.ply``; last
    ``settings.toml`` and ``run.json``, so that a folder with a ``run.json`` is complete.
    """
    disparity = result.disparity
    names = ["disparity.pfm", "disparity.npy"]
    if float(disparity.min()) >= 0 and float(disparity.max()) < KITTI_LIMIT:
        names.append("disparity.png")
    for name in names:
        write_disparity(folder / name, disparity)
    write_image(folder / "disparity_colour.png", colour_disparity(disparity))
    names.append("disparity_colour.png")
    if calibration is not None:
        write_array(folder / "depth.npy", calibration.depth(disparity))
        write_ply(folder / "cloud.ply", *point_cloud(disparity, left, calibration))
        names += ["depth.npy", "cloud.ply"]
    result.settings.save(folder / "settings.toml")
    write_bytes(folder / "run.json", (json.dumps(summary(result), indent=1) + "\n").encode())
    return [*names, "settings.toml", "run.json"]


def write_array(path: Path, array: Any) -> None:
    """Write an array as NPY."""
    import io

    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    write_bytes(path, buffer.getvalue())


def summary(result: Result) -> dict[str, Any]:
    """Return what ``slanted run --json`` prints of a result."""
    height, width = result.disparity.shape
    check = result.rectification
    return {
        "width": width,
        "height": height,
        "disparity_min": float(result.disparity.min()),
        "disparity_max": float(result.disparity.max()),
        "matched_percent": 100 * float(np.isfinite(result.matched).mean()),
        "vertical_offset": None if check is None else check.vertical_spread,
        "seconds": {**result.seconds, "total": sum(result.seconds.values())},
    }
