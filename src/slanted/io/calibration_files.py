"""Calibration files: KITTI, Middlebury 2014, ROS camera_info and OpenCV.

The kind is recognised by content, because half of all calibration files are called ``calib.txt``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slanted.errors import FileError, InputError
from slanted.io.calibration import Calibration
from slanted.io.calibration_yaml import load_yaml
from slanted.io.files import read_bytes

MAX_CALIBRATION_BYTES = 2**20
LARGEST_SIDE = 2**31

_KITTI_PAIRS = (
    ("P_rect_02", "P_rect_03"),
    ("P_rect_00", "P_rect_01"),
    ("P2", "P3"),
    ("P0", "P1"),
)
_MIDDLEBURY_UNIT_METERS = 1e-3

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class CalibrationFile:
    """What a calibration file is and what it says.

    Parameters
    ----------
    kind
        ``"KITTI"``, ``"Middlebury 2014"``, ``"ROS camera_info"`` or ``"OpenCV"``.
    content
        Its fields.
    """

    kind: str
    content: Mapping[str, Any]


def read_calibration(
    path: Path | str, right: Path | str | None = None, *, baseline_unit_meters: float = 1.0
) -> Calibration:
    """Read the calibration of a rectified pair.

    Parameters
    ----------
    path
        KITTI ``calib_cam_to_cam.txt`` or ``calib.txt``, Middlebury 2014 ``calib.txt``, OpenCV YAML
        with ``P1`` and ``P2`` or ``Q``, or the left camera's ROS ``camera_info`` YAML.
    right
        The right camera's file, for ROS only. By default the file beside `path` whose name has
        "right" for "left".
    baseline_unit_meters
        Length of the unit in which OpenCV's ``T`` was measured, e.g. 0.001 for millimetres. The
        other formats fix their unit.

    Returns
    -------
    Calibration
        The pair's geometry.

    Raises
    ------
    FileError
        If a file cannot be read, is of no known kind, or lacks a field.
    InputError
        If an argument does not fit the kind of file.

    Examples
    --------
    >>> import os
    >>> from pathlib import Path
    >>> import slanted
    >>> middlebury = ["cam0=[700 0 48; 0 700 32; 0 0 1]", "doffs=0", "baseline=500"]
    >>> _ = Path("calib.txt").write_text(os.linesep.join(middlebury))
    >>> slanted.read_calibration("calib.txt").baseline_meters
    0.5
    """
    path = Path(path)
    if not (np.isfinite(baseline_unit_meters) and baseline_unit_meters > 0):
        raise InputError(
            f"baseline_unit_meters: expected a finite number above 0, got {baseline_unit_meters}"
        )
    file = parse_calibration(path, read_bytes(path))
    if right is not None and file.kind != "ROS camera_info":
        raise InputError(f"right: only ROS has a file per camera, but {path} is {file.kind}'s")
    if baseline_unit_meters != 1.0 and file.kind != "OpenCV":
        raise InputError(
            f"baseline_unit_meters: only OpenCV files leave the unit open, but {path} is"
            f" {file.kind}'s; leave it out"
        )
    try:
        if file.kind == "KITTI":
            calibration = _from_kitti(path, file.content)
        elif file.kind == "Middlebury 2014":
            calibration = _from_middlebury(path, file.content)
        elif file.kind == "ROS camera_info":
            calibration = _from_ros(path, file.content, right)
        else:
            calibration = _from_opencv(path, file.content, baseline_unit_meters)
        return replace(calibration, image_size=_image_size(path, file.content))
    except InputError as error:
        raise FileError(path, f"the calibration makes no sense ({error}); check it") from error


def parse_calibration(path: Path, data: bytes) -> CalibrationFile:
    """Recognise a calibration file and parse its fields.

    Parameters
    ----------
    path
        The file, for messages.
    data
        Its whole content.

    Returns
    -------
    CalibrationFile
        Its kind and fields.
    """
    if len(data) > MAX_CALIBRATION_BYTES:
        raise FileError(
            path,
            f"expected a calibration of at most {MAX_CALIBRATION_BYTES} bytes, but it has"
            f" {len(data)}; is it another file?",
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(path, "expected a calibration as text, but it is a binary file") from error
    if re.search(r"^\s*cam0\s*=", text, re.MULTILINE):
        return CalibrationFile("Middlebury 2014", _key_values(text, "="))
    if re.search(r"^P(_rect_0)?[0-3]:\s*[-+0-9.]", text, re.MULTILINE):
        return CalibrationFile("KITTI", _key_values(text, ":"))
    # Before the YAML parser, which is slow and understands almost any text.
    if text.startswith("%YAML") or "opencv-matrix" in text:
        return CalibrationFile("OpenCV", load_yaml(path, text))
    if re.search(
        r"^(projection_matrix|camera_matrix|camera_name|distortion_model)\s*:", text, re.MULTILINE
    ):
        return CalibrationFile("ROS camera_info", load_yaml(path, text))
    raise FileError(
        path,
        "is a text of no known kind; expected the calibration of KITTI (P2:, P3:), Middlebury 2014"
        " (cam0=), ROS camera_info or OpenCV YAML",
    )


def _key_values(text: str, separator: str) -> dict[str, str]:
    pairs = (line.split(separator, 1) for line in text.splitlines() if separator in line)
    return {key.strip(): value.strip() for key, value in pairs}


def _from_kitti(path: Path, content: Mapping[str, Any]) -> Calibration:
    for left, right in _KITTI_PAIRS:
        if left in content and right in content:
            return _from_projections(
                _matrix(path, content, left, 12).reshape(3, 4),
                _matrix(path, content, right, 12).reshape(3, 4),
            )
    wanted = "P_rect_03" if any(key.startswith("P_rect_0") for key in content) else "P3"
    raise FileError(
        path,
        f"expected the projections of two cameras, but field {wanted} (or P0 and P1) is missing;"
        " use the calibration of the stereo pair",
    )


def _from_middlebury(path: Path, content: Mapping[str, Any]) -> Calibration:
    left = _matrix(path, content, "cam0", 9).reshape(3, 3)
    if "doffs" in content:
        doffs_pixels = _matrix(path, content, "doffs", 1).item()
    else:
        right = _matrix(path, content, "cam1", 9).reshape(3, 3)
        doffs_pixels = float(right[0, 2]) - float(left[0, 2])
    return Calibration(
        fx_pixels=float(left[0, 0]),
        fy_pixels=float(left[1, 1]),
        cx_pixels=float(left[0, 2]),
        cy_pixels=float(left[1, 2]),
        baseline_meters=_matrix(path, content, "baseline", 1).item() * _MIDDLEBURY_UNIT_METERS,
        doffs_pixels=doffs_pixels,
    )


def _from_ros(path: Path, content: Mapping[str, Any], right: Path | str | None) -> Calibration:
    right_path = _right_sibling(path) if right is None else Path(right)
    right_file = parse_calibration(right_path, read_bytes(right_path))
    if right_file.kind != "ROS camera_info":
        raise FileError(
            right_path,
            f"expected the right camera's ROS camera_info, but it is {right_file.kind}'s",
        )
    return _from_projections(
        _ros_projection(path, content), _ros_projection(right_path, right_file.content)
    )


def _ros_projection(path: Path, content: Mapping[str, Any]) -> Matrix:
    """Read P, which calibration files call projection_matrix, and messages P (ROS 1) or p."""
    name = next((key for key in ("P", "p") if key in content), "projection_matrix")
    return _matrix(path, content, name, 12).reshape(3, 4)


def _right_sibling(path: Path) -> Path:
    for left, right in (("left", "right"), ("Left", "Right"), ("LEFT", "RIGHT")):
        head, found, tail = path.name.rpartition(left)
        sibling = path.with_name(head + right + tail)
        if found and sibling.is_file():
            return sibling
    raise FileError(
        path,
        "is the ROS camera_info of one camera, and no file beside it has 'right' for 'left' in its"
        " name; name the right camera's file as well",
    )


def _from_opencv(path: Path, content: Mapping[str, Any], unit_meters: float) -> Calibration:
    if "P1" in content and "P2" in content:
        left = _matrix(path, content, "P1", 12).reshape(3, 4)
        right = _matrix(path, content, "P2", 12).reshape(3, 4)
        return _from_projections(left, right, unit_meters)
    if "Q" not in content:
        raise FileError(
            path,
            "expected the result of cv2.stereoRectify, but fields P1 and P2 or Q are missing;"
            " save them, not the cameras before rectification",
        )
    Q = _matrix(path, content, "Q", 16).reshape(4, 4)
    if not Q[3, 2] > 0:
        raise FileError(
            path,
            f"expected a baseline above 0 in Q[3, 2], but it is {Q[3, 2]}; is the second camera"
            " left of the first?",
        )
    # reprojectImageTo3D: Z = Q[2, 3] / (Q[3, 2] d + Q[3, 3]). With Q[3, 2] = -1/Tx and
    # Q[3, 3] = (cx - cx')/Tx their ratio is cx' - cx = doffs.
    return Calibration(
        fx_pixels=float(Q[2, 3]),
        fy_pixels=float(Q[2, 3]),
        cx_pixels=float(-Q[0, 3]),
        cy_pixels=float(-Q[1, 3]),
        baseline_meters=unit_meters / float(Q[3, 2]),
        doffs_pixels=float(Q[3, 3]) / float(Q[3, 2]),
    )


def _from_projections(left: Matrix, right: Matrix, unit_meters: float = 1.0) -> Calibration:
    """Build from two 3 × 4 projections, each with −fx × (its camera's position) at [0, 3]."""
    if left[0, 0] == 0 or right[0, 0] == 0:
        raise InputError("fx_pixels: expected a finite number above 0, got 0")
    # Python's floats, which overflow in silence: what comes of it is checked below.
    shift, right_shift = (float(p[0, 3]) / float(p[0, 0]) for p in (left, right))
    baseline = shift - right_shift
    if baseline <= 0:
        raise InputError(
            f"baseline_meters: expected the second camera right of the first, got {baseline};"
            " are left and right swapped?"
        )
    return Calibration(
        fx_pixels=float(left[0, 0]),
        fy_pixels=float(left[1, 1]),
        cx_pixels=float(left[0, 2]),
        cy_pixels=float(left[1, 2]),
        baseline_meters=baseline * unit_meters,
        doffs_pixels=float(right[0, 2]) - float(left[0, 2]),
    )


def _image_size(path: Path, content: Mapping[str, Any]) -> tuple[int, int] | None:
    """Return width and height if the file tells them, as all but OpenCV's do."""
    for names in (("image_width", "image_height"), ("width", "height")):
        if all(name in content for name in names):
            sizes = (_matrix(path, {n: [content[n]]}, n, 1).item() for n in names)
            return _whole(path, names, *sizes)
    for name in ("S_rect_02", "S_rect_00"):
        if name in content:
            return _whole(path, (name,), *_matrix(path, content, name, 2).tolist())
    return None


def _whole(path: Path, names: tuple[str, ...], width: float, height: float) -> tuple[int, int]:
    if not (0 < width < LARGEST_SIDE and 0 < height < LARGEST_SIDE):
        raise FileError(
            path,
            f"expected {' and '.join(names)} to be the size of an image, got {width:g} and "
            f"{height:g}; correct it",
        )
    return round(width), round(height)


def _matrix(path: Path, content: Mapping[str, Any], name: str, count: int) -> Matrix:
    """Return the numbers of a field, given as text, a list, or a mapping with ``data``."""
    if name not in content:
        raise FileError(path, f"the calibration lacks field {name}; use the complete file")
    value = content[name]
    if isinstance(value, Mapping):
        value = value.get("data")
    if isinstance(value, str):
        value = re.sub(r"[\[\];,]", " ", value).split()
    try:
        numbers = np.array([float(number) for number in value])
    except (TypeError, ValueError, OverflowError) as error:
        raise FileError(path, f"expected field {name} to hold {count} numbers") from error
    if numbers.size != count:
        raise FileError(
            path, f"expected field {name} to hold {count} numbers, but it has {numbers.size}"
        )
    if not np.isfinite(numbers).all():
        raise FileError(path, f"expected field {name} to hold finite numbers; correct it")
    return numbers
