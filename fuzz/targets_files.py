"""Targets that are one file each: images, maps, calibrations, settings, manifests."""

from __future__ import annotations

import struct
import zlib
from contextlib import suppress
from pathlib import Path

import numpy as np

from fuzz.target import Target

PNG = b"\x89PNG\r\n\x1a\n"


def _picture(channels: int, dtype: type = np.uint8) -> np.ndarray:
    values = np.arange(7 * 9 * channels).reshape(7, 9, channels) * 3 + 1
    return np.squeeze(values.astype(dtype))


def _encoded(suffix: str, *pictures: np.ndarray, options: tuple[int, ...] = ()) -> list[bytes]:
    import cv2

    return [cv2.imencode(suffix, picture, options)[1].tobytes() for picture in pictures]


def mended_png(data: bytes) -> bytes:
    """Return a PNG with right checksums, so that changes reach what lies behind them."""
    if not data.startswith(PNG):
        return data
    parts, at = [PNG], len(PNG)
    while at + 8 <= len(data):
        (length,) = struct.unpack_from(">I", data, at)
        body = data[at + 4 : at + 8 + length]
        parts.append(struct.pack(">I", length) + body + struct.pack(">I", zlib.crc32(body)))
        at += 12 + length
    return b"".join(parts)


def read_as_image(folder: Path, data: bytes) -> None:
    """Read an image in the three ways there are."""
    from slanted.errors import SlantedError
    from slanted.io import describe, read_image, read_labels

    file = folder / "input.img"
    file.write_bytes(mended_png(data))
    with suppress(SlantedError):
        image = read_image(file)
        assert image.dtype in (np.uint8, np.uint16)
        assert image.size
        assert image.ndim in (2, 3)
    with suppress(SlantedError):
        read_labels(file)
    describe(file)


def _read_as_map(suffix: str) -> object:
    def read(folder: Path, data: bytes) -> None:
        from slanted.errors import SlantedError
        from slanted.io import describe, read_disparity, read_labels

        file = folder / f"map{suffix}"
        file.write_bytes(mended_png(data))
        for options in ({}, {"allow_negative": True, "scale": 2.0}):
            with suppress(SlantedError):
                disparity = read_disparity(file, **options)
                assert disparity.dtype == np.float32
                assert disparity.ndim == 2
                assert np.isfinite(disparity).any()
        with suppress(SlantedError):
            read_labels(file)
        describe(file)

    return read


def _maps(suffix: str) -> list[bytes]:
    from slanted.io import npy, pfm

    disparity = _picture(1, np.float32) / 2
    disparity[2, 3:] = np.nan
    if suffix == ".pfm":
        other = b"Pf\r\n2 2\r\n0.5\r\n" + np.float32([1, 2, np.inf, 4]).byteswap().tobytes()
        return [pfm.encode(disparity), other]
    if suffix == ".npy":
        arrays = (disparity, disparity.astype("f8").T, np.arange(6).reshape(2, 3), np.zeros((0, 4)))
        return [npy.encode(array) for array in arrays]
    if suffix == ".tiff":
        return _encoded(".tiff", disparity) + _encoded(".tiff", disparity.astype(np.float64))
    if suffix == ".pgm":
        plain = b"P2\n# words\n3 2\n255\n1 2 3\n4 5 250\n"
        return [plain, *_encoded(".pgm", _picture(1)), *_encoded(".pgm", _picture(1, np.uint16))]
    return _encoded(".png", _picture(1, np.uint16) * 200, _picture(1))


CALIBRATIONS = (
    b"calib_time: 09-Jan-2012 13:57:47\nS_rect_02: 1242 375\n"
    b"P_rect_02: 7.2e+02 0 609 44.8 0 721 172 0.2 0 0 1 0.002\n"
    b"P_rect_03: 7.2e+02 0 609 -339 0 721 172 2.1 0 0 1 0.002\n",
    b"P0: 700 0 600 0 0 700 170 0 0 0 1 0\nP1: 700 0 600 -380 0 700 170 0 0 0 1 0\n",
    b"cam0=[700 0 120; 0 700 80; 0 0 1]\ncam1=[700 0 125; 0 700 80; 0 0 1]\ndoffs=5\n"
    b"baseline=193.001\nwidth=240\nheight=160\nndisp=70\n",
    b"%YAML:1.0\n---\nP1: !!opencv-matrix\n   rows: 3\n   cols: 4\n   dt: d\n"
    b"   data: [ 7., 0., 3., 0., 0., 7., 2., 0., 0., 0., 1., 0. ]\nP2: !!opencv-matrix\n"
    b"   rows: 3\n   cols: 4\n   dt: d\n"
    b"   data: [ 7., 0., 3., -3.5, 0., 7., 2., 0., 0., 0., 1., 0. ]\n",
    b"%YAML:1.0\nQ: !!opencv-matrix\n   rows: 4\n   cols: 4\n   dt: d\n"
    b"   data: [1, 0, 0, -3, 0, 1, 0, -2, 0, 0, 0, 7, 0, 0, 2, 0.5]\n",
    b"image_width: 640\nimage_height: 480\ncamera_name: left\nprojection_matrix:\n  rows: 3\n"
    b"  cols: 4\n  data: [500, 0, 320, 0, 0, 500, 240, 0, 0, 0, 1, 0]\n",
    b"width: 640\nheight: 480\ndistortion_model: plumb_bob\n"
    b"P: [500.0, 0.0, 320.0, 0.0, 0.0, 500.0, 240.0, 0.0, 0.0, 0.0, 1.0, 0.0]\n",
)
YAML_WORDS = (
    *(b"!!float ''", b"!!int ''", b"!!bool x", b"!!timestamp x", b"!!binary x", b"!!set {a}"),
    *(b"!!python/object:os.system", b"&a [*a]", b"<<: ", b"? ", b"- ", b"1:2:3", b".inf", b".nan"),
    *(b"2001-99-99", b"~", b"|\n", b"!!omap [a]", b"!!pairs [a]", b"width: ", b"S_rect_02: "),
)


def read_as_calibration(folder: Path, data: bytes) -> None:
    """Read one file as that of one camera, of both, and tell what it is."""
    from slanted.errors import SlantedError
    from slanted.io import describe, read_calibration

    file = folder / "calib_left.yaml"
    file.write_bytes(data)
    for options in ({}, {"right": file}, {"baseline_unit_meters": 0.001}):
        with suppress(SlantedError):
            read_calibration(file, **options).depth(np.float32([[1, 0, -5, np.nan]]))
    describe(file)


def _settings_seeds() -> list[bytes]:
    from slanted.settings import Settings

    origin = b"[model.weights]\nseg = 1.5\n[learned]\nimages = ['a', 'b']\nloss = 'x'\n"
    return [Settings().to_toml().encode(), b"seed = 3\n[matching]\nmethod = 'sgbm'\n", origin]


def read_as_settings(folder: Path, data: bytes) -> None:
    """Read settings, learned weights, and values as the command line gets them."""
    from slanted.errors import SlantedError
    from slanted.settings import Settings

    file = folder / "settings.toml"
    file.write_bytes(data)
    key, _, value = data.decode("latin-1").strip().rpartition("\n")[2].partition("=")
    with suppress(SlantedError):
        Settings().with_text({key.strip(): value.strip()})
    Settings.load(file)


def read_as_space(folder: Path, data: bytes) -> None:
    """Read a search space of ``slanted tune``."""
    from slanted.research.tuning.search_space import load_space
    from slanted.settings import Settings

    file = folder / "space.toml"
    file.write_bytes(data)
    for dimension in load_space(file, Settings()):
        dimension.at(0.3)


MANIFESTS = (
    b"left,right,name\na/l1.png,a/r1.png,one\nl2.png,r2.png,two/three\n",
    b'\xef\xbb\xbfleft,right\n"l,1.png",r1.png\nl_002.png,r_002.png\n',
)


def read_as_manifest(folder: Path, data: bytes) -> None:
    """Read a manifest, and ask where its results would go."""
    from slanted.batch.pairs import find_pairs, output_folder

    file = folder / "pairs.csv"
    file.write_bytes(data)
    output = folder / "out"
    for pair in find_pairs(file, output):
        pair.frame()
        place = output_folder(output, pair.name)
        assert place.resolve().is_relative_to(output.resolve())


def _written() -> list[bytes]:
    gltf = b'{"accessors":[{"count":4},{"count":6}],"meshes":[{"primitives":[{"attributes":'
    gltf += b'{"POSITION":0},"indices":1}]}]}'
    head = b"glTF" + struct.pack("<III4s", 2, 20 + len(gltf), len(gltf), b"JSON")
    row = b'{"name": "a", "status": "done"}\n'
    ply = b"ply\nformat ascii 1.0\nelement vertex 9\nelement face 2\nend_header\n"
    page = b"<!doctype html><title>a &amp; b</title>"
    table = b"name,status,error\na,done,\nb,failed,why\n"
    return [head + gltf, ply, b"v 0 0 0\nf 1 1 1\n", table, row * 2, row, page]


def read_as_written(folder: Path, data: bytes) -> None:
    """Tell what a mesh, a table, a record or a page is."""
    from slanted.errors import SlantedError
    from slanted.io import describe

    told = 0
    for suffix in (".glb", ".obj", ".csv", ".jsonl", ".json", ".html"):
        file = folder / f"written{suffix}"
        file.write_bytes(data)
        try:
            assert describe(file)["meaning"]
            told += 1
        except SlantedError as error:
            refusal = error
    if not told:
        raise refusal


def _image_target(name: str, suffix: str, *pictures: np.ndarray) -> Target:
    return Target(name, read_as_image, lambda: _encoded(suffix, *pictures))


def _tiffs() -> list[bytes]:
    import cv2

    plain = (cv2.IMWRITE_TIFF_COMPRESSION, 1)
    pictures = (_picture(1), _picture(3), _picture(3, np.uint16), _picture(4))
    return _encoded(".tiff", *pictures) + _encoded(".tiff", *pictures, options=plain)


_WORDS_OF_SETTINGS = (b"matching", b"auto", b"true", b"[a.b]", b"= ", b"{a=1}", b"2020-01-01")

FILES = (
    _image_target("png", ".png", _picture(1), _picture(3), _picture(4), _picture(3, np.uint16)),
    _image_target("jpeg", ".jpg", _picture(1), _picture(3)),
    _image_target("bmp", ".bmp", _picture(1), _picture(3)),
    Target("tiff", read_as_image, _tiffs),
    Target("pnm", read_as_image, lambda: [*_maps(".pgm"), *_encoded(".ppm", _picture(3)),
           b"P3 1 2 65535 1 2 3 400 500 65535"], (b"P2", b"P3", b"P5", b"P6", b"#\n", b" 65535 ")),
    Target("pfm", _read_as_map(".pfm"), lambda: _maps(".pfm"), (b"Pf\n", b"PF\n", b"-1.0\n")),
    Target("npy", _read_as_map(".npy"), lambda: _maps(".npy"),
           (b"'descr'", b"'shape': (", b"'<f4'", b"'|O'", b"True", b"-" * 3000, b"(0, 9999")),
    Target("kitti", _read_as_map(".png"), lambda: _maps(".png")),
    Target("float-tiff", _read_as_map(".tiff"), lambda: _maps(".tiff")),
    Target("middlebury", _read_as_map(".pgm"), lambda: _maps(".pgm")),
    Target("calibration", read_as_calibration, lambda: list(CALIBRATIONS), YAML_WORDS),
    Target("settings", read_as_settings, _settings_seeds, _WORDS_OF_SETTINGS),
    Target("space", read_as_space,
           lambda: [b"[model]\ntruncation = '2:6:log'\n[inference]\nparticles = [4, 8, 10]\n"],
           (*_WORDS_OF_SETTINGS, b"x0.5:x2", b":log")),
    Target("written", read_as_written, _written,
           (b"glTF", b'"count":', b"[", b"{", b"<title>", b"\nv ", b"\nf ", b"element face 9",
            b"name,status", b"NaN", b"1e999")),
    Target("manifest", read_as_manifest, lambda: list(MANIFESTS),
           (b"left", b"right", b"name", b"../", b"/", b"\0", b'"', b".", b"failures", b"\n")),
)  # fmt: skip
