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
from slanted.settings import Settings

HEIGHT, WIDTH, HORIZON = 60, 120, 30
FAR = 0.5
"""Pixels; matches below 0.7 % of the width, 0.84, are far."""
WHITE, BLUE = (235, 235, 235), (150, 200, 235)


def view(colour=BLUE):
    """A smooth sky above textured ground that is far at the horizon and near below."""
    rng = np.random.default_rng(0)
    image = rng.integers(0, 160, (HEIGHT, WIDTH, 3), dtype=np.uint8)
    image[:HORIZON] = colour
    matched = np.full((HEIGHT, WIDTH), np.nan, np.float32)
    matched[HORIZON:] = FAR
    matched[HORIZON + 10 :] = 9
    return image, matched


def above(horizon=HORIZON):
    expected = np.zeros((HEIGHT, WIDTH), bool)
    expected[:horizon] = True
    return expected


@pytest.mark.parametrize("grey", [False, True])
@pytest.mark.parametrize("colour", [WHITE, BLUE])
def test_sky_is_what_is_bright_and_smooth_above_a_far_horizon(colour, grey):
    image, matched = view(colour)
    image = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY) if grey else image
    np.testing.assert_array_equal(find_sky(image, matched), above())


def test_16_bits_change_nothing():
    image, matched = view()
    np.testing.assert_array_equal(find_sky(image.astype(np.uint16) * 256, matched), above())


@pytest.mark.parametrize("factor", [7, 13])
def test_large_images_are_judged_at_a_fraction_of_their_size(factor):
    image, matched = (each.repeat(factor, 0).repeat(factor, 1) for each in view())
    image, matched = image[:-1, :-1], matched[:-1, :-1] * factor  # no multiple of the fraction
    found = find_sky(image, matched)
    assert found.shape == matched.shape
    horizon = HORIZON * factor
    assert found[: horizon - factor].all()
    assert not found[horizon + factor :].any()


def test_a_light_that_is_dim_changes_nothing():
    image, matched = view()
    np.testing.assert_array_equal(find_sky(image // 4, matched), above())


@pytest.mark.parametrize(
    "spoil",
    [
        lambda image, matched: image[:30].fill(90),
        lambda image, matched: image[:30, ::2].fill(180),
        lambda image, matched: np.copyto(image[:30], np.uint8([235, 195, 200])),
        lambda image, matched: matched[30:].fill(5),
        lambda image, matched: matched[30:].fill(np.nan),
        lambda image, matched: image[:10].fill(40),
    ],
    ids=["dark", "textured", "reddish", "near things around", "no match around", "no border"],
)
def test_what_only_resembles_sky_is_left_alone(spoil):
    image, matched = view(WHITE)
    spoil(image, matched)
    assert not find_sky(image, matched).any()


def test_matches_inside_the_sky_say_nothing():
    image, matched = view(WHITE)
    matched[:HORIZON] = 9
    np.testing.assert_array_equal(find_sky(image, matched), above())


def test_far_is_counted_from_infinity():
    image, matched = view(WHITE)
    assert not find_sky(image, matched + 20).any()
    np.testing.assert_array_equal(find_sky(image, matched + 20, 20.0), above())


@pytest.mark.parametrize(("red", "is_sky"), [(218, True), (219, False)])
def test_how_red_sky_may_be(red, is_sky):
    image, matched = view()
    image[:30] = (red, 205, 201)  # white is `red`, of which 8 % are 17.4 and 17.5
    assert find_sky(image, matched).any() == is_sky


@pytest.mark.parametrize(("disparity", "is_sky"), [(0.83, True), (0.85, False)])
def test_how_near_the_things_around_sky_may_be(disparity, is_sky):
    image, matched = view(WHITE)
    matched[matched == FAR] = disparity
    assert find_sky(image, matched).any() == is_sky


@pytest.mark.parametrize(("columns", "is_sky"), [(14, True), (8, False)])
def test_a_tenth_of_the_matches_around_must_be_far(columns, is_sky):
    image, matched = view(WHITE)
    matched[30:, columns:] = 9
    assert find_sky(image, matched).any() == is_sky


def test_wires_in_front_belong_to_the_sky_and_posts_do_not(monkeypatch):
    monkeypatch.setattr(rules, "THIN", 0.03)
    image, matched = view(WHITE)
    image[12:14] = 20
    image[:30, 50:60] = 20
    found = find_sky(image, matched)
    assert found[:29, :48].all()
    assert not found[:, 51:59].any()


def two_pieces(left, right, split=60):
    """Two pieces of sky, with a post between them; only the left one borders far things."""
    image, matched = view()
    image[:30, :split], image[:30, split:] = left, right
    image[:30, split - 5 : split + 5] = 20
    matched[30:, split:] = 9
    return image, matched


@pytest.mark.parametrize(
    ("left", "right", "is_sky"),
    [
        (BLUE, BLUE, True),
        (WHITE, WHITE, False),
        (BLUE, WHITE, False),
        (BLUE, (170, 205, 235), True),
        (BLUE, (60, 120, 235), False),
    ],
)
def test_a_blue_piece_among_near_things_is_sky_if_the_colour_is_the_same(left, right, is_sky):
    found = find_sky(*two_pieces(left, right))
    assert found[:29, :54].all()
    assert found[:29, 66:].all() == found[:29, 66:].any() == is_sky


@pytest.mark.parametrize(("colour", "is_sky"), [(BLUE, True), (WHITE, False)])
def test_a_blue_piece_with_far_things_around_need_not_touch_the_border(colour, is_sky):
    image, matched = two_pieces(colour, colour)
    matched[30:40] = FAR
    image[:6, 60:] = 20
    found = find_sky(image, matched)
    assert found[:29, :54].all()
    assert found[7:29, 66:].all() == found[:, 66:].any() == is_sky


def test_the_farther_piece_decides_about_the_colour():
    image, matched = two_pieces(WHITE, BLUE)
    matched[30:40, :60], matched[30:40, 60:] = 0.8, 0.1
    found = find_sky(image, matched)
    assert found[:29, 66:].all()
    assert not found[:, :54].any()


def test_a_small_patch_is_not_sky(monkeypatch):
    image, matched = view(WHITE)
    image[:, 10:] = 150
    image[30:] = view()[0][30:]
    monkeypatch.setattr(rules, "FEWEST", 1)
    monkeypatch.setattr(rules, "LEAST_AREA", 0.05)
    assert not find_sky(image, matched).any()
    monkeypatch.setattr(rules, "LEAST_AREA", 0.03)
    assert find_sky(image, matched)[:29, :8].all()


def test_it_equals_its_definition(monkeypatch):
    for name, value in {"THIN": 0.07, "AROUND": 0.12, "FEWEST": 3, "LEAST_AREA": 0.02}.items():
        monkeypatch.setattr(rules, name, value)
    rng = np.random.default_rng(3)
    palette = np.array([WHITE, BLUE, (140, 190, 225), (40, 60, 50), (120, 110, 90)])
    hits = 0
    for _ in range(60):
        kinds = rng.choice(5, (5, 5), p=[0.2, 0.25, 0.15, 0.25, 0.15]).repeat(5, 0).repeat(6, 1)
        noise = np.where(kinds < 3, 3, 40)[..., None]
        image = palette[kinds] + rng.integers(0, 1000, (25, 30, 3)) % noise
        image[:, rng.integers(30)] = 30
        matched = rng.choice([0.05, 0.15, 3], (5, 5)).repeat(5, 0).repeat(6, 1)
        matched = np.where(rng.random((25, 30)) < 0.3, np.nan, matched).astype(np.float32)
        found = find_sky(image.astype(np.uint8), matched)
        np.testing.assert_array_equal(found, naive_sky(image.astype(np.uint8), matched))
        hits += 0 < found.mean() < 1
    assert hits > 20


def test_a_synthetic_scene_has_no_sky_and_a_result_says_so(tmp_path):
    from slanted import Result
    from slanted.synthetic import make_scene

    scene = make_scene(96, 64, segments=40, seed=1)
    result = estimate(scene.left, scene.right)
    assert result.sky.shape == (64, 96)
    assert not result.sky.any()
    result.save(tmp_path)
    np.testing.assert_array_equal(Result.load(tmp_path).sky, result.sky)


def test_it_can_be_switched_off():
    from slanted.synthetic import make_scene

    scene = make_scene(96, 64, segments=40, seed=1)
    settings = Settings.preset("fast").with_text({"model.sky": "false"})
    assert estimate(scene.left, scene.right, settings).sky is None


def test_kitti_has_sky_in_the_upper_half(real_data):
    folder: Path = real_data("kitti2015") / "training"
    pair = [read_image(folder / view / "000176_10.png") for view in ("image_2", "image_3")]
    sky = estimate(*pair, Settings.preset("fast")).sky
    assert 0.15 < sky.mean() < 0.3
    assert not sky[len(sky) // 2 :].any()


def test_motorcycle_has_no_sky():
    from slanted.evaluation.motorcycle import load_motorcycle

    left, right, _ = load_motorcycle()
    assert not estimate(left, right, Settings.preset("fast")).sky.any()
