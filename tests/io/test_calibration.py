import warnings

import cv2
import numpy as np
import pytest

from slanted.errors import FileError, InputError, SlantedWarning
from slanted.io import Calibration, point_cloud, read_calibration, write_ply
from slanted.io.calibration import _doubt_baseline

MOTORCYCLE = """cam0=[3997.684 0 1176.728; 0 3997.684 1011.728; 0 0 1]
cam1=[3997.684 0 1307.839; 0 3997.684 1011.728; 0 0 1]
doffs=131.111
baseline=193.001
width=2964
height=2000
ndisp=280
"""
P2 = "721.5377 0 609.5593 4.485728e+01 0 721.5377 172.854 2.163791e-01 0 0 1 2.745884e-03"
P3 = "721.5377 0 609.5593 -3.395242e+02 0 721.5377 172.854 2.199936e+00 0 0 1 2.729905e-03"
P0 = "700 0 600 0 0 700 170 0 0 0 1 0"
P1 = "700 0 604 -350 0 700 170 0 0 0 1 0"
KITTI_RAW = f"""calib_time: 09-Jan-2012 13:57:47
S_rect_02: 1.242e+03 3.75e+02
P_rect_00: {P0}
P_rect_01: {P1}
P_rect_02: {P2}
P_rect_03: {P3}
"""


@pytest.fixture
def save(tmp_path):
    def save(text, name="calib.txt"):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return save


def test_middlebury(save):
    c = read_calibration(save(MOTORCYCLE))
    assert (c.fx_pixels, c.fy_pixels) == (3997.684, 3997.684)
    assert (c.cx_pixels, c.cy_pixels, c.doffs_pixels) == (1176.728, 1011.728, 131.111)
    assert c.baseline_meters == pytest.approx(0.193001)
    # f B = 3997.684 × 0.193001 = 771.5570097 px m; d + doffs = 100 + 131.111 = 231.111 px;
    # 771.5570097 / 231.111 = 3.338469 m.
    depth = c.depth(np.array([[100.0]], np.float32))
    assert depth.dtype == np.float32
    assert depth[0, 0] == pytest.approx(3.338469, abs=2e-6)


def test_middlebury_without_doffs_takes_it_from_the_cameras(save):
    c = read_calibration(save(MOTORCYCLE.replace("doffs=131.111\n", "")))
    assert c.doffs_pixels == pytest.approx(1307.839 - 1176.728)


@pytest.mark.parametrize(
    "text", [KITTI_RAW, f"P0: {P0}\nP1: {P1}\nP2: {P2}\nP3: {P3}\n", f"P2: {P2}\nP3: {P3}\n"]
)
def test_kitti_prefers_the_colour_cameras(save, text):
    c = read_calibration(save(text))
    assert (c.fx_pixels, c.cx_pixels, c.cy_pixels) == (721.5377, 609.5593, 172.854)
    # 44.85728 + 339.5242 = 384.38148 px m; 384.38148 / 721.5377 = 0.5327254 m.
    assert c.baseline_meters == pytest.approx(0.5327254, abs=1e-6)
    assert c.doffs_pixels == 0
    # 384.38148 / 50 = 7.6876296 m.
    assert c.depth(np.array([[50.0]]))[0, 0] == pytest.approx(7.6876296, rel=1e-6)


@pytest.mark.parametrize("keys", [("P_rect_00", "P_rect_01"), ("P0", "P1")])
def test_kitti_falls_back_to_the_grey_cameras(save, keys):
    c = read_calibration(save(f"{keys[0]}: {P0}\n{keys[1]}: {P1}\n"))
    assert c == Calibration(700, 700, 600, 170, 0.5, 4)


ROS = """image_width: 640
image_height: 480
camera_name: {name}
camera_matrix:
  rows: 3
  cols: 3
  data: [500, 0, 320, 0, 500, 240, 0, 0, 1]
projection_matrix:
  rows: 3
  cols: 4
  data: [400.0, 0, {cx}, {tx}, 0, 410, 241, 0, 0, 0, 1, 0]
"""
ROS_LEFT = ROS.format(name="left", cx=320, tx=0)
ROS_RIGHT = ROS.format(name="right", cx=323, tx="-4.8e1")


def test_ros_pair(save):
    expected = Calibration(400, 410, 320, 241, 0.12, 3, image_size=(640, 480))  # 48 / 400 = 0.12 m
    left, right = save(ROS_LEFT, "cam_left.yaml"), save(ROS_RIGHT, "cam_right.yaml")
    assert read_calibration(left) == expected
    other = save(ROS_RIGHT, "other.yaml")
    right.unlink()
    assert read_calibration(left, other) == expected
    with pytest.raises(FileError, match="no file beside it has 'right'"):
        read_calibration(left)
    with pytest.raises(FileError, match="swapped"):
        read_calibration(other, left)


def test_opencv_q_gives_the_depth_that_opencv_gives(save, tmp_path):
    K = np.array([[500.0, 0, 300], [0, 500, 200], [0, 0, 1]])
    K_right = np.array([[505.0, 0, 330], [0, 505, 203], [0, 0, 1]])
    T = np.array([[-120.0], [1], [2]])  # millimetres
    _, _, P1, P2, Q, *_ = cv2.stereoRectify(
        K, np.zeros(5), K_right, np.zeros(5), (640, 480), np.eye(3), T, flags=0
    )
    assert abs(Q[3, 3] / Q[3, 2]) > 1  # principal points differ: the sign of doffs matters
    disparity = np.array([[90.0, 120.5], [70, 64]], np.float32)
    expected = cv2.reprojectImageTo3D(disparity, Q) / 1000
    for names in (("Q",), ("P1", "P2"), ("Q", "P1", "P2")):
        path = tmp_path / "extrinsics.yml"
        storage = cv2.FileStorage(str(path), cv2.FILE_STORAGE_WRITE)
        for name in names:
            storage.write(name, {"Q": Q, "P1": P1, "P2": P2}[name])
        storage.release()
        c = read_calibration(path, baseline_unit_meters=1e-3)
        np.testing.assert_allclose(c.points(disparity), expected, rtol=1e-5)
    assert path.read_text().startswith("%YAML")


Q_FILE = """%YAML:1.0
---
Q: !!opencv-matrix
   rows: 4
   cols: 4
   dt: d
   data: [ 1., 0., 0., -300., 0., 1., 0., -200., 0., 0., 0., 500.,
       0., 0., {q32}, {q33} ]
"""


def test_opencv_q_by_hand(save):
    # Tx = -0.25 m gives Q32 = 4; (cx - cx') / Tx = (300 - 310) / -0.25 = 40; doffs = 40 / 4 = 10.
    c = read_calibration(save(Q_FILE.format(q32=4.0, q33=40.0), "q.yml"))
    assert c == Calibration(500, 500, 300, 200, 0.25, 10)
    assert c.depth(np.array([[15.0]]))[0, 0] == 5  # 500 × 0.25 / (15 + 10)
    with pytest.raises(FileError, match="left of the first"):
        read_calibration(save(Q_FILE.format(q32=-4.0, q33=-40.0), "swapped.yml"))


def test_the_size_of_the_images_is_read(save):
    assert read_calibration(save(MOTORCYCLE + "width=741\nheight=500\n")).image_size == (741, 500)
    kitti = f"S_rect_02: 1.242000e+03 3.750000e+02\nP_rect_02: {P2}\nP_rect_03: {P3}\n"
    assert read_calibration(save(kitti)).image_size == (1242, 375)


def test_ros_messages_call_the_projection_by_one_letter(save):
    for letter in "Pp":
        texts = [
            t.replace("projection_matrix:", f"distortion_model: plumb_bob\n{letter}:")
            for t in (ROS_LEFT, ROS_RIGHT)
        ]
        left, right = save(texts[0], "a.yaml"), save(texts[1], "b.yaml")
        assert read_calibration(left, right).baseline_meters == pytest.approx(0.12)


BOMB = "camera_name: &a [x, x]\nb: &b [*a, *a]\nprojection_matrix: [*b, *b]\n"
BAD = {
    "no baseline": (MOTORCYCLE.replace("baseline", "bass"), "lacks field baseline"),
    "no cam1 nor doffs": (
        MOTORCYCLE.replace("doffs", "x").replace("cam1", "y"),
        "lacks field cam1",
    ),
    "cam0 short": ("cam0=[1 2 3]\n", "field cam0 to hold 9 numbers, but it has 3"),
    "cam0 words": ("cam0=[a b c]\n", "field cam0 to hold 9 numbers"),
    "zero focal": (MOTORCYCLE.replace("[3997.684 0 1", "[0 0 1"), "fx_pixels: expected"),
    "nan baseline": (MOTORCYCLE.replace("193.001", "nan"), "baseline to hold finite"),
    "one kitti camera": (f"P2: {P2}\n", "field P3"),
    "one raw camera": (f"P_rect_02: {P2}\n", "field P_rect_03"),
    "zero kitti focal": (f"P2: 0 {P2[9:]}\nP3: {P3}\n", "fx_pixels: expected"),
    "swapped kitti": (f"P2: {P3}\nP3: {P2}\n", "swapped"),
    "no Q": ("%YAML:1.0\n---\nM1: 3\n", "P1 and P2 or Q are missing"),
    "Q without baseline": (Q_FILE.format(q32=0.0, q33=0.0), "Q[3, 2]"),
    "ros without P": ("camera_name: left\n", "lacks field projection_matrix"),
    "broken yaml": ("camera_name: [1,\n", "cannot be parsed"),
    "python yaml": ("camera_name: !!python/object/apply:os.getcwd []\n", "cannot be parsed"),
    "bomb": (BOMB, "aliases are not allowed"),
    "deep after much that is not": (
        "camera_name: x\n" + "a: [1]\n" * 30 + "b: " + "[" * 21 + "]" * 21,
        "nested brackets",
    ),
    "deep": ("camera_name: " + "[" * 5000, "nested brackets"),
    "yaml list": ("%YAML:1.0\n---\n- 1\n", "expected a YAML mapping"),
    "prose": ("hello\nworld\n", "no known kind"),
    "large": ("x" * (2**20 + 1), "at most 1048576 bytes"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_calibrations(save, name):
    text, fragment = BAD[name]
    save(ROS_RIGHT, "right.yaml")
    with pytest.raises(FileError) as caught:
        read_calibration(save(text, "left.yaml"))
    assert fragment in str(caught.value)


def test_binary_is_no_calibration(tmp_path):
    (tmp_path / "calib.txt").write_bytes(b"\xff\xfe\0P2")
    with pytest.raises(FileError, match="binary"):
        read_calibration(tmp_path / "calib.txt")


def test_arguments_that_do_not_fit(save):
    path = save(MOTORCYCLE)
    with pytest.raises(InputError, match="right: only ROS"):
        read_calibration(path, path)
    with pytest.raises(InputError, match="baseline_unit_meters: only OpenCV"):
        read_calibration(path, baseline_unit_meters=0.001)
    with pytest.raises(InputError, match="baseline_unit_meters: expected"):
        read_calibration(path, baseline_unit_meters=0)


@pytest.mark.parametrize("field", ["fx_pixels", "fy_pixels", "baseline_meters"])
@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf])
def test_calibration_is_validated(field, value):
    good = {"fx_pixels": 1.0, "fy_pixels": 1.0, "cx_pixels": 0.0, "cy_pixels": 0.0}
    with pytest.raises(InputError, match=field):
        Calibration(**(good | {"baseline_meters": 1.0, field: value}))


def test_depth_is_unknown_at_and_behind_infinity():
    c = Calibration(10, 10, 0, 0, 1, doffs_pixels=-2)
    depth = c.depth(np.array([[np.nan, np.inf, -np.inf, 2, 1, 2 + 1e-45, 4]]))
    np.testing.assert_array_equal(depth, [[np.nan] * 6 + [5]])
    tiny = Calibration(10, 10, 0, 0, 1).depth(np.array([[1e-45]], np.float32))
    assert np.isnan(tiny).all()


def test_points_by_hand():
    c = Calibration(fx_pixels=2, fy_pixels=4, cx_pixels=1, cy_pixels=0, baseline_meters=3)
    points = c.points(np.array([[1, 2], [np.nan, 3]], np.float32))
    assert points.dtype == np.float32
    # Row 1, column 1: Z = 2 × 3 / 3 = 2, X = (1 - 1) × 2 / 2 = 0, Y = (1 - 0) × 2 / 4 = 0.5.
    expected = [[[-3, 0, 6], [0, 0, 3]], [[np.nan] * 3, [0, 0.5, 2]]]
    np.testing.assert_array_equal(points, expected)
    with pytest.raises(InputError, match="shape"):
        c.points(np.zeros(3))


def read_ply(path):
    head, _, body = path.read_bytes().partition(b"end_header\n")
    lines = head.decode("ascii").splitlines()
    assert lines[:2] == ["ply", "format binary_little_endian 1.0"]
    assert lines[2].startswith("element vertex ")
    types = {"float": "<f4", "uchar": "u1"}
    words = [line.split() for line in lines[3:]]
    dtype = np.dtype([(name, types[kind]) for _, kind, name in words])
    assert len(body) == int(lines[2].split()[2]) * dtype.itemsize
    return np.frombuffer(body, dtype)


@pytest.mark.parametrize("count", [0, 1, 5])
def test_ply_round_trip(tmp_path, count):
    rng = np.random.default_rng(count)
    points = rng.normal(size=(count, 3)).astype(np.float32)
    colours = rng.integers(0, 256, (count, 3), dtype=np.uint8)
    write_ply(tmp_path / "x.ply", points, colours)
    vertices = read_ply(tmp_path / "x.ply")
    assert vertices.dtype.names == ("x", "y", "z", "red", "green", "blue")
    for column, name in enumerate("xyz"):
        np.testing.assert_array_equal(vertices[name], points[:, column])
    for column, name in enumerate(("red", "green", "blue")):
        np.testing.assert_array_equal(vertices[name], colours[:, column])
    write_ply(tmp_path / "x.ply", points)
    assert read_ply(tmp_path / "x.ply").dtype.names == ("x", "y", "z")


def test_ply_refuses_what_does_not_fit(tmp_path):
    points = np.zeros((2, 3), np.float32)
    for bad, colours, fragment in [
        (points[:, :2], None, "points: expected floats of shape"),
        (points.astype(int), None, "points: expected floats"),
        (points + np.nan, None, "finite"),
        (points, np.zeros((1, 3), np.uint8), "colours: expected uint8 of shape"),
        (points, np.zeros((2, 3)), "colours: expected uint8"),
    ]:
        with pytest.raises(InputError, match=fragment):
            write_ply(tmp_path / "x.ply", bad, colours)
    assert list(tmp_path.iterdir()) == []


def test_point_cloud_drops_unknown_pixels_and_keeps_colours_with_them():
    c = Calibration(2, 2, 0, 0, 1)
    disparity = np.array([[np.nan, 1.0], [2.0, -1.0]], np.float32)
    rgb = np.arange(12, dtype=np.uint8).reshape(2, 2, 3)
    points, colours = point_cloud(disparity, rgb, c)
    np.testing.assert_array_equal(points, [[1, 0, 2], [0, 0.5, 1]])
    np.testing.assert_array_equal(colours, [[3, 4, 5], [6, 7, 8]])
    grey16 = np.array([[0, 0x1234], [65535, 0]], np.uint16)
    _, colours = point_cloud(disparity, grey16, c)
    assert colours.dtype == np.uint8
    np.testing.assert_array_equal(colours, [[0x12] * 3, [255] * 3])
    for image in (rgb[:1], rgb.astype(float), rgb[..., :2]):
        with pytest.raises(InputError, match="image: expected"):
            point_cloud(disparity, image, c)


def test_a_baseline_in_millimetres_is_doubted(tmp_path):
    _doubt_baseline.cache_clear()
    with pytest.warns(SlantedWarning, match=r"a baseline of 120 m is far .* millimetres") as told:
        for _ in range(3):  # the cameras of a batch
            Calibration(700.0, 700.0, 48.0, 32.0, baseline_meters=120.0)
    assert len(told) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Calibration(700.0, 700.0, 48.0, 32.0, baseline_meters=10.0)
