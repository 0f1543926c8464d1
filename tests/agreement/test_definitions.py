"""Our metrics are those of the benchmarks, as their papers and kits define them.

The definitions, in our words. KITTI keeps disparities as 16-bit PNG, 256 levels a pixel, 0 for
unknown. Holes of an estimate are filled from the background before it is scored. 2012 counts the
share of pixels with ground truth whose error is more than τ pixels, τ = 2 … 5; 2015 (D1) those
whose error is more than 3 pixels and more than 5 % of the true disparity. Both are scored twice, on
a map of pixels seen by both cameras and on a map of all. Middlebury keeps PFM, infinite for unknown,
and a mask that is 255 where both cameras see a pixel; "bad k" is the share of pixels with an error
of more than k, a pixel without an estimate is bad, and the average error leaves such pixels out.
Here these are computed on the files' own numbers, one pixel after the other, with other readers.
"""

import cv2
import numpy as np
import pytest
from PIL import Image

from matching.test_interpolation import naive_interpolation
from slanted.evaluation import evaluate
from slanted.io import read_disparity, read_image, write_disparity
from slanted.matching.interpolation import interpolate_background

SIZE = (23, 31)


def levels(seed, unknown):
    """A 16-bit map, and an estimate that is off by anything, often by exactly 3 pixels or 5 %."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(20 * 256, 200 * 256, SIZE) // 20 * 20
    off = rng.choice((0, 255, 512, 768, 769, -768, 1024, 1280, 3000, -1281), SIZE)
    exact = rng.random(SIZE) < 0.3
    off[exact] = (truth // 20)[exact]
    estimate = np.clip(truth + off, 1, 65535)
    truth[rng.random(SIZE) < 0.4] = 0
    estimate[rng.random(SIZE) < unknown] = 0
    return truth.astype(np.uint16), estimate.astype(np.uint16)


@pytest.mark.parametrize("seed", range(8))
def test_kitti(tmp_path, seed):
    truth, estimate = levels(seed, unknown=0.2)
    noc = truth.copy()
    noc[np.random.default_rng(seed + 99).random(SIZE) < 0.3] = 0
    for name, stored in (("all", truth), ("noc", noc), ("estimate", estimate)):
        assert cv2.imwrite(str(tmp_path / f"{name}.png"), stored)
    files = {name: read_disparity(tmp_path / f"{name}.png") for name in ("all", "noc", "estimate")}
    ours = evaluate(
        interpolate_background(files["estimate"]), files["all"], ground_truth_noc=files["noc"]
    )
    # The kit's own fill, on 16-bit levels.
    holes = np.where(estimate == 0, np.nan, estimate.astype(float))
    filled = naive_interpolation(holes).astype(np.int64)
    for name, stored in (("all", truth), ("noc", noc)):
        errors = [
            (abs(int(filled[v, u]) - int(stored[v, u])), int(stored[v, u]))
            for v in range(SIZE[0])
            for u in range(SIZE[1])
            if stored[v, u] > 0
        ]
        for k in (2, 3, 4, 5):
            bad = sum(error > 256 * k for error, _ in errors)
            assert ours[f"out-{k}px-{name}"] == pytest.approx(100 * bad / len(errors), abs=1e-12)
        bad = sum(error > 3 * 256 and 20 * error > true for error, true in errors)
        assert ours[f"D1-{name}"] == pytest.approx(100 * bad / len(errors), abs=1e-12)
        mean = sum(error for error, _ in errors) / 256 / len(errors)
        assert ours[f"epe-{name}"] == pytest.approx(mean, rel=1e-12)


def pfm(path):
    """The reader of Middlebury's page in a few lines: three lines of text, rows from the bottom."""
    with path.open("rb") as file:
        assert file.readline().strip() == b"Pf"
        width, height = map(int, file.readline().split())
        assert float(file.readline()) < 0
        return np.frombuffer(file.read(), "<f4").reshape(height, width)[::-1]


@pytest.mark.parametrize("seed", range(8))
def test_middlebury(tmp_path, seed):
    rng = np.random.default_rng(seed)
    truth = (rng.integers(40, 1600, SIZE) / 8).astype(np.float32)
    estimate = truth + rng.choice((0, 0.5, 1, 1.125, -2, 2.5, 4, 4.125, 30), SIZE).astype(
        np.float32
    )
    truth[rng.random(SIZE) < 0.2] = np.inf
    estimate[rng.random(SIZE) < 0.1] = np.inf
    mask = rng.choice(np.array([0, 128, 255], np.uint8), SIZE)
    write_disparity(tmp_path / "disp0GT.pfm", truth)
    write_disparity(tmp_path / "estimate.pfm", estimate)
    cv2.imwrite(str(tmp_path / "mask0nocc.png"), mask)
    theirs, found = pfm(tmp_path / "disp0GT.pfm"), pfm(tmp_path / "estimate.pfm")
    np.testing.assert_array_equal(theirs, truth)
    visible = read_image(tmp_path / "mask0nocc.png") == 255
    ours = evaluate(
        read_disparity(tmp_path / "estimate.pfm"),
        read_disparity(tmp_path / "disp0GT.pfm"),
        ground_truth_noc=visible,
    )
    for name in ("all", "noc"):
        bad, errors, total = dict.fromkeys((1, 2, 4), 0), [], 0
        for v in range(SIZE[0]):
            for u in range(SIZE[1]):
                if np.isinf(theirs[v, u]) or (name == "noc" and mask[v, u] != 255):
                    continue
                total += 1
                error = abs(float(found[v, u]) - float(theirs[v, u]))
                for k in bad:
                    bad[k] += error > k  # an infinite error, too
                if np.isfinite(error):
                    errors.append(error)
        for k, count in bad.items():
            assert ours[f"out-{k}px-{name}"] == pytest.approx(100 * count / total, abs=1e-12)
        assert ours[f"epe-{name}"] == pytest.approx(np.mean(errors), rel=1e-12)
        assert ours[f"rms-{name}"] == pytest.approx(np.sqrt(np.mean(np.square(errors))), rel=1e-12)


def test_kittis_levels_are_pillows_and_opencvs(tmp_path):
    disparity = (np.arange(1, 1 + SIZE[0] * SIZE[1]).reshape(SIZE) / 7).astype(np.float32)
    disparity[3, 4:9] = np.nan
    write_disparity(tmp_path / "d.png", disparity)
    expected = np.where(np.isnan(disparity), 0, np.rint(np.nan_to_num(disparity) * 256.0))
    stored = cv2.imread(str(tmp_path / "d.png"), cv2.IMREAD_UNCHANGED)
    assert stored.dtype == np.uint16
    np.testing.assert_array_equal(stored, expected)
    with Image.open(tmp_path / "d.png") as picture:
        np.testing.assert_array_equal(np.asarray(picture), expected)
