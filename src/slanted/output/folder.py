"""A result as a folder of files."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from slanted import __version__
from slanted.errors import FileError
from slanted.io import (
    npy,
    point_cloud,
    write_bytes,
    write_disparity,
    write_image,
    write_labels,
    write_ply,
)
from slanted.io.disparity import KITTI_LIMIT
from slanted.output.pictures import colour_disparity, paint_regions

if TYPE_CHECKING:
    from slanted.io import Calibration
    from slanted.matching import Image
    from slanted.result import Result

RECORD = "run.json"
"""Written last: a folder that has it is complete."""
OPTIONAL = ("disparity.png", "depth.npy", "cloud.ply")
"""Files that some runs do not write; an earlier run's would stand beside the wrong disparity."""


def check_folder(folder: Path) -> None:
    """Raise a FileError if results cannot be written there, before any work is done."""
    try:
        nearest = folder
        while not nearest.exists() and nearest != nearest.parent:
            nearest = nearest.parent
        if not nearest.is_dir():
            raise FileError(folder, f"expected a folder to write to, but {nearest} is a file")
        if not os.access(nearest, os.W_OK | os.X_OK):
            raise FileError(folder, f"expected a folder to write to, but {nearest} is read-only")
    except OSError as error:
        raise FileError(folder, f"cannot be a folder to write to ({error.strerror})") from error


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """Give a folder to write to whose files all move to `folder` when the block ends well.

    If the block raises, or a file cannot take its place, nothing is left behind and `folder` stays
    as it was.
    """
    check_folder(folder)
    existed = folder.exists()
    staging = folder / f".{uuid.uuid4().hex[:12]}.partial"
    try:
        staging.mkdir(parents=True)
        yield staging
        names = sorted((file.name for file in staging.iterdir()), key=lambda name: name == RECORD)
        for name in (*names, *OPTIONAL):
            if (folder / name).is_dir():
                raise FileError(folder / name, "expected a file to replace, but it is a folder")
        for name in (RECORD, *(name for name in OPTIONAL if name not in names)):
            (folder / name).unlink(missing_ok=True)
        for name in names:
            (staging / name).replace(folder / name)
        staging.rmdir()
    except BaseException as error:
        shutil.rmtree(staging, ignore_errors=True)
        if not existed:
            shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, OSError):
            raise FileError(folder, f"cannot be written to ({error.strerror})") from error
        raise


def write_result(
    folder: Path,
    result: Result,
    left: Image,
    calibration: Calibration | None = None,
    inputs: dict[str, Any] | None = None,
) -> None:
    """Write a result's files.

    ``disparity.pfm`` and ``.npy`` always; ``disparity.png`` (KITTI, 16 bit) if its range allows;
    ``disparity_colour.png``; ``segments.npy`` and a picture of them; with a calibration
    ``depth.npy`` in metres and ``cloud.ply``; ``settings.toml`` and ``run.json``, which records
    `inputs`, such as file names, too.
    """
    disparity = result.disparity
    names = ["disparity.pfm", "disparity.npy"]
    if float(disparity.min()) >= 0 and float(disparity.max()) < KITTI_LIMIT:
        names.append("disparity.png")
    for name in names:
        write_disparity(folder / name, disparity)
    write_image(folder / "disparity_colour.png", colour_disparity(disparity))
    write_labels(folder / "segments.npy", result.regions.labels)
    write_image(folder / "segments_colour.png", paint_regions(left, result.regions))
    if calibration is not None:
        write_bytes(folder / "depth.npy", npy.encode(calibration.depth(disparity)))
        write_ply(folder / "cloud.ply", *point_cloud(disparity, left, calibration))
    result.settings.save(folder / "settings.toml")
    record = {**summary(result), "inputs": inputs or {}}
    write_bytes(folder / RECORD, (json.dumps(record, indent=1) + "\n").encode())


def file_names(folder: Path) -> list[str]:
    """Return the names of a folder's files."""
    return sorted(file.name for file in folder.iterdir() if file.is_file())


def summary(result: Result) -> dict[str, Any]:
    """Return what ``slanted run --json`` prints of a result."""
    height, width = result.disparity.shape
    check = result.rectification
    return {
        "version": __version__,
        "width": width,
        "height": height,
        "searched": None if result.searched is None else dataclasses.asdict(result.searched),
        "disparity_min": float(result.disparity.min()),
        "disparity_max": float(result.disparity.max()),
        "matched_percent": 100 * float(np.isfinite(result.matched).mean()),
        "segments": result.regions.count,
        "boundaries": result.regions.number_of_edges,
        "junctions": len(result.regions.junctions3) + len(result.regions.junctions4),
        "rectification": None if check is None else dataclasses.asdict(check),
        "seconds": {**result.seconds, "total": sum(result.seconds.values())},
    }
