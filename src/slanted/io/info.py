"""What a file is, for a person who has forgotten."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slanted.errors import FileError
from slanted.io import npy, pfm
from slanted.io.calibration_files import parse_calibration, read_calibration
from slanted.io.containers import ImageHeader, read_header
from slanted.io.disparity_formats import KITTI_SCALE
from slanted.io.files import read_bytes
from slanted.io.images import WRITABLE_SUFFIXES, decode_samples

RECORD = "run.json"
"""What makes a folder a result; of its content, what a person wants to know is named below."""
OF_RESULTS = ("width", "height", "segments", "disparity_min", "disparity_max", "matched_percent",
              "energy", "gap_percent", "version")  # fmt: skip
TEXT_MEANINGS = {".toml": "settings (TOML)", ".json": "record of a run or a dataset (JSON)"}


def describe(path: Path | str) -> dict[str, object]:
    """Describe an image, a disparity map, a calibration or the folder of a result.

    Parameters
    ----------
    path
        The file, recognised by its content, or the folder.

    Returns
    -------
    dict[str, object]
        ``file``, ``format`` and ``meaning`` (a guess in words) always. Images and maps have
        ``width_pixels``, ``height_pixels``, ``bits``, ``dtype``, ``channels``, ``lowest`` and
        ``highest``; disparity maps ``known_share`` as well. Calibrations have the fields of
        `Calibration`. All values are plain Python, ready for JSON.

    Raises
    ------
    FileError
        If the file cannot be read or is nothing that slanted knows.
    """
    path = Path(path)
    if path.is_dir():
        return {"file": str(path), **_describe_folder(path)}
    data = read_bytes(path)
    if data[:2] in (b"Pf", b"PF"):
        values = pfm.decode(path, data)
        found = _describe_floats("PFM", values, "float disparity map (PFM)")
    elif data.startswith(b"\x93NUMPY"):
        found = _describe_array(npy.decode(path, data))
    elif data.startswith(b"ply"):
        found = {"format": "PLY", "meaning": "point cloud or mesh", **_ply_counts(data)}
    elif path.suffix in TEXT_MEANINGS and _is_text(data):
        found = {"format": path.suffix[1:].upper(), "meaning": TEXT_MEANINGS[path.suffix]}
    elif _is_text(data) and path.suffix.lower() in WRITABLE_SUFFIXES:
        raise FileError(
            path,
            f"expected an image, as its name says, but it holds text ({_beginning(data)!r}); a "
            "download may have saved a web page, or a pointer of Git LFS, in its place",
        )
    elif _is_text(data):
        found = _describe_calibration(path, data)
    else:
        header = read_header(path, data)
        found = _describe_image(header, decode_samples(path, data, header))
    return {"file": str(path), **found}


def _describe_folder(path: Path) -> dict[str, object]:
    if not (path / RECORD).is_file():
        raise FileError(
            path,
            f"expected a file, or the folder of a result with {RECORD} in it, got another folder; "
            "`slanted batch` finds pairs in folders",
        )
    try:
        record = json.loads(read_bytes(path / RECORD))
    except (ValueError, RecursionError) as error:
        raise FileError(path / RECORD, f"expected JSON, but it fails to parse: {error}") from error
    known = record if isinstance(record, dict) else {}
    numbers = {
        name: known[name] for name in OF_RESULTS if isinstance(known.get(name), int | float | str)
    }
    return {"format": "folder", "meaning": "result of slanted; `slanted view` shows it", **numbers}


def _beginning(data: bytes) -> str:
    """Return the first words of a text."""
    return " ".join(data[:200].decode("utf-8", "replace").split())[:40]


def _ply_counts(data: bytes) -> dict[str, object]:
    """Return how many of each element the header announces."""
    found = re.findall(rb"^element (\w+) (\d+)\s*$", data[:4096], re.MULTILINE)
    return {name.decode(): int(count) for name, count in found}


def _is_text(data: bytes) -> bool:
    """Tell calibrations from images; a plain PGM is text too, but names itself first."""
    if data[:2] in (b"P2", b"P3", b"P5", b"P6") and data[2:3].isspace():
        return False
    try:
        data[:4096].decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start > 4092  # only a character that the cut has split
    return b"\0" not in data[:4096]


def _describe_calibration(path: Path, data: bytes) -> dict[str, object]:
    kind = parse_calibration(path, data).kind
    found: dict[str, object] = {"format": kind, "meaning": f"{kind} calibration"}
    try:
        found |= vars(read_calibration(path))
    except FileError as error:
        found["problem"] = error.problem
    return found


def _describe_image(header: ImageHeader, samples: NDArray[Any]) -> dict[str, object]:
    if samples.dtype.kind == "f" and samples.ndim == 2:
        return _describe_floats("TIFF", samples, "float disparity map (TIFF)")
    found = _describe_samples(header.format, samples) | {
        "bits": header.bits,
        "channels": header.channels,
    }
    if samples.ndim == 3:
        return found | {"meaning": f"{samples.dtype.itemsize * 8}-bit colour image"}
    if samples.dtype == np.uint16 and header.format == "PNG":
        share = float(np.mean(samples > 0))
        # Every camera image has a black pixel now and then, but hardly one in a hundred.
        if share < 0.99:
            known = samples[samples > 0]
            found |= _range(known / KITTI_SCALE)
            return found | {"known_share": share, "meaning": "KITTI disparity map"}
        return found | {"meaning": "16-bit grey image, or a dense KITTI disparity map"}
    if samples.dtype == np.uint8 and header.format in ("PNG", "PNM"):
        meaning = "8-bit grey image; may be a Middlebury disparity map if it has a scale"
        return found | {"meaning": meaning}
    return found | {"meaning": f"{samples.dtype.itemsize * 8}-bit grey image"}


def _describe_array(values: NDArray[Any]) -> dict[str, object]:
    if values.ndim == 2 and values.size and values.dtype.kind in "fiu":
        return _describe_floats("NPY", values, "disparity map (NumPy)")
    shape = " × ".join(str(size) for size in values.shape)
    return {
        "format": "NPY",
        "shape": shape,
        "dtype": str(values.dtype),
        "meaning": "NumPy array, but no disparity map, which has two dimensions of real numbers",
    }


def _describe_floats(format: str, values: NDArray[Any], meaning: str) -> dict[str, object]:
    is_known = np.isfinite(values)
    found = _describe_samples(format, values)
    return found | {"known_share": float(is_known.mean()), "meaning": meaning}


def _describe_samples(format: str, samples: NDArray[Any]) -> dict[str, object]:
    return {
        "format": format,
        "width_pixels": samples.shape[1],
        "height_pixels": samples.shape[0],
        "bits": samples.dtype.itemsize * 8,
        "dtype": samples.dtype.name,
        "channels": 1 if samples.ndim == 2 else samples.shape[2],
        **_range(samples),
    }


def _range(samples: NDArray[Any]) -> dict[str, object]:
    """Return the lowest and highest finite value, as None if there is none."""
    finite = samples[np.isfinite(samples)]
    if finite.size == 0:
        return {"lowest": None, "highest": None}
    return {"lowest": finite.min().item(), "highest": finite.max().item()}
