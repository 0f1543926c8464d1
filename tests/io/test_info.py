import json

import numpy as np
import pytest

from slanted.errors import FileError
from slanted.io import describe, write_disparity, write_image

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
