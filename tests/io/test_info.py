import json
import struct
import subprocess
import sys

import cv2
import numpy as np
import pytest

from slanted.errors import FileError
from slanted.io import describe, write_disparity, write_image, write_ply
from slanted.output.html import page

RGB = np.arange(60, dtype=np.uint8).reshape(4, 5, 3)
DISPARITY = np.array([[np.nan, 1.5], [2, 40]], np.float32)
CALIBRATION = "cam0=[9 0 4; 0 9 3; 0 0 1]\ndoffs=1\nbaseline=100\n"


@pytest.mark.parametrize(
    ("name", "write", "expected"),
    [
        ("a.png", lambda p: write_image(p, RGB), {"meaning": "8-bit colour image", "highest": 59}),
        (
            "a.png",
            lambda p: write_image(p, RGB[..., 0]),
            {"meaning": "8-bit grey image; may be a Middlebury disparity map if it has a scale"},
        ),
        (
            "a.png",
            lambda p: write_disparity(p, DISPARITY),
            {"meaning": "KITTI disparity map", "known_share": 0.75, "lowest": 1.5, "bits": 16},
        ),
        (
            "a.png",
            lambda p: write_image(p, np.full((4, 4), 700, np.uint16)),
            {"meaning": "16-bit grey image, or a dense KITTI disparity map", "lowest": 700},
        ),
        ("a.jpg", lambda p: write_image(p, RGB), {"format": "JPEG", "channels": 3, "bits": 8}),
        ("a.pgm", lambda p: p.write_bytes(b"P2\n1 1\n9\n3\n"), {"format": "PNM", "lowest": 3}),
        (
            "a.pfm",
            lambda p: write_disparity(p, DISPARITY),
            {"meaning": "float disparity map (PFM)", "known_share": 0.75, "highest": 40.0},
        ),
        (
            "a.tiff",
            lambda p: write_disparity(p, DISPARITY),
            {"meaning": "float disparity map (TIFF)", "dtype": "float32"},
        ),
        (
            "a.npy",
            lambda p: write_disparity(p, DISPARITY),
            {"meaning": "disparity map (NumPy)", "width_pixels": 2, "height_pixels": 2},
        ),
        ("a.npy", lambda p: np.save(p, np.zeros((2, 3, 4))), {"shape": "2 × 3 × 4"}),
        (
            "a.pfm",
            lambda p: p.write_bytes(b"Pf\n1 1\n-1\n" + np.float32(np.inf).tobytes()),
            {"known_share": 0.0, "lowest": None},
        ),
        (
            "calib.txt",
            lambda p: p.write_text(CALIBRATION),
            {"meaning": "Middlebury 2014 calibration", "fx_pixels": 9.0, "baseline_meters": 0.1},
        ),
        (
            "calib.txt",
            lambda p: p.write_text("cam0=[1]"),
            {
                "format": "Middlebury 2014",
                "problem": "expected field cam0 to hold 9 numbers, but it has 1",
            },
        ),
    ],
)
def test_describe(tmp_path, name, write, expected):
    write(tmp_path / name)
    found = describe(tmp_path / name)
    assert {key: found.get(key) for key in expected} == expected
    assert found["file"] == str(tmp_path / name)
    assert json.loads(json.dumps(found, allow_nan=False)) == found


@pytest.mark.parametrize("suffix", [".pfm", ".tiff", ".npy"])
def test_every_field_of_a_map_is_told(tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    write_disparity(path, np.array([[1, 2, np.nan], [4, 5, 6]], np.float32))
    found = describe(path)
    size = {"width_pixels": 3, "height_pixels": 2, "channels": 1, "bits": 32, "dtype": "float32"}
    expected = {**size, "lowest": 1, "highest": 6, "known_share": 5 / 6}
    assert {key: found[key] for key in expected} == pytest.approx(expected)


GLTF = b'{"accessors":[{"count":4},{"count":6}],"meshes":[{"primitives":[{"attributes":{"POSITION":0},"indices":1}]}]}'
GLB = b"glTF" + struct.pack("<III4s", 2, 24 + len(GLTF), len(GLTF), b"JSON") + GLTF + bytes(4)
SUMMARY = "name,status,error\na,done,\nb,failed,why\nc,done,\n"
COUNTS = {"pairs": 3, "done": 2, "failed": 1}


def archive(path):
    inside = np.array([[1, np.nan], [-2, np.inf]], np.float32)
    np.savez_compressed(path, planes=inside, segments=np.zeros((2, 0), int), z=np.ones(3, complex))


WRITTEN = {
    "confidence.npy": (lambda p: np.save(p, DISPARITY / 100), {"meaning": "confidence of slanted: probability that the disparity is right"}),
    "valid.png": (lambda p: write_image(p, np.full((3, 4), 33, np.uint8)), {"meaning": "flags of slanted, whose bits docs/result.md explains", "highest": 33}),
    "depth.npy": (lambda p: np.save(p, DISPARITY), {"meaning": "depth map of slanted: metres, NaN where unknown, infinite in the sky", "lowest": 1.5}),
    "segments.npy": (lambda p: np.save(p, np.eye(3, dtype=np.int32)), {"meaning": "label image, such as segments (NumPy)", "highest": 1}),
    "depth.png": (lambda p: write_image(p, np.uint16([[0, 700], [900, 800]])), {"meaning": "depth image of slanted: millimetres, 0 where unknown", "lowest": 700, "known_share": 0.75}),
    "disparity.png": (lambda p: write_image(p, np.full((4, 4), 512, np.uint16)), {"meaning": "KITTI disparity map", "lowest": 2.0}),
    "planes.npy": (lambda p: np.save(p, np.arange(4)), {"shape": "4", "lowest": 0, "highest": 3}),
    "result.npz": (archive, {"meaning": "arrays of a result of slanted", "count": 3, "arrays": {"planes": "2 × 2 float32, -2 to 1", "segments": "2 × 0 int64", "z": "3 complex128"}}),
    "mesh.ply": (lambda p: p.write_bytes(b"ply\nelement vertex 9\nelement face 2\nend_header\n"), {"meaning": "mesh", "vertices": 9, "faces": 2}),
    "cloud.ply": (lambda p: write_ply(p, np.zeros((5, 3), np.float32)), {"meaning": "point cloud", "vertices": 5, "faces": None}),
    "mesh.glb": (lambda p: p.write_bytes(GLB), {"format": "GLB", "vertices": 4, "faces": 2}),
    "mesh.obj": (lambda p: p.write_text("v 0 0 0\nv 1 0 0\nvt 0 0\nf 1 2 1\n"), {"format": "OBJ", "vertices": 2, "faces": 1}),
    "mesh.mtl": (lambda p: p.write_text("newmtl a"), {"format": "MTL"}),
    "report.html": (lambda p: p.write_text(page("a < b", [])), {"meaning": "report of slanted; open it in a browser", "title": "a < b"}),
    "other.html": (lambda p: p.write_text("<html>"), {"meaning": "web page"}),
    "summary.csv": (lambda p: p.write_text(SUMMARY), {"meaning": "summary of a batch, one line for each pair", **COUNTS}),
    "pairs.csv": (lambda p: p.write_text("left, right\na.png,b.png\n"), {"meaning": "manifest of pairs, for `slanted batch`", "rows": 1}),
    "summary.jsonl": (lambda p: p.write_text('{"name": "a", "status": "waiting"}\n'), {"pairs": 1, "waiting": 1}),
    "run.json": (lambda p: p.write_text('{"features": {}, "segments": 7}'), {"meaning": "record of a result", "segments": 7}),
    "record.json": (lambda p: p.write_text('{"status": "failed", "error": "why"}'), {"meaning": "record of a pair of a batch", "error": "why"}),
    "split.json": (lambda p: p.write_text("[]"), {"meaning": "record of a run or a dataset"}),
    "broken.json": (lambda p: p.write_text("{"), {"meaning": "damaged, or not JSON"}),
    "batch.lock": (lambda p: p.write_bytes(b""), {"meaning": "mark of a folder that `slanted batch` writes to"}),
}  # fmt: skip


@pytest.mark.parametrize("name", WRITTEN)
def test_what_slanted_writes_is_known(tmp_path, name):
    write, expected = WRITTEN[name]
    write(tmp_path / name)
    found = describe(tmp_path / name)
    assert {key: found.get(key) for key in expected} == expected
    assert json.loads(json.dumps(found, allow_nan=False)) == found


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.glb", GLB[:-1]), ("a.glb", GLB.replace(b"count", b"Count")), ("a.npz", b"PK\x03\x04..")],
)
def test_damaged_meshes_and_archives_are_refused(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FileError, match=rf"{name}: expected .*(GLB|NPZ)"):
        describe(tmp_path / name)


def test_large_arrays_of_an_archive_are_not_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr("slanted.io.info.MOST_UNPACKED", 79)
    np.savez(tmp_path / "a.npz", large=np.zeros(10), small=np.zeros(6), more=np.zeros(4))
    assert describe(tmp_path / "a.npz")["arrays"] == {
        "large": "10 float64",
        "small": "6 float64, 0 to 0",
        "more": "4 float64",
    }


@pytest.mark.parametrize(
    ("content", "fragment"),
    [(b"just words", "no known kind"), (bytes(50), "is not an image"), (b"", "empty")],
)
def test_unknown_files(tmp_path, content, fragment):
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(FileError, match=fragment):
        describe(tmp_path / "x")


def test_text_in_an_image_s_name_is_told(tmp_path):
    (tmp_path / "x.png").write_text("<html>\n  <title>404</title>")
    with pytest.raises(FileError, match=r"holds text \('<html> <title>404</title>'\)"):
        describe(tmp_path / "x.png")


def test_folders(tmp_path):
    with pytest.raises(FileError, match=r"or the folder of a result with run\.json in it"):
        describe(tmp_path)
    (tmp_path / "segments.npy").touch()
    assert describe(tmp_path)["meaning"] == "segments, of `slanted segment`"
    (tmp_path / "batch.lock").touch()
    assert str(describe(tmp_path)["meaning"]).startswith("results of `slanted batch`, a folder")
    (tmp_path / "summary.csv").write_text(SUMMARY)
    found = describe(tmp_path)
    assert {key: found[key] for key in COUNTS} == COUNTS
    assert found["format"] == "folder"
    record = tmp_path / "run.json"
    for text, known in (('{"segments": 7, "energy": null, "version": "1"}', True), ("[]", False)):
        record.write_text(text)
        found = describe(tmp_path)
        assert found["meaning"] == "result of slanted; `slanted view` shows it"
        assert (found.get("segments") == 7) is known
        assert "energy" not in found
    for broken in ("{", "[" * 100_000):
        record.write_text(broken)
        with pytest.raises(FileError, match="expected JSON"):
            describe(tmp_path)


def test_videos_are_described(tmp_path):
    file = tmp_path / "drive.avi"
    writer = cv2.VideoWriter(str(file), cv2.VideoWriter_fourcc(*"MJPG"), 20, (64, 48))
    for level in range(10):
        writer.write(np.full((48, 64, 3), 20 * level, np.uint8))
    writer.release()
    if not file.is_file():
        pytest.skip("this OpenCV writes no videos")
    found = describe(file)
    assert (found["width_pixels"], found["height_pixels"]) == (64, 48)
    assert (found["frames"], found["frames_a_second"], found["seconds"]) == (10, 20.0, 0.5)
    assert found["codec"] == "MJPG"
    assert "video" in found["meaning"]


def test_what_is_called_a_video_but_is_none(tmp_path):
    (tmp_path / "a.mp4").write_text("hello")
    with pytest.raises(FileError, match=r"a\.mp4: expected a video, as its name says"):
        describe(tmp_path / "a.mp4")
    with pytest.raises(FileError, match=r"b\.mp4"):
        describe(tmp_path / "b.mp4")
    # In a process of its own, since an FFmpeg that was used before is not silent.
    command = [sys.executable, "-m", "slanted", "info", str(tmp_path / "a.mp4")]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    assert said.returncode == 2
    assert said.stderr.count("\n") == 1
    assert "a.mp4: expected a video, as its name says, but OpenCV cannot read it" in said.stderr
