"""Rectification on the fly: dots at known places of the world, seen by bent and turned cameras."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from slanted.errors import FileError, InputError
from slanted.images.rectify import make_rectifier
from slanted.io import read_calibration
from slanted.io.raw_calibration import read_raw_calibration

WIDTH, HEIGHT = 320, 240
K1 = np.array([[280, 0, 162], [0, 281, 118], [0, 0, 1.0]])
K2 = np.array([[283, 0, 157], [0, 283, 122], [0, 0, 1.0]])
D1 = np.array([-0.22, 0.08, 0.0006, -0.0004, 0])
D2 = np.array([-0.21, 0.07, -0.0005, 0.0003, 0])
R = cv2.Rodrigues(np.radians([-0.8, -1.2, 0.6]))[0]
T = -R @ np.array([0.12, 0.002, -0.003])
POINTS = [(x, y, z) for x, y in ((-0.2, -0.15), (0.25, 0.1), (0, 0.2), (0.1, -0.2))
          for z in (0.9, 2.5)]  # fmt: skip


def write_opencv(path, **matrices):
    storage = cv2.FileStorage(str(path), cv2.FILE_STORAGE_WRITE)
    for name, matrix in matrices.items():
        storage.write(name, matrix)
    storage.release()
    return path


def write_ros(folder, names=("left.yaml", "right.yaml"), *, model="plumb_bob", **fields):
    """Write both camera_info; a field holds the values of the left and the right camera."""
    for k, name in enumerate(names):
        lines = [f"image_width: {WIDTH}", f"image_height: {HEIGHT}", f"distortion_model: {model}"]
        for field, values in fields.items():
            lines += [f"{field}:", f"  data: {np.ravel(values[k]).tolist()}"]
        (folder / name).write_text("\n".join(lines) + "\n")
    return folder / names[0]


def rectified_by_opencv():
    size = (WIDTH, HEIGHT)
    return cv2.stereoRectify(K1, D1, K2, D2, size, R, T.reshape(3, 1), alpha=0)[:4]


@pytest.fixture(params=["pose", "matrices", "millimetres", "old names", "ros"])
def calibration_file(request, tmp_path):
    """The same cameras, written in all the ways in which people have them."""
    cameras = {"K1": K1, "D1": D1, "K2": K2, "D2": D2}
    R1, R2, P1, P2 = rectified_by_opencv()
    if request.param == "pose":
        return read_raw_calibration(write_opencv(tmp_path / "c.yml", **cameras, R=R, T=T))
    if request.param == "millimetres":
        file = write_opencv(tmp_path / "c.yml", **cameras, R=R, T=1000 * T)
        return read_raw_calibration(file, baseline_unit_meters=0.001)
    if request.param == "matrices":
        file = write_opencv(tmp_path / "c.yml", **cameras, R1=R1, R2=R2, P1=P1, P2=P2)
        return read_raw_calibration(file)
    if request.param == "old names":
        old = {"M1": K1, "distCoeffs1": D1, "cameraMatrix2": K2, "D2": D2}
        return read_raw_calibration(write_opencv(tmp_path / "c.yml", **old, R=R, T=T))
    fields = {"camera_matrix": (K1, K2), "distortion_coefficients": (D1, D2)}
    turns = {"rectification_matrix": (R1, R2), "projection_matrix": (P1, P2)}
    return read_raw_calibration(write_ros(tmp_path, **fields, **turns))


def dot(place):
    """A picture of a round dot at a place between pixels."""
    x, y = np.arange(WIDTH), np.arange(HEIGHT)[:, np.newaxis]
    return np.exp(-((x - place[0]) ** 2 + (y - place[1]) ** 2) / 18) * 250


def centre(image):
    rows, columns = np.indices(image.shape)
    weights = image.astype(float)
    return (columns * weights).sum() / weights.sum(), (rows * weights).sum() / weights.sum()


def seen(point, project):
    """The places of a point of the left camera's world in both raw images."""
    left = project(point, np.zeros(3), np.zeros(3), K1, D1)
    return left, project(point, cv2.Rodrigues(R)[0], T, K2, D2)


def bent(point, rotation, translation, matrix, distortion):
    found, _ = cv2.projectPoints(np.array([point]), rotation, translation, matrix, distortion)
    return found.reshape(2)


def check_dots(rectify, project, turn):
    """Dots lie on one row, at the disparity of their depth."""
    for point in POINTS:
        pair = [np.rint(dot(place)).astype(np.uint8) for place in seen(point, project)]
        (x, y), (other, row) = map(centre, rectify(*pair))
        assert y == pytest.approx(row, abs=0.1)
        expected = (turn @ np.array(point))[2]
        cameras = rectify.calibration
        assert cameras.depth(np.array([[x - other]]))[0, 0] == pytest.approx(expected, rel=0.01)
        at = cameras.positions(np.array(x), np.array(y), np.array(x - other))
        assert at == pytest.approx(turn @ np.array(point), abs=0.02)


def test_dots_are_where_they_should_be(calibration_file):
    rectify = make_rectifier(calibration_file, (HEIGHT, WIDTH))
    assert rectify.calibration.baseline_meters == pytest.approx(np.linalg.norm(T))
    check_dots(rectify, bent, rectified_by_opencv()[0])


def test_fisheyes_of_ros(tmp_path, monkeypatch):
    lenses = np.array([0.05, -0.02, 0.004, 0.0]), np.array([0.06, -0.01, 0.003, 0.0])
    monkeypatch.setitem(globals(), "D1", lenses[0])
    monkeypatch.setitem(globals(), "D2", lenses[1])
    size = (WIDTH, HEIGHT)
    R1, R2, P1, P2, _ = cv2.fisheye.stereoRectify(
        K1, lenses[0], K2, lenses[1], size, R, T.reshape(3, 1), cv2.CALIB_ZERO_DISPARITY
    )

    def bent_as_by_fisheyes(point, rotation, translation, matrix, distortion):
        found, _ = cv2.fisheye.projectPoints(
            np.array([[point]]), np.ravel(rotation), translation, matrix, distortion
        )
        return found.reshape(2)

    file = write_ros(tmp_path, model="equidistant", K=(K1, K2), D=lenses, R=(R1, R2), P=(P1, P2))
    check_dots(make_rectifier(read_raw_calibration(file), (HEIGHT, WIDTH)), bent_as_by_fisheyes, R1)


def test_what_is_rectified_is_not_raw(tmp_path):
    P = np.hstack([K1, [[0], [0], [0]]])
    moved = P.copy()
    moved[0, 3] = -30
    straight = {"R": (np.eye(3), np.eye(3)), "P": (P, moved)}
    for fields in (
        {"K": (K1, K1), "D": (np.zeros(5), np.zeros(5)), **straight},
        {"K": (K1, K1), "D": ([], []), **straight},
        {"P": (P, moved)},  # only what depth needs
    ):
        file = write_ros(tmp_path, **fields)
        text = file.read_text() + "camera_name: left\n"
        file.write_text(text)
        assert read_raw_calibration(file) is None
        assert read_calibration(file).baseline_meters == pytest.approx(30 / 280)
    assert read_raw_calibration(write_opencv(tmp_path / "c.yml", P1=P, P2=moved)) is None


def test_what_is_no_calibration_is_refused(tmp_path):
    cameras = {"K1": K1, "D1": D1, "K2": K2, "D2": D2}
    for matrices, message in (
        (cameras, "expected R and T of cv2.stereoCalibrate, or R1, R2, P1 and P2"),
        ({"K1": K1, "K2": K2, "R": R, "T": T}, "lacks field D1"),
        ({**cameras, "D1": D1[:3], "R": R, "T": T}, "to hold 4, 5, 8, 12, 14 numbers"),
        ({**cameras, "R": R[:2], "T": T}, "expected field R to hold 9 numbers"),
    ):
        with pytest.raises(FileError, match=message):
            read_raw_calibration(write_opencv(tmp_path / "c.yml", **matrices))
    turns = {"R": (np.eye(3),) * 2, "P": (np.eye(3, 4),) * 2}
    file = write_ros(tmp_path, model="field_of_view", K=(K1, K2), D=(D1, D2), **turns)
    with pytest.raises(FileError, match=r"left\.yaml: expected a distortion_model of plumb_bob"):
        read_raw_calibration(file)


def made(tmp_path, size=(HEIGHT, WIDTH), **changes):
    matrices = {"K1": K1, "D1": D1, "K2": K2, "D2": D2, "R": R, "T": T, **changes}
    return make_rectifier(read_raw_calibration(write_opencv(tmp_path / "c.yml", **matrices)), size)


def test_cameras_that_do_not_fit_are_refused(tmp_path):
    with pytest.raises(FileError, match="one above the other"):
        made(tmp_path, T=np.array([0, -0.12, 0]))
    with pytest.raises(FileError, match=r"are left and right swapped\?"):
        made(tmp_path, T=-T)
    with pytest.raises(
        FileError, match=r"expected the calibration of images of 320×240 .* 640×480"
    ):
        made(tmp_path, image_width=640, image_height=480)
    with pytest.raises(FileError, match="makes no sense"):
        made(tmp_path, K1=np.zeros((3, 3)))


def test_images_of_another_size_are_refused(tmp_path):
    rectify = made(tmp_path)
    right, wrong = np.zeros((HEIGHT, WIDTH), np.uint8), np.zeros((HEIGHT, 300), np.uint8)
    with pytest.raises(InputError, match="camera 1: expected images of the size of the calib"):
        rectify(right, wrong, ("camera 0", "camera 1"))


def test_the_example_of_the_tutorial(tmp_path, monkeypatch):
    """The virtual cameras that the tutorial calibrates are rectified by their exact values."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "examples"))
    import virtual_cameras as virtual
    from slanted.matching.rectification import measure_rectification

    left, right = virtual.LEFT, virtual.RIGHT
    pose = {"R": right.rotation, "T": -right.rotation @ right.position}
    cameras = {"K1": left.matrix, "D1": left.distortion, "K2": right.matrix, "D2": right.distortion}
    file = write_opencv(tmp_path / "c.yml", **cameras, **pose)
    rectify = make_rectifier(read_raw_calibration(file), virtual.SIZE[::-1])
    pair = virtual.photograph(left), virtual.photograph(right)
    found = measure_rectification(*rectify(*pair))
    assert abs(found.vertical_offset) < 0.15
