"""Cameras as they are before rectification, from files of OpenCV and ROS.

`slanted.io.calibration_files` reads what rectification gives, which depth needs. Here is what it
needs: matrices, distortions, and how the cameras stand to each other or are to be turned.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from slanted.errors import FileError
from slanted.io.calibration_fields import CalibrationFile, Matrix, read_calibration_file
from slanted.io.calibration_files import ROS_NAMES, check_arguments, right_ros_file, ros_matrix

OPENCV_NAMES = (("K{}", "M{}", "cameraMatrix{}"), ("D{}", "distCoeffs{}"))
"""Names of a camera's matrix and distortion in files of OpenCV, which leaves them to the user."""
DISTORTION_COUNTS = (4, 5, 8, 12, 14)
"""Numbers of coefficients that OpenCV knows."""
FISHEYE_COUNT = 4
ROS_MODELS = {"plumb_bob": False, "rational_polynomial": False, "equidistant": True}
"""Distortion models of ROS, and whether they are those of a fisheye."""


@dataclass(frozen=True, eq=False)
class RawCamera:
    """A camera whose images are distorted, and how rectification turns it if that is known."""

    matrix: Matrix
    """(3, 3) intrinsics K."""
    distortion: Matrix
    """Coefficients in OpenCV's order."""
    turn: tuple[Matrix, Matrix] | None = None
    """(3, 3) R and (3, 4) P of ROS or, with the number of the camera, of ``cv2.stereoRectify``."""
    fisheye: bool = False
    """Whether the distortion is of the model of ``cv2.fisheye``."""

    @property
    def is_rectified(self) -> bool:
        """Whether rectification would change nothing."""
        if self.turn is None or self.distortion.any():
            return False
        rotation, projection = self.turn
        return np.allclose(rotation, np.eye(3)) and np.allclose(projection[:, :3], self.matrix)


@dataclass(frozen=True, eq=False)
class RawCalibration:
    """A pair of cameras that is to be rectified."""

    path: Path
    """The file, for messages."""
    left: RawCamera
    right: RawCamera
    pose: tuple[Matrix, Matrix] | None = None
    """(3, 3) R and (3,) T of ``cv2.stereoCalibrate``, from the left camera to the right one; None
    if the cameras say how rectification turns them."""
    image_size: tuple[int, int] | None = None
    """Width and height of the images, if known."""
    unit_meters: float = 1.0
    """Length of the unit of T, in the pose and in the projections."""


def read_raw_calibration(
    path: Path | str, right: Path | str | None = None, *, baseline_unit_meters: float = 1.0
) -> RawCalibration | None:
    """Read the cameras of a pair that is not rectified yet; None if a file holds none.

    Parameters
    ----------
    path, right, baseline_unit_meters
        As for `slanted.read_calibration`. A file of OpenCV holds raw cameras if it has K1, D1, K2,
        D2 (also M1 or cameraMatrix1, distCoeffs1), with R1, R2, P1, P2 or with R and T. A
        camera_info of ROS does unless its distortion is zero and its R the identity.

    Raises
    ------
    FileError
        If a file cannot be read, or lacks a part of the raw cameras.
    InputError
        If an argument does not fit the kind of file.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("calib.txt").write_text("cam0=[700 0 48; 0 700 32; 0 0 1]")
    >>> read_raw_calibration("calib.txt") is None  # Middlebury's pairs are rectified
    True
    """
    file = read_calibration_file(Path(path))
    check_arguments(file, right, baseline_unit_meters)
    if file.kind == "OpenCV":
        return _from_opencv(file, baseline_unit_meters)
    if file.kind == "ROS camera_info":
        return _from_ros(file, right)
    return None


def _from_opencv(file: CalibrationFile, unit_meters: float) -> RawCalibration | None:
    if _opencv_name(file, 0, 1) is None:
        return None
    is_turned = "P1" in file and "P2" in file
    if not is_turned and not ("R" in file and "T" in file):
        raise FileError(
            file.path,
            "expected R and T of cv2.stereoCalibrate, or R1, R2, P1 and P2 of cv2.stereoRectify, "
            "beside the cameras, but they are missing; save them too",
        )
    return RawCalibration(
        file.path,
        _opencv_camera(file, 1, is_turned),
        _opencv_camera(file, 2, is_turned),
        None if is_turned else (file.matrix("R", 3, 3), file.matrix("T", 3)),
        file.image_size(),
        unit_meters,
    )


def _opencv_name(file: CalibrationFile, kind: int, number: int) -> str | None:
    names = (name.format(number) for name in OPENCV_NAMES[kind])
    return next((name for name in names if name in file), None)


def _opencv_camera(file: CalibrationFile, number: int, is_turned: bool) -> RawCamera:
    # A missing field is named as in our documentation.
    matrix, distortion = (
        _opencv_name(file, kind, number) or OPENCV_NAMES[kind][0].format(number) for kind in (0, 1)
    )
    turn = None
    if is_turned:
        turn = file.matrix(f"R{number}", 3, 3), file.matrix(f"P{number}", 3, 4)
    return RawCamera(file.matrix(matrix, 3, 3), _distortion(file, distortion), turn)


def _distortion(
    file: CalibrationFile, name: str, known: tuple[int, ...] = DISTORTION_COUNTS
) -> Matrix:
    """Return the coefficients of a distortion; their number says which there are."""
    numbers = file.numbers(name)
    if len(numbers) not in known:
        raise FileError(
            file.path,
            f"expected field {name} to hold {', '.join(map(str, known))} numbers, but it has "
            f"{len(numbers)}",
        )
    return numbers


def _from_ros(file: CalibrationFile, right: Path | str | None) -> RawCalibration | None:
    if not any(name in file for name in ("K", "k", ROS_NAMES["K"])):
        return None  # somebody kept only what depth needs
    left_camera, right_camera = (_ros_camera(one) for one in (file, right_ros_file(file, right)))
    if left_camera.is_rectified and right_camera.is_rectified:
        return None
    return RawCalibration(file.path, left_camera, right_camera, image_size=file.image_size())


def _ros_camera(file: CalibrationFile) -> RawCamera:
    model = str(file.fields.get("distortion_model") or "plumb_bob")
    if model not in ROS_MODELS:
        raise FileError(
            file.path,
            f"expected a distortion_model of {', '.join(ROS_MODELS)}, got {model!r}; calibrate "
            "with one of them, or rectify the images before",
        )
    name = next((key for key in ("D", "d") if key in file), ROS_NAMES["D"])
    fisheye = ROS_MODELS[model]
    # A camera without distortion may have no coefficients.
    is_given = name in file and file.numbers(name).size > 0
    counts = (FISHEYE_COUNT,) if fisheye else DISTORTION_COUNTS
    return RawCamera(
        ros_matrix(file, "K", 3, 3),
        _distortion(file, name, counts) if is_given else np.zeros(counts[0]),
        (ros_matrix(file, "R", 3, 3), ros_matrix(file, "P", 3, 4)),
        fisheye,
    )
