import contextlib

import cv2
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from slanted.errors import FileError, InputError
from slanted.io import DISPARITY_FORMATS, read_disparity, write_disparity
from slanted.io.disparity import KITTI_LIMIT

NAN, INF = np.nan, np.inf
FLOAT_SUFFIXES = (".pfm", ".npy", ".tiff")
SHAPES = array_shapes(min_dims=2, max_dims=2, max_side=9)

quick = settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def maps(low, high):
    extremes = [x for x in (0.0, 1e-3, 1 / 256, 255.996, 1e6) if low <= x <= high]
    values = st.floats(low, high, width=32) | st.sampled_from(extremes).map(np.float32)
    return arrays(np.float32, SHAPES, elements=values | st.just(np.float32(NAN))).filter(
        lambda a: not np.isnan(a).all()
    )


def f32(x):
    return float(np.float32(x))


@quick
@given(disparity=maps(0, f32(1e30)), suffix=st.sampled_from(FLOAT_SUFFIXES))
def test_float_formats_keep_every_bit(tmp_path, disparity, suffix):
    write_disparity(tmp_path / f"x{suffix}", disparity)
    back = read_disparity(tmp_path / f"x{suffix}")
    assert back.dtype == np.float32
    np.testing.assert_array_equal(back, disparity)


@quick
@given(disparity=maps(-1000, 1000), suffix=st.sampled_from(FLOAT_SUFFIXES))
def test_float_formats_keep_negative_values_on_request(tmp_path, disparity, suffix):
    path = tmp_path / f"x{suffix}"
    write_disparity(path, disparity)
    np.testing.assert_array_equal(read_disparity(path, allow_negative=True), disparity)
    if np.nanmin(disparity) < 0:
        with pytest.raises(FileError, match="are negative"):
            read_disparity(path)


@quick
@given(disparity=maps(0, 255.99609375))
def test_kitti_keeps_a_512th_of_a_pixel(tmp_path, disparity):
    write_disparity(tmp_path / "x.png", disparity)
    back = read_disparity(tmp_path / "x.png")
    np.testing.assert_array_equal(np.isnan(back), np.isnan(disparity))
    # Rounding costs half a level, and what would round to 0 (unknown) becomes a whole level.
    bound = np.where(disparity < 0.5 / 256, 1 / 256, 0.5 / 256)
    assert np.all((np.abs(back - disparity) <= bound)[~np.isnan(disparity)])


@quick
@given(
    levels=arrays(np.uint8, SHAPES).filter(np.any),
    scale=st.sampled_from([1.0, 4.0, 8.0, 0.5, 3.7]),
    suffix=st.sampled_from([".png", ".pgm"]),
)
def test_middlebury_levels_survive(tmp_path, levels, scale, suffix):
    path = tmp_path / f"x{suffix}"
    path.write_bytes(cv2.imencode(suffix, levels)[1].tobytes())
    disparity = read_disparity(path, scale=scale)
    expected = np.where(levels == 0, NAN, levels / scale).astype(np.float32)
    np.testing.assert_array_equal(disparity, expected)
    write_disparity(path, disparity, scale=scale)
    stored = cv2.imdecode(np.frombuffer(path.read_bytes(), np.uint8), cv2.IMREAD_UNCHANGED)
    np.testing.assert_array_equal(stored, levels)


def test_kitti_by_hand(tmp_path):
    stored = np.array([[0, 1, 256], [384, 65535, 12800]], np.uint16)
    (tmp_path / "x.png").write_bytes(cv2.imencode(".png", stored)[1].tobytes())
    expected = np.array([[NAN, 0.00390625, 1], [1.5, 255.99609375, 50]], np.float32)
    np.testing.assert_array_equal(read_disparity(tmp_path / "x.png"), expected)
    write_disparity(tmp_path / "x.png", [[1.0 + 0.49 / 256, 0.0], [NAN, INF]])
    stored = cv2.imdecode(np.fromfile(tmp_path / "x.png", np.uint8), cv2.IMREAD_UNCHANGED)
    assert stored.dtype == np.uint16
    np.testing.assert_array_equal(stored, [[256, 1], [0, 0]])


@pytest.mark.parametrize("value", [255.9985, 256.0, 300.0, 1e6])
def test_kitti_refuses_what_it_cannot_hold(tmp_path, value):
    with pytest.raises(InputError, match=r"at most 255\.996 pixels, but 1 of 2 .*write \.pfm"):
        write_disparity(tmp_path / "x.png", [[value, 1.0]])
    assert list(tmp_path.iterdir()) == []


def test_kitti_limit_is_exact(tmp_path):
    limit = np.float32(KITTI_LIMIT)
    below = np.nextafter(limit, np.float32(0))
    write_disparity(tmp_path / "x.png", [[below]])
    assert read_disparity(tmp_path / "x.png")[0, 0] == 65535 / 256
    with pytest.raises(InputError):
        write_disparity(tmp_path / "x.png", [[limit]])


@pytest.mark.parametrize("scale", ["-1.0", "1.0", "-0.003922", "0.003922", "-1e3"])
def test_pfm_scale_is_a_byte_order_only(tmp_path, scale):
    # Rows are stored bottom-up.
    stored = np.array([[4, INF, 6], [1, 2, 3]], "<f4" if scale.startswith("-") else ">f4")
    (tmp_path / "x.pfm").write_bytes(f"Pf\n3 2\n{scale}\n".encode() + stored.tobytes())
    expected = np.array([[1, 2, 3], [4, NAN, 6]], np.float32)
    np.testing.assert_array_equal(read_disparity(tmp_path / "x.pfm"), expected)


def test_pfm_as_written(tmp_path):
    write_disparity(tmp_path / "x.pfm", [[1.0, NAN]])
    expected = b"Pf\n2 1\n-1.0\n" + np.array([1, INF], "<f4").tobytes()
    assert (tmp_path / "x.pfm").read_bytes() == expected


def test_pfm_payload_that_starts_like_white_space(tmp_path):
    payload = b"\n\n \x41"
    for end in (b"\n", b"\r\n", b" "):
        (tmp_path / "x.pfm").write_bytes(b"Pf 1 1 -1" + end + payload)
        assert read_disparity(tmp_path / "x.pfm")[0, 0] == np.frombuffer(payload, "<f4")[0]


@pytest.mark.parametrize("dtype", ["<f2", ">f2", "<f4", ">f4", "<f8", ">f8", "u1", "<u2", ">i4"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy_dtypes_and_orders(tmp_path, dtype, order):
    values = np.array([[0, 1, 2], [3, 4, 5]], dtype=dtype, order=order)
    np.save(tmp_path / "x.npy", values)
    back = read_disparity(tmp_path / "x.npy")
    assert back.dtype == np.dtype("=f4")
    np.testing.assert_array_equal(back, [[0, 1, 2], [3, 4, 5]])


def test_npy_infinity_is_unknown(tmp_path):
    np.save(tmp_path / "x.npy", np.array([[INF, NAN, 2.5]]))
    np.testing.assert_array_equal(read_disparity(tmp_path / "x.npy"), [[NAN, NAN, 2.5]])


def npy(values, **keywords):
    def make(path):
        np.save(path, np.array(values, **keywords), allow_pickle=True)

    return make


def raw(content):
    return lambda path: path.write_bytes(content)


def cv(suffix, values):
    return raw(cv2.imencode(suffix, np.array(values))[1].tobytes())


HUGE_NPY = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000, 10000000), }"
PIXEL = bytes(4)
BAD = [
    ("a.pfm", raw(b"Pf\nx 2\n-1\n" + PIXEL * 2), "PFM width of 1 pixel or more, but it is 'x'"),
    ("a.pfm", raw(b"Pf\n1 -2\n-1\n" + PIXEL * 2), "PFM height of 1 pixel or more, but it is '-2'"),
    ("a.pfm", raw(b"Pf\n0 2\n-1\n" + PIXEL * 2), "PFM width of 1 pixel or more"),
    ("a.pfm", raw(b"Pf\n999999 999999\n-1\n" + PIXEL), "says 999999 × 999999"),
    ("a.pfm", raw(b"Pf\n1 1\n0.0\n" + PIXEL), "scale other than zero"),
    ("a.pfm", raw(b"Pf\n1 1\nnan\n" + PIXEL), "scale other than zero"),
    ("a.pfm", raw(b"Pf\n1 1\nfoo\n" + PIXEL), "it is 'foo'"),
    ("a.pfm", raw(b"PF\n1 1\n-1\n" + PIXEL * 3), "three ('PF')"),
    ("a.pfm", raw(b"Pf\n2 1\n-1\n" + PIXEL), "truncated, 2 × 1 pixels need 8 bytes, but 4"),
    ("a.pfm", raw(b"Pf\n1 1\n-1\n" + PIXEL * 2), "damaged, 1 × 1 pixels need 4 bytes, but 8"),
    ("a.pfm", raw(b"Pf\n1 1"), "expected a PFM header"),
    ("a.pfm", raw(b"\x89PNG\r\n"), "expected a PFM header"),
    ("a.npy", raw(b"not numpy"), "header is damaged"),
    ("a.npy", raw(b"\x93NUMPY\x01\x00"), "header is damaged"),
    ("a.npy", raw(b"\x93NUMPY\x01\x00\x48\x00" + HUGE_NPY), "truncated, shape (1000000, 10000000)"),
    ("a.npy", npy([[1j]]), "dtype is complex128"),
    ("a.npy", npy([[True]]), "dtype is bool"),
    ("a.npy", npy([[None]], dtype=object), "dtype is object"),
    ("a.npy", npy([["a"]]), "dtype is <U1"),
    ("a.npy", npy([1.0]), "expected shape (H, W)"),
    ("a.npy", npy([[[1.0]]]), "expected shape (H, W)"),
    ("a.npy", npy(np.zeros((0, 3))), "at least one pixel"),
    ("a.npy", npy([[NAN, INF]]), "has no known pixel, all 2"),
    ("a.npy", npy([[1e300]]), "beyond float32"),
    (
        "a.npy",
        npy([[1, 2, 3], [-1, 5, -3.5]]),
        "2 of 6 pixels are negative (lowest -3.5 at row 1, ",
    ),
    ("a.npy", npy([[1, -2]]), "(allow_negative in Python)"),
    ("a.npy", npy([[-INF, 1]]), "are negative (lowest -inf"),
    (
        "a.tiff",
        cv(".tiff", np.zeros((2, 2), np.uint16)),
        "as float32 TIFF, but it is a TIFF with 16",
    ),
    ("a.tiff", cv(".tiff", np.zeros((2, 2, 3), np.float32)), "3 channels"),
    ("a.tiff", cv(".tiff", np.float32([[-1]])), "are negative"),
    ("a.tif", cv(".png", np.zeros((2, 2), np.uint8)), "but it is a PNG"),
    ("a.png", cv(".png", np.zeros((2, 2), np.uint16)), "no known pixel"),
    ("a.png", cv(".png", np.ones((2, 2, 3), np.uint16)), "3 channels"),
    ("a.png", cv(".png", np.ones((2, 2, 3), np.uint8)), "3 channels"),
    ("a.png", cv(".jpg", np.ones((2, 2), np.uint8)), "but it is a JPEG"),
    ("a.png", raw(b"nonsense"), "is not an image"),
    ("a.pgm", cv(".pgm", np.ones((2, 2), np.uint16)), "but it is a PNM with 16-bit"),
    ("a.xyz", raw(b"1"), "the suffix is '.xyz'"),
]


@pytest.mark.parametrize(("name", "make", "fragment"), BAD, ids=[f"{b[0]}: {b[2]}" for b in BAD])
def test_bad_maps_are_refused_with_a_reason(tmp_path, check_refused, name, make, fragment):
    make(tmp_path / name)
    check_refused(read_disparity, tmp_path / name, fragment)


def test_minus_infinity_is_never_a_disparity(tmp_path):
    np.save(tmp_path / "x.npy", [[-INF, -1.0]])
    with pytest.raises(FileError, match="1 of 2 pixels are -inf"):
        read_disparity(tmp_path / "x.npy", allow_negative=True)
    with pytest.raises(InputError, match="are -inf"):
        write_disparity(tmp_path / "y.pfm", [[-INF, -1.0]])


def test_formats_by_name_override_the_suffix_but_not_the_content(tmp_path):
    (tmp_path / "x.dat").write_bytes(b"Pf\n1 1\n-1\n" + np.float32(3).tobytes())
    assert read_disparity(tmp_path / "x.dat", format="pfm")[0, 0] == 3
    (tmp_path / "x.png").write_bytes(cv2.imencode(".png", np.ones((2, 2), np.uint8))[1].tobytes())
    with pytest.raises(FileError, match="expected a disparity map as 16-bit"):
        read_disparity(tmp_path / "x.png", format="kitti")


def test_auto_leaves_the_scale_unused_where_there_is_none(tmp_path):
    write_disparity(tmp_path / "x.pfm", [[3.0]])
    assert read_disparity(tmp_path / "x.pfm", scale=4)[0, 0] == 3


@pytest.mark.parametrize(
    ("name", "values", "keywords", "error", "fragment"),
    [
        ("x.png", [[-1.0]], {}, InputError, "negative .* kitti cannot hold"),
        ("x.pgm", [[64.0]], {"scale": 4}, InputError, "at most 63.75 pixels"),
        ("x.pgm", [[1.0]], {"scale": 0}, InputError, "scale: expected a finite number above 0"),
        ("x.pgm", [[1.0]], {"scale": NAN}, InputError, "scale: expected"),
        ("x.pfm", [[1.0]], {"scale": 2, "format": "pfm"}, InputError, "scale: only the middlebury"),
        (
            "x.pfm",
            [[1.0]],
            {"format": "exr"},
            InputError,
            "format: expected 'auto' or one of kitti",
        ),
        ("x.pfm", [1.0], {}, InputError, "expected shape"),
        ("x.pfm", [[1j]], {}, InputError, "dtype is complex128"),
        ("x.pfm", [[1e300]], {}, InputError, "beyond float32"),
        ("x.pfm", [[1.0]], {"format": "kitti"}, FileError, r"to end in \.png, not '\.pfm'"),
        ("x.exr", [[1.0]], {}, FileError, r"\.npy, \.pfm, \.pgm, \.png"),
    ],
)
def test_maps_that_cannot_be_written(tmp_path, name, values, keywords, error, fragment):
    with pytest.raises(error, match=fragment):
        write_disparity(tmp_path / name, values, **keywords)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", [".png", ".pgm", *FLOAT_SUFFIXES])
def test_damage_gives_a_map_or_a_file_error(tmp_path, suffix):
    rng = np.random.default_rng(5)
    path = tmp_path / f"x{suffix}"
    write_disparity(path, rng.uniform(1, 9, (5, 6)))
    content = np.frombuffer(path.read_bytes(), np.uint8)
    for _ in range(200):
        damaged = content.copy()
        damaged[rng.integers(len(content), size=3)] = rng.integers(256, size=3)
        path.write_bytes(damaged.tobytes())
        with contextlib.suppress(FileError):
            assert read_disparity(path, allow_negative=True).ndim == 2


def test_the_callers_array_is_left_alone(tmp_path):
    disparity = np.array([[INF, 1.0]], np.float32)
    for suffix in (".png", ".pgm", *FLOAT_SUFFIXES):
        write_disparity(tmp_path / f"x{suffix}", disparity)
    assert disparity[0, 0] == INF


def test_table_of_formats():
    assert set(DISPARITY_FORMATS) == {"kitti", "pfm", "npy", "tiff", "middlebury"}
