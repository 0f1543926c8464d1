"""Sky: found above a horizon, never indoors."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from model.sky_naive import naive_sky
from slanted.io import read_image
from slanted.model import sky as rules
from slanted.model.sky import find_sky
from slanted.pipeline import estimate
from slanted.regions import build_regions
from slanted.settings import Settings

HEIGHT, WIDTH = 60, 120


@pytest.fixture
def labels():
    """Squares of 10 pixels a side."""
    rows, columns = np.mgrid[:HEIGHT, :WIDTH] // 10
    return (rows * (WIDTH // 10) + columns).astype(np.int32)


def view(horizon=30):
    """A smooth bright sky above textured ground that has matches."""
    rng = np.random.default_rng(0)
    image = rng.integers(0, 160, (HEIGHT, WIDTH, 3), dtype=np.uint8)
    image[:horizon] = (200, 210, 235)
    matched = np.full((HEIGHT, WIDTH), 9, np.float32)
    matched[:horizon] = np.nan
    return image, matched


def above(horizon):
    expected = np.zeros((HEIGHT, WIDTH), bool)
    expected[:horizon] = True
    return expected


@pytest.mark.parametrize("grey", [False, True])
def test_sky_is_what_is_bright_and_smooth_above_the_horizon(labels, grey):
    image, matched = view()
    image = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY) if grey else image
    found = find_sky(image, build_regions(labels), matched)
    # The lowest squares of sky have the texture of the horizon.
    np.testing.assert_array_equal(found, above(20))


def test_16_bits_change_nothing(labels):
    image, matched = view()
    regions = build_regions(labels)
    np.testing.assert_array_equal(find_sky(image.astype(np.uint16) * 256, regions, matched),
                                  above(20))  # fmt: skip


@pytest.mark.parametrize(
    "spoil",
    [
        lambda image, matched: image[:30].fill(90),
        lambda image, matched: image[:30, ::2].fill(255),
        lambda image, matched: np.copyto(image[:30], np.uint8([235, 195, 200])),
        lambda image, matched: matched[:30].fill(5),
        lambda image, matched: image[:10].fill(40),
    ],
    ids=["dark", "textured", "reddish", "matched nearby", "below something dark"],
)
def test_what_only_resembles_sky_is_left_alone(labels, spoil):
    image, matched = view()
    spoil(image, matched)
    assert not find_sky(image, build_regions(labels), matched).any()


def test_matches_far_away_do_not_matter_and_depend_on_infinity(labels):
    image, matched = view()
    matched[:30] = 0.5
    regions = build_regions(labels)
    np.testing.assert_array_equal(find_sky(image, regions, matched), above(20))
    matched[:30] = 20.5
    assert not find_sky(image, regions, matched).any()
    np.testing.assert_array_equal(find_sky(image, regions, matched, 20.0), above(20))


@pytest.mark.parametrize(("red", "is_sky"), [(206, True), (207, False)])
def test_how_red_sky_may_be(labels, red, is_sky):
    image, matched = view()
    image[:30] = (red, 205, 200)
    assert find_sky(image, build_regions(labels), matched).any() == is_sky


@pytest.mark.parametrize(("disparity", "is_sky"), [(0.6, True), (0.61, False)])
def test_how_near_matches_of_sky_may_be(labels, disparity, is_sky):
    image, matched = view()
    matched[:30] = disparity  # far is up to 0.5 % of a width of 120 pixels
    assert find_sky(image, build_regions(labels), matched).any() == is_sky


def test_a_narrow_gap_is_not_sky(labels, monkeypatch):
    image, matched = view()
    image[:, 10:] = 150
    monkeypatch.setattr(rules, "WIDE", 0.1)
    assert not find_sky(image, build_regions(labels), matched).any()
    monkeypatch.setattr(rules, "WIDE", 0.08)
    assert find_sky(image, build_regions(labels), matched)[:20, :10].all()


@pytest.mark.parametrize("at_a_time", [2**20, 100])
def test_it_equals_its_definition(at_a_time, monkeypatch):
    monkeypatch.setattr(rules, "PIXELS_AT_A_TIME", at_a_time)
    rng = np.random.default_rng(3)
    hits = 0
    for _ in range(30):
        labels = np.repeat(np.repeat(rng.permutation(24).reshape(4, 6), 5, 0), 5, 1)
        labels = np.unique(labels, return_inverse=True)[1].reshape(20, 30).astype(np.int32)
        regions = build_regions(labels)
        image = (rng.choice([150, 185, 190], regions.count)[labels][..., None]
                 + rng.integers(0, 6, (20, 30, 3))).astype(np.uint8)  # fmt: skip
        matched = np.where(rng.random((20, 30)) < 0.85, np.nan, 4).astype(np.float32)
        found = find_sky(image, regions, matched)
        np.testing.assert_array_equal(found, naive_sky(image, labels, matched))
        hits += 0 < found.mean() < 1
    assert hits > 10


def test_a_synthetic_scene_has_no_sky_and_a_result_says_so(tmp_path):
    from slanted import Result
    from slanted.synthetic import make_scene

    scene = make_scene(96, 64, segments=40, seed=1)
    result = estimate(scene.left, scene.right)
    assert result.sky.shape == (64, 96)
    assert not result.sky.any()
    result.save(tmp_path)
    np.testing.assert_array_equal(Result.load(tmp_path).sky, result.sky)


def test_kitti_has_sky_in_the_upper_half(real_data):
    folder: Path = real_data("kitti2015") / "training"
    pair = [read_image(folder / view / "000176_10.png") for view in ("image_2", "image_3")]
    sky = estimate(*pair, Settings.preset("fast")).sky
    assert 0.05 < sky.mean() < 0.3
    assert not sky[len(sky) // 2 :].any()
