"""What a pair's noise and compression are, and that matching follows them."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

import slanted
from slanted.evaluation.metrics import evaluate
from slanted.matching import DisparityRange, find_matches, match, run_matcher
from slanted.matching.noise import block_steps, calmed, follow_noise, noise_of
from slanted.runtime.workers import Sequential
from slanted.settings import CensusSettings, MatchingSettings
from slanted.synthetic import make_scene
from slanted.tiles.bands import match_census

SEARCHED = DisparityRange(0, 48)


@pytest.fixture(scope="module")
def scene():
    return make_scene(320, 200, seed=3, max_disparity=40.0)


def noisy(image, sigma, seed):
    noise = np.random.default_rng(seed).normal(0, sigma, image.shape)
    return np.clip(np.rint(image + noise), 0, 255).astype(np.uint8)


def compressed(image, quality):
    data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, quality])[1]
    return cv2.imdecode(data, cv2.IMREAD_UNCHANGED)


def ramp(height=90, width=120):
    return np.add.outer(np.arange(height), np.arange(width)).astype(np.uint8) // 2 + 60


@pytest.mark.parametrize("sigma", [2.0, 5.0, 10.0])
def test_the_noise_of_a_smooth_image_is_found(sigma):
    assert noise_of(noisy(ramp(), sigma, 1)) == pytest.approx(sigma, rel=0.1)


def test_a_few_edges_are_no_noise():
    image = np.full((90, 120), 100, np.uint8)
    image[::20] = 200
    assert noise_of(image) == 0


def test_white_and_black_where_noise_is_cut_off_do_not_count():
    image = np.full((160, 160), 100)
    image[:, 40:] = 255
    image[100:, 40:] = 0
    assert noise_of(noisy(image, 6, 1)) == pytest.approx(6, rel=0.1)


def test_steps_between_blocks_are_those_of_jpeg_alone():
    grey = cv2.GaussianBlur(noisy(np.full((120, 200), 128), 40, 2), (0, 0), 1.5)
    assert abs(block_steps(grey)) < 0.5
    assert block_steps(compressed(grey, 20)) > 2
    # The same picture off the grid of blocks.
    assert block_steps(np.ascontiguousarray(compressed(grey, 20)[:, 3:])) < 1


@pytest.mark.parametrize("size", [(1, 1), (2, 40), (40, 2), (3, 15)])
def test_tiny_images_have_neither(size):
    image = np.full(size, 9, np.uint8)
    assert noise_of(image) == block_steps(image) == 0


def test_clean_pairs_are_matched_as_without_smoothing(scene):
    settings = MatchingSettings()
    found = follow_noise(scene.left, scene.right, settings)
    assert found == replace(settings, census=replace(settings.census, smoothing=0.0))


def test_smoothing_follows_the_noise_of_either_view_and_p1_follows(scene):
    settings = MatchingSettings()
    found = [
        follow_noise(scene.left, noisy(scene.right, sigma, 1), settings).census
        for sigma in (6, 7, 20)
    ]
    smoothing = [each.smoothing for each in found]
    assert 0 < smoothing[0] < smoothing[1] < smoothing[2] <= 1.4
    assert all(each.p1 == 2 * settings.census.p1 for each in found)
    given = replace(settings, census=CensusSettings(smoothing=0.5))
    assert follow_noise(scene.left, noisy(scene.right, 20, 1), given) is given


def test_p1_stays_below_the_least_p2(scene):
    settings = MatchingSettings(census=CensusSettings(p1=50, p2_min=80))
    found = follow_noise(noisy(scene.left, 20, 0), noisy(scene.right, 20, 1), settings)
    assert found.census.p1 == 80


def test_noisy_pairs_are_matched_better(scene):
    pair = noisy(scene.left, 25, 0), noisy(scene.right, 25, 1)
    rough = MatchingSettings(census=CensusSettings(smoothing=0.0))
    wrong = [
        evaluate(match(*pair, settings, SEARCHED), scene.disparity)["out-3px-all"]
        for settings in (MatchingSettings(), rough)
    ]
    assert wrong[0] < 0.9 * wrong[1]


def test_bands_of_a_smoothed_pair_are_those_of_the_whole(scene, monkeypatch):
    monkeypatch.setattr("slanted.matching.search_bands.BAND_BYTES", 3_500_000)
    pair = noisy(scene.left, 20, 0), noisy(scene.right, 20, 1)
    unguided = MatchingSettings(census=CensusSettings(guided=False))
    settings = follow_noise(*pair, unguided)
    whole = find_matches(*pair, settings, SEARCHED)
    parts, _ = match_census(*pair, settings, SEARCHED, backend=Sequential(1), with_confidence=False)
    np.testing.assert_array_equal(whole.disparity, parts)


def test_the_matcher_itself_does_not_smooth_unless_told(scene):
    pair = noisy(scene.left, 20, 0), noisy(scene.right, 20, 1)
    rough = MatchingSettings(census=CensusSettings(smoothing=0.0))
    auto = run_matcher(*pair, SEARCHED, MatchingSettings()).disparity
    np.testing.assert_array_equal(auto, run_matcher(*pair, SEARCHED, rough).disparity)


def test_noise_alone_is_not_smoothed():
    pair = noisy(np.full((80, 90), 128), 40, 0), noisy(np.full((80, 90), 128), 40, 1)
    assert follow_noise(*pair, MatchingSettings()).census.smoothing == 0


def test_of_a_large_image_the_middle_tells_the_noise(monkeypatch):
    monkeypatch.setattr("slanted.matching.noise.MOST_SIDE", 64)
    calm = np.full((200, 216), 100)
    calm[:, ::20] = 160
    rough = calm.astype(np.uint8)
    rough[68:132, 72:136] = noisy(calm[68:132, 72:136], 8, 1)
    settings = MatchingSettings()
    assert follow_noise(rough, rough, settings).census.smoothing > 0
    rough = noisy(calm, 8, 1)
    rough[64:136, 64:144] = calm[64:136, 64:144]
    assert follow_noise(rough, rough, settings).census.smoothing == 0


def test_all_stages_see_a_smoothed_pair_if_it_is_noisy(scene):
    settings = MatchingSettings()
    pair = noisy(scene.left, 20, 0), noisy(scene.right, 20, 1)
    *views, found = calmed(*pair, settings)
    for view, image in zip(views, pair, strict=True):
        assert view.shape == image.shape
        assert noise_of(view[..., 0]) < 0.5 * noise_of(image[..., 0])
    # What is left for the matcher makes up the smoothing that it would have done itself.
    alone = follow_noise(*pair, settings).census
    assert 0 < found.census.smoothing < alone.smoothing
    assert found.census.p1 == alone.p1
    given = replace(settings, census=CensusSettings(smoothing=1.0))
    assert calmed(*pair, given) == (*pair, given)


def test_clean_and_compressed_pairs_stay_as_they_are(scene):
    for pair in (
        (scene.left, scene.right),
        (compressed(scene.left, 5), compressed(scene.right, 5)),
    ):
        found = calmed(*pair, MatchingSettings())
        assert found[0] is pair[0]
        assert found[1] is pair[1]
    assert found[2].census.smoothing > 0


def test_a_run_on_a_noisy_pair_keeps_its_settings(scene):
    pair = noisy(scene.left, 20, 0), noisy(scene.right, 20, 1)
    assert slanted.estimate(*pair).settings == slanted.Settings()
