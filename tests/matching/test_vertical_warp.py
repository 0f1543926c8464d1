"""The vertical warp between the views: measured on a real pair that was moved, and undone."""

import dataclasses
import warnings

import cv2
import numpy as np
import pytest

from slanted import Settings, estimate
from slanted.errors import SlantedWarning
from slanted.evaluation.motorcycle import load_motorcycle
from slanted.matching.features import FeatureMatches, match_features
from slanted.matching.rectification import RectificationCheck, measure_rectification
from slanted.matching.vertical_warp import fit_vertical_warp, straighten
from slanted.pipeline import reestimate
from slanted.result import Result

LEFT, RIGHT, TRUTH = load_motorcycle()
HEIGHT, WIDTH = LEFT.shape[:2]
GRID = [each.ravel() for each in np.meshgrid(np.linspace(0, WIDTH, 9), np.linspace(0, HEIGHT, 7))]
AXES = np.array([[1, 0, WIDTH / 2], [0, 1, HEIGHT / 2], [0, 0, 1]])


def small_homography(rng):
    """A camera that is shifted, turned, longer or tilted by a little."""
    turned, longer = np.deg2rad(rng.uniform(-0.3, 0.3)), rng.uniform(-0.003, 0.003)
    tilted = rng.uniform(-1, 1, 2) / (WIDTH / 2) / WIDTH
    matrix = [
        [1 + longer, -turned, 0],
        [turned, 1 + longer, rng.uniform(-2, 2)],
        [*tilted, 1],
    ]
    return AXES @ np.array(matrix) @ np.linalg.inv(AXES)


def moved(image, matrix):
    size = image.shape[1::-1]
    return cv2.warpPerspective(
        image, matrix, size, flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE
    )


def vertical_field(matrix, columns, rows):
    """Rows by which points move, by their column afterwards and their row before."""
    before = columns.copy()
    for _ in range(10):
        x, y, z = matrix @ np.stack([before, rows, np.ones_like(rows)])
        before += columns - x / z
    return y / z - rows


def warp_of(left, right):
    features = match_features(left, right)
    return fit_vertical_warp(features, left.shape[1], left.shape[0])


@pytest.mark.parametrize("seed", range(10))
def test_small_warps_are_recovered(seed):
    matrix = small_homography(np.random.default_rng(seed))
    own = warp_of(LEFT, RIGHT).at(*GRID, WIDTH, HEIGHT)
    found = warp_of(LEFT, moved(RIGHT, matrix)).at(*GRID, WIDTH, HEIGHT)
    error = found - own - vertical_field(matrix, *GRID)
    assert np.sqrt(np.mean(error**2)) < 0.1


def test_a_good_pair_is_left_alone():
    found = measure_rectification(LEFT, RIGHT)
    assert found is not None
    assert found.warp is not None
    assert found.warp.rms < 0.2
    assert found.consistent_share > 0.8


def test_wrong_features_do_not_matter():
    rng = np.random.default_rng(3)
    left = rng.uniform((0, 0), (WIDTH, HEIGHT), (300, 2))
    right = left - np.column_stack([rng.uniform(0, 60, 300), np.zeros(300)])
    right[:, 1] += 1.5 - 0.002 * (right[:, 0] - WIDTH / 2) + rng.normal(0, 0.1, 300)
    right[:90] = rng.uniform((0, 0), (WIDTH, HEIGHT), (90, 2))
    warp = fit_vertical_warp(FeatureMatches(left, right), WIDTH, HEIGHT)
    expected = [1.5, -0.001 * WIDTH, 0, 0, 0]
    np.testing.assert_allclose(warp.coefficients, expected, atol=4 * warp.uncertainty + 0.02)
    assert warp.uncertainty < 0.05
    assert abs(warp.agreeing - 0.7) < 0.05


@pytest.mark.parametrize("change", [lambda x: 255 * (x / 255) ** 1.5, lambda x: x * 0.5])
def test_another_exposure_is_no_warp(change):
    other = np.uint8(np.rint(change(RIGHT.astype(float))))
    own, found = (warp_of(LEFT, right).at(*GRID, WIDTH, HEIGHT) for right in (RIGHT, other))
    assert np.sqrt(np.mean((found - own) ** 2)) < 0.1


@pytest.mark.parametrize(("rows", "degrees"), [(1.0, 0.0), (-2.5, 0.0), (0.0, 0.3)])
def test_straightening_undoes_the_move(rows, degrees):
    matrix = np.vstack([cv2.getRotationMatrix2D((WIDTH / 2, HEIGHT / 2), degrees, 1), [0, 0, 1]])
    matrix[1, 2] += rows
    wrong = moved(RIGHT, matrix)
    right = straighten(wrong, warp_of(LEFT, wrong))
    inside = slice(10, -10), slice(10, -10)
    before, after = (np.abs(each[inside].astype(float) - RIGHT[inside]).mean() for each in
                     (wrong, right))  # fmt: skip
    assert after < 0.45 * before


def test_bands_are_seamless(monkeypatch):
    from slanted.matching import vertical_warp

    wrong = np.roll(RIGHT, 2, axis=0)
    warp = warp_of(LEFT, wrong)
    whole = straighten(wrong, warp)
    monkeypatch.setattr(vertical_warp, "BAND", 17)
    np.testing.assert_array_equal(straighten(wrong, warp), whole)


@pytest.fixture(scope="module")
def small():
    """A pair of a quarter of the pixels, its right view two rows too low, and the truth."""
    size = WIDTH // 2, HEIGHT // 2
    left, right = (cv2.resize(each, size, interpolation=cv2.INTER_AREA) for each in (LEFT, RIGHT))
    truth = TRUTH[::2, ::2][: size[1], : size[0]] / 2
    return left, np.roll(right, 2, axis=0), truth


def errors(result, truth):
    known = np.isfinite(truth)
    return np.mean(np.abs(result.disparity[known] - truth[known]) > 3)


def test_a_pair_that_was_moved_comes_out_right(small, tmp_path):
    left, low, truth = small
    settings = Settings.preset("fast")
    with pytest.warns(SlantedWarning, match="straightened"):
        result = estimate(left, low, settings)
    assert result.rectification.corrected
    assert abs(result.rectification.warp.coefficients[0] - 2) < 0.1
    off = settings.with_text({"rectification.correct": "off"})
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        wrong = estimate(left, low, off)
    assert "not well rectified" in str(told[0].message)
    assert errors(result, truth) < 0.5 * errors(wrong, truth)
    assert not wrong.rectification.corrected
    # What comes after matching sees the same view.
    census = reestimate(result, left, low, settings, keep_segments=True).census
    np.testing.assert_array_equal(census.right, result.census.right)
    result.save(tmp_path / "saved")
    assert Result.load(tmp_path / "saved").rectification == result.rectification


@pytest.mark.parametrize("zoom", [1.004, 1.015])
def test_another_focal_length_moves_columns_too(small, zoom):
    left, low, truth = small
    right = np.roll(low, -2, axis=0)
    height, width = left.shape[:2]
    matrix = np.array([[zoom, 0, (1 - zoom) * width / 2], [0, zoom, (1 - zoom) * height / 2]])
    longer = cv2.warpAffine(right, matrix, (width, height), borderMode=cv2.BORDER_REPLICATE)
    settings = Settings.preset("fast")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = estimate(left, longer, settings)
    assert result.rectification.corrected
    assert errors(result, truth) < 1.2 * errors(estimate(left, right, settings), truth) + 0.005


def test_a_large_correction_is_told(small):
    left, low, _ = small
    with pytest.warns(SlantedWarning, match=r"off by (1\.9|2\.0) px \(rms\) and were str"):
        estimate(left, low, Settings.preset("fast"))


def test_always_and_off(small):
    left, low, _ = small
    high = np.roll(low, -2, axis=0)
    for correct, expected in (("auto", False), ("always", True), ("off", False)):
        settings = Settings.preset("fast").with_text({"rectification.correct": correct})
        result = estimate(left, high, settings)
        assert result.rectification.corrected is expected


def test_records_of_older_versions_are_read():
    old = {"matches": 40, "vertical_offset": 0.1, "vertical_median": 0.0, "vertical_spread": 0.2,
           "backward_share": 0.0}  # fmt: skip
    check = RectificationCheck.from_record(old)
    assert check.warp is None
    assert not check.corrected
    assert RectificationCheck.from_record(dataclasses.asdict(check)) == check
