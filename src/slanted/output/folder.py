"""A result as a folder of files."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from slanted.errors import FileError
from slanted.io import (
    write_bytes,
    write_disparity,
    write_image,
    write_label_image,
    write_ply,
)
from slanted.io.arrays import encode_npy
from slanted.io.disparity import KITTI_LIMIT
from slanted.io.names import (
    ALWAYS,
    ARRAYS,
    BATCH_MARKER,
    LEFT,
    OPTIONAL,
    RECORD,
    RIGHT,
    SEGMENTS,
    SETTINGS,
    TRUTH,
    TRUTH_PICTURE,
    UCM,
)
from slanted.io.replacement import complete_replacement, own_folder, replaced_files
from slanted.output.chart_drawing import draw_picture
from slanted.output.charts import energy_chart
from slanted.output.export import Exportable, depth_map
from slanted.output.legends import with_legend
from slanted.output.overlays import labels_legend, paint_labels, paint_regions, regions_legend
from slanted.output.pictures import (
    colour_confidence,
    colour_disparity,
    colour_margins,
    colour_planes,
    confidence_legend,
    disparity_legend,
    disparity_scale,
    margins_legend,
    planes_legend,
)
from slanted.output.pixel_maps import write_pixel_maps
from slanted.output.result_data import json_text, summarise, write_arrays
from slanted.output.result_fields import ResultData

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from slanted.images import Image
    from slanted.io import Calibration
    from slanted.settings import Settings


def check_folder(folder: Path) -> None:
    """Raise a FileError if the folder cannot be written to."""
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


def check_result_folder(folder: Path) -> None:
    """Raise a FileError if a result cannot be written there, or would replace other files."""
    check_folder(folder)
    if folder.is_dir():
        _refuse_batch(folder)
        complete_replacement(folder)
        refuse_files_of_others(folder, () if (folder / RECORD).exists() else _files_there(folder))


def _refuse_batch(folder: Path) -> None:
    """Refuse the folder of a batch, whose files would be mixed with those of one pair."""
    if (folder / BATCH_MARKER).is_file():
        raise FileError(
            folder,
            "expected a folder for one pair, got that of a batch, whose results lie in folders of "
            "their own; name another folder",
        )


def _files_there(folder: Path) -> set[str]:
    """Return the names of files in a folder that a result could replace."""
    return {name for name in (RECORD, *ALWAYS, *OPTIONAL) if (folder / name).is_file()}


def refuse_files_of_others(folder: Path, names: Iterable[str]) -> None:
    """Raise a FileError if there are any of these files, which were written by nobody of us."""
    taken = sorted(names)
    if taken:
        others = f" and {len(taken) - 2} more" if len(taken) > 2 else ""
        raise FileError(
            folder,
            "expected a new folder or that of an earlier result, but it holds files that would be "
            f"replaced ({', '.join(taken[:2])}{others}) and that no run wrote; name another folder",
        )


@contextmanager
def whole_folder(folder: Path, *, fsync: bool = True) -> Iterator[Path]:
    """Yield a folder for a result; its files move to `folder` when the block ends without an error.

    Files of an earlier result are removed, except a ground truth that the user put beside it. If
    the block raises or the process is killed, `folder` stays as it was. Until the block ends, no
    other process can write a result there.

    Parameters
    ----------
    folder
        The folder; it is created if missing.
    fsync
        The setting of that name.
    """
    check_folder(folder)
    with own_folder(folder):
        check_result_folder(folder)
        before = _files_there(folder)
        stale = before & set(stale_files(folder))
        with replaced_files(folder, stale, fsync=fsync) as staging:
            yield staging
            refuse_files_of_others(folder, _files_there(folder) - before)


@contextmanager
def segments_folder(folder: Path, *, fsync: bool = True) -> Iterator[Path]:
    """Yield a folder as `whole_folder` does, for segments without a result."""
    check_folder(folder)
    with own_folder(folder):
        _refuse_batch(folder)
        if (folder / RECORD).exists():
            raise FileError(
                folder, "expected a folder for segments, got that of a result; name another folder"
            )
        with replaced_files(folder, (UCM,), fsync=fsync) as staging:
            yield staging


def stale_files(folder: Path) -> list[str]:
    """Return the names of files that a new result in this folder replaces or removes."""
    names = [RECORD, *OPTIONAL]
    if not (folder / TRUTH_PICTURE).is_file():  # only the demo writes either, and then both
        names.remove(TRUTH)
    return names


def write_result(
    folder: Path,
    result: ResultData,
    left: Image | None = None,
    calibration: Calibration | None = None,
    inputs: dict[str, Any] | None = None,
    right: Image | None = None,
) -> None:
    """Write a result's files; ``docs/result.md`` lists them.

    Parameters
    ----------
    folder
        An existing folder.
    result
        The result.
    left
        The left image, for pictures over it and the colours of the point cloud.
    calibration
        Adds ``depth.npy`` in metres and ``cloud.ply``, and is recorded in ``run.json``.
    inputs
        Recorded in ``run.json``, such as file names.
    right
        The right image; both images are kept so that the viewer can run inference again.

    Images and calibration are by default the result's own.
    """
    left = result.left if left is None else left
    right = result.right if right is None else right
    calibration = result.calibration if calibration is None else calibration
    disparity = result.trusted_disparity()
    write_maps(folder, "disparity", disparity)
    if disparity is not result.disparity:
        write_maps(folder, "disparity_filled", result.disparity)
    write_pixel_maps(folder, result)
    write_label_image(folder / SEGMENTS, result.regions.label_image)
    for name, picture in pictures_of(result, left).items():
        write_image(folder / name, picture)
    for name, image in ((LEFT, left), (RIGHT, right)):
        if image is not None:
            write_image(folder / name, image)
    if calibration is not None:
        write_bytes(folder / "depth.npy", encode_npy(depth_map(result, calibration)))
        write_ply(folder / "cloud.ply", *Exportable(result, left, calibration).cloud())
    write_arrays(folder / ARRAYS, result)
    result.settings.save(folder / SETTINGS)
    record = {**summarise(result), "inputs": inputs or {}}
    record["calibration"] = None if calibration is None else dataclasses.asdict(calibration)
    write_bytes(folder / RECORD, (json_text(record) + "\n").encode())


def write_maps(folder: Path, name: str, disparity: NDArray[np.float32]) -> None:
    """Write a disparity map as PFM, NPY and, if its values fit, KITTI's PNG."""
    suffixes = [".pfm", ".npy"]
    known = disparity[np.isfinite(disparity)]
    if known.min(initial=0) >= 0 and known.max(initial=0) < KITTI_LIMIT:
        suffixes.append(".png")
    for suffix in suffixes:
        write_disparity(folder / (name + suffix), disparity)


def write_matched(
    folder: Path, matched: NDArray[np.float32], settings: Settings, seconds: dict[str, float]
) -> None:
    """Write a matcher's own map, with holes and filled."""
    from slanted.matching.interpolation import interpolate_background

    filled = interpolate_background(matched)
    for name, disparity in (("disparity", matched), ("disparity_filled", filled)):
        write_maps(folder, name, disparity)
        write_image(folder / f"{name}_colour.png", disparity_picture(disparity))
    settings.save(folder / SETTINGS)
    known = 100 * float(np.isfinite(matched).mean())
    record = {"stopped_after": "matching", "matched_percent": known, "seconds": seconds}
    write_bytes(folder / RECORD, (json_text(record) + "\n").encode())


def disparity_picture(
    disparity: NDArray[np.float32],
    scale: tuple[float, float] | None = None,
    title: str = "disparity, px",
) -> NDArray[np.uint8]:
    """Return a disparity map in colours with its legend; by default on its own scale."""
    low, high = disparity_scale(disparity) if scale is None else scale
    return with_legend(colour_disparity(disparity, low, high), disparity_legend(low, high, title))


def trust_picture(result: ResultData) -> tuple[str, NDArray[np.uint8]]:
    """Return the confidence of pixels in colours or, if there is none, the margins of segments.

    The name of its file says which of the two.
    """
    if result.confidence is not None:
        painted = with_legend(colour_confidence(result.confidence), confidence_legend())
        return "confidence_colour.png", painted
    painted = colour_margins(result.regions, result.margins)
    return "margins_colour.png", with_legend(painted, margins_legend(result.margins))


def pictures_of(result: ResultData, left: Image | None) -> dict[str, NDArray[np.uint8]]:
    """Return the pictures of a result by file name, each with its legend."""
    regions, labels = result.regions, result.labels
    trusted, scale = result.trusted_disparity(), disparity_scale(result.disparity)
    pictures = {"disparity_colour.png": disparity_picture(trusted, scale)}
    if trusted is not result.disparity:
        pictures["disparity_filled_colour.png"] = disparity_picture(result.disparity, scale)
    energy = draw_picture(energy_chart(result.inference, result.settings))
    if result.disparity.size > result.settings.tiles.above:
        # The others would take more memory than the run, and no screen is that large.
        return {**pictures, "energy.png": energy}
    if left is not None:
        segments = paint_regions(left, regions)
        boundaries = paint_labels(left, regions, labels)
        pictures["segments_colour.png"] = with_legend(segments, regions_legend())
        pictures["boundaries.png"] = with_legend(boundaries, labels_legend())
    planes = colour_planes(regions, result.planes)
    pictures["planes_colour.png"] = with_legend(planes, planes_legend())
    name, trust = trust_picture(result)
    return {**pictures, name: trust, "energy.png": energy}


def file_names(folder: Path) -> list[str]:
    """Return the names of a folder's files."""
    return sorted(file.name for file in folder.iterdir() if file.is_file())
