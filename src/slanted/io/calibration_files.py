"""The geometry of a rectified pair from files of KITTI, Middlebury 2014, ROS and OpenCV."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from pathlib import Path

import numpy as np

from slanted.errors import FileError, InputError, warn
from slanted.io.calibration import Calibration
from slanted.io.calibration_fields import CalibrationFile, Matrix, read_calibration_file

_KITTI_PAIRS = (
    ("P_rect_02", "P_rect_03"),
    ("P_rect_00", "P_rect_01"),
    ("P2", "P3"),
    ("P0", "P1"),
)
_MIDDLEBURY_UNIT_METERS = 1e-3
ROS_NAMES = {
    "K": "camera_matrix",
    "D": "distortion_coefficients",
    "R": "rectification_matrix",
    "P": "projection_matrix",
}
"""Matrices of a camera_info, and their names in calibration files."""

CalibrationLike = Calibration | str | PathLike[str]
"""A calibration, or the path of its file."""


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
    return calibration_of(read_calibration_file(Path(path)), right, baseline_unit_meters)


def calibration_from_user(given: CalibrationLike, size: tuple[int, int]) -> Calibration:
    """Return a calibration, read from a file if it is one, that fits images of (height, width).

    Raises
    ------
    InputError
        If it is neither, or of images of another size.
    FileError
        If the file cannot be read.
    """
    found = given_calibration(given)
    source = "calibration" if isinstance(given, Calibration) else Path(given)
    return check_calibration(source, found, size)


def given_calibration(given: CalibrationLike) -> Calibration:
    """Return a calibration, read from a file if it is one.

    Raises
    ------
    InputError
        If it is neither.
    FileError
        If the file cannot be read.
    """
    if isinstance(given, Calibration):
        return given
    if not isinstance(given, str | PathLike):
        raise InputError(
            "calibration: expected a slanted.Calibration or the path of its file, got "
            f"{type(given).__name__}"
        )
    return read_calibration(Path(given))


def check_calibration(
    source: Path | str, calibration: Calibration, size: tuple[int, int]
) -> Calibration:
    """Return a calibration if it can be that of images of (height, width); warn if it is unlikely.

    Raises
    ------
    InputError
        If it is of images of another size. `source` is its file, or the name of the argument; of a
        file it is a `FileError`.
    """
    height, width = size
    if calibration.image_size not in (None, (width, height)):
        across, down = calibration.image_size
        problem = (
            f"expected the calibration of images of {width}×{height} pixels, got that of "
            f"{across}×{down}; scale it with the images"
        )
        if isinstance(source, Path):
            raise FileError(source, problem)
        raise InputError(f"{source}: {problem}")
    x, y = calibration.cx_pixels, calibration.cy_pixels
    if abs(x - width / 2) > width / 4 or abs(y - height / 2) > height / 4:
        warn(
            f"{source}: its principal point ({x:.0f}, {y:.0f}) is far from the centre of images "
            f"of {width}×{height} pixels; if they were scaled, scale the calibration with them",
        )
    return calibration


def calibration_of(
    file: CalibrationFile, right: Path | str | None = None, baseline_unit_meters: float = 1.0
) -> Calibration:
    """Return the calibration that a parsed file holds; arguments as for `read_calibration`."""
    check_arguments(file, right, baseline_unit_meters)
    try:
        if file.kind == "KITTI":
            calibration = _from_kitti(file)
        elif file.kind == "Middlebury 2014":
            calibration = _from_middlebury(file)
        elif file.kind == "ROS camera_info":
            calibration = _from_ros(file, right)
        else:
            calibration = _from_opencv(file, baseline_unit_meters)
        return replace(calibration, image_size=file.image_size())
    except InputError as error:
        raise FileError(file.path, f"the calibration makes no sense ({error}); check it") from error


def check_arguments(
    file: CalibrationFile, right: Path | str | None, baseline_unit_meters: float
) -> None:
    """Raise an InputError if arguments of `read_calibration` do not fit the kind of file."""
    if not (np.isfinite(baseline_unit_meters) and baseline_unit_meters > 0):
        raise InputError(
            f"baseline_unit_meters: expected a finite number above 0, got {baseline_unit_meters}"
        )
    path = file.path
    if right is not None and file.kind != "ROS camera_info":
        raise InputError(f"right: only ROS has a file per camera, but {path} is {file.kind}'s")
    if baseline_unit_meters != 1.0 and file.kind != "OpenCV":
        raise InputError(
            f"baseline_unit_meters: only OpenCV files leave the unit open, but {path} is"
            f" {file.kind}'s; leave it out"
        )


def _from_kitti(file: CalibrationFile) -> Calibration:
    for left, right in _KITTI_PAIRS:
        if left in file and right in file:
            return calibration_from_projections(file.matrix(left, 3, 4), file.matrix(right, 3, 4))
    wanted = "P_rect_03" if any(name.startswith("P_rect_0") for name in file.fields) else "P3"
    raise FileError(
        file.path,
        f"expected the projections of two cameras, but field {wanted} (or P0 and P1) is missing;"
        " use the calibration of the stereo pair",
    )


def _from_middlebury(file: CalibrationFile) -> Calibration:
    left = file.matrix("cam0", 3, 3)
    if "doffs" in file:
        doffs_pixels = file.number("doffs")
    else:
        doffs_pixels = float(file.matrix("cam1", 3, 3)[0, 2]) - float(left[0, 2])
    return _from_camera(left, file.number("baseline") * _MIDDLEBURY_UNIT_METERS, doffs_pixels)


def _from_ros(file: CalibrationFile, right: Path | str | None) -> Calibration:
    left_camera, right_camera = (
        ros_matrix(one, "P", 3, 4) for one in (file, right_ros_file(file, right))
    )
    return calibration_from_projections(left_camera, right_camera)


def right_ros_file(file: CalibrationFile, right: Path | str | None) -> CalibrationFile:
    """Return the right camera's camera_info; by default that beside the left one's."""
    right_path = _right_sibling(file.path) if right is None else Path(right)
    right_file = read_calibration_file(right_path)
    if right_file.kind != "ROS camera_info":
        raise FileError(
            right_path,
            f"expected the right camera's ROS camera_info, but it is {right_file.kind}'s",
        )
    return right_file


def ros_matrix(file: CalibrationFile, name: str, *shape: int) -> Matrix:
    """Return a matrix of a camera_info by its name in ROS 1, such as P.

    It has a long name in calibration files, and a small letter in messages of ROS 2.
    """
    known = next((key for key in (name, name.lower()) if key in file), ROS_NAMES[name])
    return file.matrix(known, *shape)


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


def _from_opencv(file: CalibrationFile, unit_meters: float) -> Calibration:
    if "P1" in file and "P2" in file:
        return calibration_from_projections(
            file.matrix("P1", 3, 4), file.matrix("P2", 3, 4), unit_meters
        )
    if "Q" not in file:
        raise FileError(
            file.path,
            "expected the result of cv2.stereoRectify, but fields P1 and P2 or Q are missing;"
            " save them, not the cameras before rectification",
        )
    Q = file.matrix("Q", 4, 4)
    if not Q[3, 2] > 0:
        raise FileError(
            file.path,
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


def calibration_from_projections(
    left: Matrix, right: Matrix, unit_meters: float = 1.0
) -> Calibration:
    """Build from two 3 × 4 projections, each with −fx × (its camera's position) at [0, 3]."""
    if left[0, 0] == 0 or right[0, 0] == 0:
        raise InputError("fx_pixels: expected a finite number above 0, got 0")
    # Python's floats overflow without a warning; Calibration checks what comes out.
    shift, right_shift = (float(p[0, 3]) / float(p[0, 0]) for p in (left, right))
    baseline = shift - right_shift
    if baseline <= 0:
        raise InputError(
            f"baseline_meters: expected the second camera right of the first, got {baseline};"
            " are left and right swapped?"
        )
    return _from_camera(left, baseline * unit_meters, float(right[0, 2]) - float(left[0, 2]))


def _from_camera(left: Matrix, baseline_meters: float, doffs_pixels: float) -> Calibration:
    """Build from the left camera's matrix, whose first three columns are its intrinsics."""
    return Calibration(
        fx_pixels=float(left[0, 0]),
        fy_pixels=float(left[1, 1]),
        cx_pixels=float(left[0, 2]),
        cy_pixels=float(left[1, 2]),
        baseline_meters=baseline_meters,
        doffs_pixels=doffs_pixels,
    )
