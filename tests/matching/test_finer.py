"""Small pairs are matched on a finer grid, and the model follows."""

from dataclasses import replace

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_matching
import slanted
from slanted.evaluation.metrics import evaluate
from slanted.matching import DisparityRange, find_matches
from slanted.matching.finer import block_medians, find_finer
from slanted.pipeline import match_pair
from slanted.settings import MatchingSettings, Settings
from slanted.synthetic import make_scene

SEARCHED = DisparityRange(0, 32)
GUIDED = "matching.census.guided"


@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.floats(0, 1))
def test_medians_of_blocks_are_those_of_numpy(seed, side, unknown):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(3 * side, 2 * side)).astype(np.float32)
    values[rng.uniform(size=values.shape) < unknown] = np.nan
    expected = naive_matching.block_medians(values, side)
    np.testing.assert_allclose(block_medians(values, side), expected, rtol=1e-6)


def test_once_is_as_without():
    scene = make_scene(96, 64, segments=24, seed=1)
    pair = scene.left, scene.right
    found = find_finer(*pair, MatchingSettings(), SEARCHED, 1)
    expected = find_matches(*pair, MatchingSettings(), SEARCHED)
    np.testing.assert_array_equal(found.disparity, expected.disparity)


def test_all_maps_have_the_size_of_the_pair_and_fit_together():
    scene = make_scene(97, 65, segments=24, seed=1)
    found = find_finer(scene.left, scene.right, MatchingSettings(), SEARCHED, 2)
    assert found.confidence is not None
    for name in ("disparity", "confidence", "winner", "agrees", "margin"):
        assert getattr(found, name).shape == (65, 97)
    known = np.isfinite(found.disparity)
    assert known.mean() > 0.5
    assert (found.confidence[~known] == 0).all()
    assert np.isfinite(found.winner).all()
    assert found.winner.max() < SEARCHED.high


def test_an_enlarged_pair_is_led_by_its_own_size_guided_or_not():
    scene = make_scene(120, 80, segments=24, max_disparity=24, seed=3)
    found = [
        match_pair(scene.left, scene.right, Settings().updated({GUIDED: value}))[0]
        for value in (True, False)
    ]
    np.testing.assert_array_equal(*found)


def test_what_was_not_seen_at_the_own_size_is_not_searched():
    scene = make_scene(120, 80, segments=24, max_disparity=24, seed=3)
    asked = []

    def find(left, right, settings, searched):
        asked.append((left.shape[:2], searched))
        return find_matches(left, right, settings, searched)

    pair = scene.left, scene.right, MatchingSettings(), DisparityRange(0, 64), 2
    whole, guided = find_finer(*pair, find), find_finer(*pair)
    assert asked == [((160, 240), DisparityRange(0, 128))]
    both = np.isfinite(whole.disparity) & np.isfinite(guided.disparity)
    assert both.mean() > 0.5
    assert np.mean(np.abs(whole.disparity - guided.disparity)[both] < 0.5) > 0.99
    # Half a square around, a margin of 2 pixels, and numbers of disparities in steps of 8 pixels.
    beyond = cv2.dilate(find_matches(*pair[:4]).winner, np.ones((35, 35), np.uint8)) + 10.5
    assert (guided.winner <= beyond).all()
    assert (whole.winner > beyond).any()


def test_fractions_of_pixels_are_found_more_precisely():
    rng = np.random.default_rng(0)
    wide = cv2.GaussianBlur(rng.uniform(0, 255, (480, 960)), (0, 0), 5)
    wide = np.clip(128 + 6 * (wide - wide.mean()), 0, 255)
    step = 4 * 8 + 1  # a quarter of a pixel beyond 8
    left, right = (
        cv2.resize(view, None, fx=0.25, fy=0.25, interpolation=cv2.INTER_AREA).astype(np.uint8)
        for view in (wide[:, :-step], wide[:, step:])
    )
    errors = [
        np.nanmean(
            np.abs(find_finer(left, right, MatchingSettings(), SEARCHED, n).disparity - 8.25)
        )
        for n in (2, 1)
    ]
    assert errors[0] < errors[1]


def test_a_run_on_a_small_pair_is_closer_to_the_truth():
    scene = make_scene(160, 100, seed=7, max_disparity=20.0)
    rms = [
        evaluate(slanted.estimate(scene.left, scene.right, settings).disparity, scene.disparity)[
            "out-1px-all"
        ]
        for settings in (Settings(), Settings().with_text({"matching.census.finer": "1"}))
    ]
    assert rms[0] < rms[1]


def test_a_result_keeps_the_settings_of_the_run():
    scene = make_scene(96, 64, segments=24, seed=1)
    settings = Settings(seed=3)
    assert slanted.estimate(scene.left, scene.right, settings).settings == settings


@pytest.mark.parametrize("times", [1, 2])
def test_the_number_of_segments_follows_the_grid(times):
    scene = make_scene(150, 100, seed=1)
    rules = replace(Settings().refinement, rounds=0)
    settings = replace(Settings(), refinement=rules).with_text(
        {"matching.census.finer": str(times)}
    )
    count = slanted.estimate(scene.left, scene.right, settings).regions.count
    assert count == pytest.approx(150 * 100 * times**2 / 150, rel=0.1)
