"""Label images in and out."""

import cv2
import numpy as np
import pytest

from slanted.errors import FileError
from slanted.io import read_label_image, write_label_image

LABELS = np.arange(12, dtype=np.int32).reshape(3, 4) * 30000


def test_npy_round_trip(tmp_path):
    write_label_image(tmp_path / "x.npy", LABELS)
    found = read_label_image(tmp_path / "x.npy")
    assert found.dtype == np.int32
    np.testing.assert_array_equal(found, LABELS)


@pytest.mark.parametrize("suffix", [".png", ".tiff", ".pgm"])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_grey_images(tmp_path, suffix, dtype):
    labels = (LABELS // 30000 * (21 if dtype is np.uint8 else 5000)).astype(dtype)
    cv2.imwrite(str(tmp_path / f"x{suffix}"), labels)
    np.testing.assert_array_equal(read_label_image(tmp_path / f"x{suffix}"), labels)


def test_colours_and_fractions_are_refused(tmp_path):
    cv2.imwrite(str(tmp_path / "colour.png"), np.arange(60, dtype=np.uint8).reshape(4, 5, 3))
    np.save(tmp_path / "float.npy", np.ones((3, 4)))
    cv2.imwrite(str(tmp_path / "lossy.jpg"), np.arange(60, dtype=np.uint8).reshape(6, 10))
    for name in ("colour.png", "float.npy", "lossy.jpg"):
        with pytest.raises(FileError, match=rf"{name}: expected a label image"):
            read_label_image(tmp_path / name)
