"""Targets whose input is one file: images, maps, calibrations, settings, manifests."""

from __future__ import annotations

import json
import struct
import warnings
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np

from fuzz import bombs
from fuzz.target import Target, file_target
from slanted.errors import SlantedError, SlantedWarning

Seeds = Callable[[], list[bytes]]


def _picture(channels: int, dtype: type = np.uint8) -> np.ndarray:
    values = np.arange(7 * 9 * channels).reshape(7, 9, channels) * 3 + 1
    return np.squeeze(values.astype(dtype))


def _encoded(suffix: str, *pictures: np.ndarray, options: tuple[int, ...] = ()) -> list[bytes]:
    import cv2

    return [cv2.imencode(suffix, picture, options)[1].tobytes() for picture in pictures]


def mended_png(data: bytes) -> bytes:
    """Return a PNG with correct checksums, so that changes reach the code behind them."""
    if not data.startswith(bombs.PNG):
        return data
    parts, at = [bombs.PNG], len(bombs.PNG)
    while at + 8 <= len(data):
        (length,) = struct.unpack_from(">I", data, at)
        body = data[at + 4 : at + 8 + length]
        parts.append(struct.pack(">I", length) + body + struct.pack(">I", zlib.crc32(body)))
        at += 12 + length
    return b"".join(parts)


def read_image_file(file: Path) -> None:
    """Read an image in the three ways there are."""
    from slanted.io import describe, read_image, read_label_image

    file.write_bytes(mended_png(file.read_bytes()))
    with suppress(SlantedError):
        image = read_image(file)
        assert image.dtype in (np.uint8, np.uint16)
        assert image.size
        assert image.ndim in (2, 3)
    with suppress(SlantedError):
        read_label_image(file)
    describe(file)


def read_map_file(file: Path) -> None:
    """Read a disparity map with and without options, as a confidence, as labels; describe it."""
    from slanted.io import describe, read_disparity, read_label_image
    from slanted.io.confidence import read_confidence

    file.write_bytes(mended_png(file.read_bytes()))
    for options in ({}, {"allow_negative": True, "scale": 2.0}):
        with suppress(SlantedError):
            disparity = read_disparity(file, **options)
            assert disparity.dtype == np.float32
            assert disparity.ndim == 2
            assert np.isfinite(disparity).any()
    with suppress(SlantedError):
        confidence = read_confidence(file)
        assert confidence.dtype == np.float32
        assert ((confidence >= 0) & (confidence <= 1)).all()
    with suppress(SlantedError):
        read_label_image(file)
    describe(file)


def _maps(suffix: str) -> list[bytes]:
    from slanted.io import pfm
    from slanted.io.arrays import encode_npy

    disparity = _picture(1, np.float32) / 2
    disparity[2, 3:] = np.nan
    if suffix == ".pfm":
        other = b"Pf\r\n2 2\r\n0.5\r\n" + np.float32([1, 2, np.inf, 4]).byteswap().tobytes()
        return [pfm.encode(disparity), other]
    if suffix == ".npy":
        arrays = (disparity, disparity.astype("f8").T, np.arange(6).reshape(2, 3), np.zeros((0, 4)))
        return [encode_npy(array) for array in arrays]
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
    b"%YAML:1.0\n---\nK1: [9,0,8,0,9,6,0,0,1]\nD1: [-0.1,0,0,0]\nK2: [9,0,8,0,9,6,0,0,1]\n"
    b"D2: [0,0,0,0,0]\nR: [1,0,0,0,1,0,0,0,1]\nT: [-1,0,0]\n",
    b"image_width: 16\nimage_height: 12\ndistortion_model: equidistant\n"
    b"K: [9,0,8,0,9,6,0,0,1]\nD: [0.1,0,0,0]\nR: [1,0,0,0,1,0,0,0,1]\n"
    b"P: [9,0,8,-1,0,9,6,0,0,0,1,0]\n",
    b"image_width: 640\nimage_height: 480\ncamera_name: left\nprojection_matrix:\n  rows: 3\n"
    b"  cols: 4\n  data: [500, 0, 320, 0, 0, 500, 240, 0, 0, 0, 1, 0]\n",
    b"width: 640\nheight: 480\ndistortion_model: plumb_bob\n"
    b"P: [500.0, 0.0, 320.0, 0.0, 0.0, 500.0, 240.0, 0.0, 0.0, 0.0, 1.0, 0.0]\n",
)
YAML_WORDS = (
    *(b"!!float ''", b"!!int ''", b"!!bool x", b"!!timestamp x", b"!!binary x", b"!!set {a}"),
    *(b"!!python/object:os.system", b"&a [*a]", b"<<: ", b"? ", b"- ", b"1:2:3", b".inf", b".nan"),
    *(b"2001-99-99", b"~", b"|\n", b"!!omap [a]", b"!!pairs [a]", b"width: ", b"S_rect_02: "),
    *(b"K1: ", b"D1: ", b"R: ", b"T: ", b"R1: ", b"P1: ", b"1e200", b"!!opencv-nd-matrix"),
)


def read_calibration_file(file: Path) -> None:
    """Read one file as that of one camera and of both, rectify by it, and describe it."""
    from slanted.images.rectify import make_rectifier
    from slanted.io import describe, read_calibration
    from slanted.io.raw_calibration import read_raw_calibration

    image = np.zeros((12, 16), np.uint8)
    for options in ({}, {"right": file}, {"baseline_unit_meters": 0.001}):
        with suppress(SlantedError):
            read_calibration(file, **options).depth(np.float32([[1, 0, -5, np.nan]]))
        with suppress(SlantedError), warnings.catch_warnings():
            warnings.simplefilter("ignore", SlantedWarning)  # of an unlikely principal point
            raw = read_raw_calibration(file, **options)
            if raw is not None:
                make_rectifier(raw, image.shape)(image, image)
    describe(file)


def _settings_seeds() -> list[bytes]:
    from slanted.settings import Settings

    origin = b"[model.weights]\nseg = 1.5\n[learned]\nimages = ['a', 'b']\nloss = 'x'\n"
    return [Settings().to_toml().encode(), b"seed = 3\n[matching]\nmethod = 'sgbm'\n", origin]


def _trees_seeds() -> list[bytes]:
    from slanted.confidence.weights import FORESTS

    def forest(names: tuple[str, ...]) -> dict[str, object]:
        trees = [{"above": [[name, 0.5], [names[0], -1]], "add": [1, 0.5, 0, -2]} for name in names]
        return {"features": names, "bias": -1.5, "trees": trees[:3]}

    trees = {name: forest(names) for name, names in FORESTS.items()}
    return [json.dumps({"origin": {"data": "made up"}, **trees}).encode()]


def read_trees_file(file: Path) -> None:
    """Read trees of confidence, and ask them."""
    from slanted.confidence.weights import FORESTS, Weights

    weights = Weights.load(file)
    for name, features in FORESTS.items():
        values = np.linspace(-3, 3, 5 * len(features), dtype=np.float32).reshape(len(features), 5)
        chance = getattr(weights, name).probability(values)
        assert ((chance >= 0) & (chance <= 1)).all()


def read_settings_file(file: Path) -> None:
    """Read settings, weights, and values as the command line gets them."""
    from slanted.settings import Settings

    last = file.read_bytes().decode("latin-1").strip().rpartition("\n")[2]
    key, _, value = last.partition("=")
    with suppress(SlantedError):
        Settings().with_text({key.strip(): value.strip()})
    Settings.load(file)


def read_description_file(file: Path) -> None:
    """Read the description of a network."""
    from slanted.matching.network.description import description_of

    description_of(file.with_suffix(".onnx"))


def read_space_file(file: Path) -> None:
    """Read a search space of ``slanted tune``."""
    from slanted.research.tuning.search_space import load_space
    from slanted.settings import Settings

    for dimension in load_space(file, Settings()):
        dimension.at(0.3)


MANIFESTS = (
    b"left,right,name\na/l1.png,a/r1.png,one\nl2.png,r2.png,two/three\n",
    b'\xef\xbb\xbfleft,right\n"l,1.png",r1.png\nl_002.png,r_002.png\n',
)


def read_manifest_file(file: Path) -> None:
    """Read a manifest, and ask where its results would go."""
    from slanted.batch.pairs import find_pairs, output_folder

    output = file.parent / "out"
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


def describe_as_each(folder: Path, data: bytes) -> None:
    """Describe a mesh, table, record or page, whatever its suffix says."""
    from slanted.io import describe

    refusals = []
    suffixes = (".glb", ".obj", ".csv", ".jsonl", ".json", ".html")
    for suffix in suffixes:
        file = folder / f"written{suffix}"
        file.write_bytes(data)
        try:
            assert describe(file)["meaning"]
        except SlantedError as error:
            refusals.append(error)
    if len(refusals) == len(suffixes):
        raise refusals[-1]


def _image_target(name: str, seeds: Seeds, tokens: tuple[bytes, ...] = ()) -> Target:
    suffixes = {"png": (".png",), "jpeg": (".jpg",), "tiff": (".tif",), "pnm": (".pgm",)}
    kinds = suffixes.get(name, (f".{name}",))
    return file_target(
        name, "input.img", read_image_file, lambda: seeds() + bombs.seeds(*kinds), tokens
    )


def _map_target(name: str, suffix: str, tokens: tuple[bytes, ...] = ()) -> Target:
    return file_target(name, f"map{suffix}", read_map_file, lambda: _maps(suffix), tokens)


def _tiffs() -> list[bytes]:
    import cv2

    plain = (cv2.IMWRITE_TIFF_COMPRESSION, 1)
    pictures = (_picture(1), _picture(3), _picture(3, np.uint16), _picture(4))
    return _encoded(".tiff", *pictures) + _encoded(".tiff", *pictures, options=plain)


_WORDS_OF_SETTINGS = (b"matching", b"auto", b"true", b"[a.b]", b"= ", b"{a=1}", b"2020-01-01")

FILES = (
    _image_target("png", lambda: _encoded(
        ".png", _picture(1), _picture(3), _picture(4), _picture(3, np.uint16))),
    _image_target("jpeg", lambda: _encoded(".jpg", _picture(1), _picture(3))),
    _image_target("bmp", lambda: _encoded(".bmp", _picture(1), _picture(3))),
    _image_target("tiff", _tiffs),
    _image_target("pnm", lambda: [*_maps(".pgm"), *_encoded(".ppm", _picture(3)),
                                  b"P3 1 2 65535 1 2 3 400 500 65535"],
                  (b"P2", b"P3", b"P5", b"P6", b"#\n", b" 65535 ")),
    _map_target("pfm", ".pfm", (b"Pf\n", b"PF\n", b"-1.0\n")),
    _map_target("npy", ".npy", (b"'descr'", b"'shape': (", b"'<f4'", b"'|O'", b"True", b"-" * 3000,
                                b"(0, 9999")),
    _map_target("kitti", ".png"),
    _map_target("float-tiff", ".tiff"),
    _map_target("middlebury", ".pgm"),
    file_target("calibration", "calib_left.yaml", read_calibration_file,
                lambda: [*CALIBRATIONS, *bombs.seeds(".yaml", ".txt")], YAML_WORDS),
    file_target("settings", "settings.toml", read_settings_file,
                lambda: _settings_seeds() + bombs.seeds(".toml"), _WORDS_OF_SETTINGS),
    file_target("network", "model.toml", read_description_file,
                lambda: [b"colour = 'bgr'\nmean = [0.5, 0.4, 0.3]\nstd = 2\nwhite = 255.0\n",
                         b"left = 'a'\nlayout = 'nhwc'\nsign = -1\nleft_right = true\n",
                         *bombs.seeds(".toml")],
                (*_WORDS_OF_SETTINGS, b"mean", b"std", b"[1, 2, 3]", b"1e999", b"nan")),
    file_target("trees", "trees.json", read_trees_file,
                lambda: _trees_seeds() + bombs.seeds(".json"),
                (b'"above":', b'"add":', b'"bias":', b"1e999", b"NaN", b"[]", b"1e38")),
    file_target("space", "space.toml", read_space_file,
                lambda: [b"[model]\ntruncation = '2:6:log'\n[inference]\nparticles = [4, 8, 10]\n"],
                (*_WORDS_OF_SETTINGS, b"x0.5:x2", b":log")),
    Target("written", describe_as_each,
           lambda: _written() + bombs.seeds(".json", ".jsonl", ".csv", ".glb"),
           (b"glTF", b'"count":', b"[", b"{", b"<title>", b"\nv ", b"\nf ", b"element face 9",
            b"name,status", b"NaN", b"1e999")),
    file_target("manifest", "pairs.csv", read_manifest_file, lambda: list(MANIFESTS),
                (b"left", b"right", b"name", b"../", b"/", b"\0", b'"', b".", b"failures", b"\n")),
)  # fmt: skip
