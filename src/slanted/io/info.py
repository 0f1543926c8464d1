"""Descriptions of files and their content, for `slanted info`."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slanted.errors import FileError
from slanted.io import pfm
from slanted.io.arrays import StoredArrays, decode_npy
from slanted.io.calibration_fields import read_calibration_file
from slanted.io.calibration_files import calibration_of
from slanted.io.containers import read_header
from slanted.io.disparity_formats import KITTI_SCALE
from slanted.io.files import read_bytes
from slanted.io.image_header import ImageHeader
from slanted.io.images import WRITABLE_SUFFIXES, decode_samples
from slanted.io.info_records import describe_folder, describe_text
from slanted.io.names import BATCH_MARKER
from slanted.io.texts import load_json
from slanted.io.videos import SUFFIXES, describe_video

MOST_UNPACKED = 2**27
"""Bytes of an image, and of all arrays of an archive, to unpack for their range of values; zeros
compress a thousandfold."""
MOST_ARRAYS = 40
NUMBERS_AT_A_TIME = 2**20
"""Numbers whose range is found at a time, because masks and copies take several times as much."""
NAMED = {
    "depth.npy": "depth map of slanted: metres, NaN where unknown, infinite in the sky",
    "confidence.npy": "confidence of slanted: probability that the disparity is right",
    "confidence.png": "confidence of slanted: 65535ths of a probability",
    "deviation.npy": "deviation of slanted: standard deviation of right disparities, pixels",
    "valid.png": "flags of slanted, whose bits docs/result.md explains",
    "occluded.png": "mask of slanted: 255 where the right image does not show the pixel",
}
"""Meaning of files that only their names distinguish from others."""
DEPTH_IMAGE = "depth.png"
KITTI_MAPS = ("disparity.png", "disparity_filled.png")
_NO_RANGE: dict[str, object] = {"lowest": None, "highest": None}
_ELEMENTS = {"vertex": "vertices", "face": "faces"}
_MESH_ERRORS = (
    *(struct.error, ValueError, KeyError, IndexError, TypeError, AttributeError),
    *(OverflowError, RecursionError),
)
"""What reading the JSON of a damaged mesh can raise."""


def describe(path: Path | str) -> dict[str, object]:
    """Describe anything that slanted reads or writes: a file, or the folder of a result or a batch.

    Parameters
    ----------
    path
        The folder, or the file, recognised by its content (text files by their suffix).

    Returns
    -------
    dict[str, object]
        ``file``, ``format`` and ``meaning`` (a guess in words) always. Images and maps have
        ``width_pixels``, ``height_pixels``, ``bits``, ``dtype``, ``channels``, ``lowest`` and
        ``highest``; disparity maps ``known_share`` as well. Archives have ``arrays``, with a few
        words on each; meshes ``vertices`` and ``faces``; summaries of batches ``pairs``; videos
        ``frames``, ``frames_a_second`` and ``seconds``, None if the file does not say.
        Calibrations have the fields of `Calibration`. All values are plain Python, ready for JSON.

    Raises
    ------
    FileError
        If the file cannot be read or is of no kind that slanted knows.
    """
    path = Path(path)
    if path.is_dir():
        return {"file": str(path), **describe_folder(path)}
    if path.suffix.lower() in SUFFIXES:
        return {"file": str(path), **describe_video(path)}
    data = read_bytes(path, may_be_empty=path.name == BATCH_MARKER)
    return {"file": str(path), **(_describe_binary(path, data) or _describe_other(path, data))}


def _describe_binary(path: Path, data: bytes) -> dict[str, object] | None:
    """Describe a binary file whose first bytes show that it is not an image."""
    if data[:2] in (b"Pf", b"PF"):
        return _describe_floats("PFM", pfm.decode(path, data), "float disparity map (PFM)")
    if data.startswith(b"\x93NUMPY"):
        return _describe_array(path, decode_npy(path, data))
    if data.startswith(b"PK\x03\x04"):
        return _describe_archive(path)
    if data.startswith(b"ply"):
        return _describe_ply(data)
    if data.startswith(b"glTF"):
        return _describe_glb(path, data)
    return None


def _describe_other(path: Path, data: bytes) -> dict[str, object]:
    """Describe a text or an image."""
    suffix = path.suffix.lower()
    if not _is_text(data):
        header = read_header(path, data)
        if header.unpacked_bytes > MOST_UNPACKED:
            return _describe_header(header)
        return _describe_image(path, header, decode_samples(path, data, header))
    if suffix in WRITABLE_SUFFIXES:
        raise FileError(
            path,
            f"expected an image, as its name says, but it holds text ({_beginning(data)!r}); a "
            "download may have saved a web page, or a pointer of Git LFS, in its place",
        )
    if suffix == ".obj":
        return _describe_obj(data)
    return describe_text(path, data) or _describe_calibration(path)


def _beginning(data: bytes) -> str:
    """Return the first words of a text."""
    return " ".join(data[:200].decode("utf-8", "replace").split())[:40]


def _is_text(data: bytes) -> bool:
    """Return whether a file is text; a plain PGM, which is text too, counts as an image."""
    if data[:2] in (b"P2", b"P3", b"P5", b"P6") and data[2:3].isspace():
        return False
    try:
        data[:4096].decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start > 4092  # a character that the cut at 4096 has split
    return b"\0" not in data[:4096]


def _describe_calibration(path: Path) -> dict[str, object]:
    file = read_calibration_file(path)
    found: dict[str, object] = {"format": file.kind, "meaning": f"{file.kind} calibration"}
    try:
        found |= vars(calibration_of(file))
    except FileError as error:
        found["problem"] = error.problem
    return found


def _describe_header(header: ImageHeader) -> dict[str, object]:
    """Describe an image that is too large to be decoded only for its range of values."""
    kind = "float" if header.is_float else "colour" if header.channels > 2 else "grey"
    return {
        "format": header.format,
        "width_pixels": header.width_pixels,
        "height_pixels": header.height_pixels,
        "bits": header.bits,
        "channels": header.channels,
        "meaning": f"{max(8, header.bits)}-bit {kind} image or map; too large to show its range",
    }


def _describe_image(path: Path, header: ImageHeader, samples: NDArray[Any]) -> dict[str, object]:
    if samples.dtype.kind == "f" and samples.ndim == 2:
        return _describe_floats("TIFF", samples, "float disparity map (TIFF)")
    found = _describe_samples(header.format, samples) | {
        "bits": header.bits,
        "channels": header.channels,
    }
    if samples.ndim == 3:
        return found | {"meaning": f"{samples.dtype.itemsize * 8}-bit colour image"}
    if path.name in NAMED:
        return found | {"meaning": NAMED[path.name]}
    if samples.dtype == np.uint16 and header.format == "PNG":
        return found | _describe_16_bit(path, samples)
    if samples.dtype == np.uint8 and header.format in ("PNG", "PNM"):
        meaning = "8-bit grey image; may be a Middlebury disparity map if it has a scale"
        return found | {"meaning": meaning}
    return found | {"meaning": f"{samples.dtype.itemsize * 8}-bit grey image"}


def _describe_16_bit(path: Path, samples: NDArray[Any]) -> dict[str, object]:
    share = np.count_nonzero(samples) / samples.size
    highest: float = int(samples.max())
    lowest: float = int(np.min(samples, where=samples > 0, initial=highest))
    found: dict[str, object]
    if path.name == DEPTH_IMAGE:
        meaning = "depth image of slanted: millimetres, 0 where unknown"
        found = {"lowest": lowest, "highest": highest} if highest else _NO_RANGE
        return {**found, "known_share": share, "meaning": meaning}
    # A camera image may have black pixels, but rarely one in a hundred.
    if share < 0.99 or path.name in KITTI_MAPS:
        lowest, highest = lowest / KITTI_SCALE, highest / KITTI_SCALE
        found = {"lowest": lowest, "highest": highest} if highest else _NO_RANGE
        return {**found, "known_share": share, "meaning": "KITTI disparity map"}
    return {"meaning": "16-bit grey image, or a dense KITTI disparity map"}


def _describe_array(path: Path, values: NDArray[Any]) -> dict[str, object]:
    if values.ndim == 2 and values.size and values.dtype.kind in "fiu":
        is_map = values.dtype.kind == "f"
        meaning = "disparity map (NumPy)" if is_map else "label image, such as segments (NumPy)"
        return _describe_floats("NPY", values, NAMED.get(path.name, meaning))
    return {
        "format": "NPY",
        "shape": _shape_text(values.shape),
        "dtype": str(values.dtype),
        **_range(values),
        "meaning": "NumPy array; not a disparity map, which has two dimensions of real numbers",
    }


def _describe_archive(path: Path) -> dict[str, object]:
    """Describe each array's shape and type, and its range if it is quickly unpacked."""
    arrays, left = {}, MOST_UNPACKED
    with StoredArrays(path, "NumPy's archive of arrays (NPZ)") as stored:
        names = stored.names()
        for name in names[:MOST_ARRAYS]:
            header = stored.header(name)
            arrays[name] = f"{_shape_text(header.shape)} {header.dtype}"
            size = header.count * header.dtype.itemsize
            if size <= left:
                left -= size
                low, high = _range(stored.read(name, "fiubc", None, MOST_UNPACKED)).values()
                arrays[name] += "" if low is None else f", {low:g} to {high:g}"
    is_result = {"planes", "segments"} <= set(names)
    meaning = "arrays of a result of slanted" if is_result else "arrays (NumPy)"
    return {"format": "NPZ", "meaning": meaning, "count": len(names), "arrays": arrays}


def _shape_text(shape: tuple[int, ...]) -> str:
    return " × ".join(map(str, shape)) or "1"


def _describe_floats(format: str, values: NDArray[Any], meaning: str) -> dict[str, object]:
    known = sum(np.count_nonzero(np.isfinite(part)) for part in _parts(values))
    found = _describe_samples(format, values)
    return found | {"known_share": known / values.size, "meaning": meaning}


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
    """Return the lowest and highest finite value; None if there is none, or numbers are complex."""
    if samples.dtype.kind == "c":
        return _NO_RANGE
    lows, highs = [], []
    for part in _parts(samples):
        finite = part[np.isfinite(part)]
        if finite.size:
            lows.append(finite.min().item())
            highs.append(finite.max().item())
    return {"lowest": min(lows), "highest": max(highs)} if lows else _NO_RANGE


def _parts(values: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Yield all values, `NUMBERS_AT_A_TIME` at a time, in the order in which they are stored."""
    flat = values.reshape(-1, order="A")
    for first in range(0, flat.size, NUMBERS_AT_A_TIME):
        yield flat[first : first + NUMBERS_AT_A_TIME]


def _describe_ply(data: bytes) -> dict[str, object]:
    """Count the elements that the header announces; a cloud has no faces."""
    found = re.findall(rb"^element (\w+) (\d{1,18})\s*$", data[:4096], re.MULTILINE)
    counts = {_ELEMENTS.get(name.decode(), name.decode()): int(count) for name, count in found}
    return {"format": "PLY", "meaning": "mesh" if counts.get("faces") else "point cloud", **counts}


def _describe_glb(path: Path, data: bytes) -> dict[str, object]:
    """Count what the JSON at the start of a binary glTF file announces."""
    try:
        (length,) = struct.unpack_from("<I", data, 8)
        (size,) = struct.unpack_from("<I", data, 12)
        if length > len(data):
            raise ValueError(f"{length} bytes were announced, but {len(data)} are there")
        content = load_json(data[20 : 20 + size])
        parts = [part for mesh in content.get("meshes", ()) for part in mesh["primitives"]]
        counts = [_count(content["accessors"], part) for part in parts]
    except _MESH_ERRORS as error:
        raise FileError(
            path, "expected a mesh (GLB), but it is damaged or cut off; export it again"
        ) from error
    vertices, corners = (sum(numbers) for numbers in zip((0, 0), *counts, strict=True))
    return {"format": "GLB", "meaning": "mesh", "vertices": vertices, "faces": corners // 3}


def _count(accessors: list[dict[str, Any]], part: dict[str, Any]) -> tuple[int, int]:
    """Count vertices and corners of triangles; without indices, every vertex is a corner."""
    vertices = int(accessors[part["attributes"]["POSITION"]]["count"])
    return vertices, int(accessors[part["indices"]]["count"]) if "indices" in part else vertices


def _describe_obj(data: bytes) -> dict[str, object]:
    """Count the lines that hold vertices and faces."""
    lines = b"\n" + data
    return {
        "format": "OBJ",
        "meaning": "mesh",
        "vertices": lines.count(b"\nv "),
        "faces": lines.count(b"\nf "),
    }
