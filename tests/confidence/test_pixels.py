"""Confidence and deviation of a result's pixels, in bands of rows."""

from dataclasses import replace

import numpy as np
import pytest

import slanted
from confidence.scenes import (
    SETTINGS,
    features_of,
    grey,
    judgement,
    result,
    scene,
    seen_choices,
    seen_plain,
    seen_result,
)
from slanted.confidence import pixels
from slanted.confidence.features import names_of
from slanted.confidence.pixels import bands_of_features, judge_pixels, thin_rows
from slanted.confidence.scene import Choices, Seen
from slanted.confidence.weights import weights_of
from slanted.evaluation.confidence import evaluate_confidence
from slanted.images.colour import grey_pair
from slanted.model.evidence import Judgement
from slanted.runtime.threads import thread_limit
from slanted.synthetic import make_scene


def judged(trees=None):
    made = result()
    maps = made.disparity, made.matched, made.occluded
    trees = trees or weights_of(SETTINGS.confidence)
    seen = maps, made.regions, made.inference, grey()
    return judge_pixels(*seen, SETTINGS, trees, judgement())


def test_fewer_rows_and_columns_are_judged_alike_and_interpolated():
    made = result()
    maps = made.disparity, made.matched, made.occluded
    trees = weights_of(SETTINGS.confidence)
    seen = maps, made.regions, made.inference, grey()
    some = judge_pixels(*seen, SETTINGS, trees, judgement(), 2)
    for few, all_of_them in zip(some, judged(trees), strict=True):
        np.testing.assert_allclose(few[::4, ::4], all_of_them[::4, ::4], rtol=1e-5)
        between = (few[:-4:4, ::4] + few[4::4, ::4]) / 2
        np.testing.assert_allclose(few[2:-2:4, ::4][: len(between)], between, rtol=1e-4)


def judged_alone(trees):
    """The same without first choices."""
    made = result()
    maps = made.disparity, made.matched, made.occluded
    return judge_pixels(maps, made.regions, made.inference, grey(), SETTINGS, trees)


def test_confidence_is_a_chance_and_the_deviation_a_length():
    confidence, deviation = judged()
    assert confidence.shape == deviation.shape == scene().disparity.shape
    assert confidence.dtype == deviation.dtype == np.float32
    assert confidence.min() >= 0
    assert confidence.max() <= 1
    assert deviation.min() > 0
    assert np.isfinite(deviation).all()


def test_the_same_bytes_every_time_and_for_any_number_of_threads():
    found = []
    for threads in (1, 2, 2):
        with thread_limit(threads):
            found.append([values.tobytes() for values in judged()])
    assert found[0] == found[1] == found[2]


def test_it_is_lower_where_the_disparity_is_wrong():
    for confidence in (result().confidence, judged_alone(weights_of(SETTINGS.confidence))[0]):
        scores = evaluate_confidence(result().disparity, scene().disparity, confidence)
        assert scores.metrics["AUC-all"] > 0.8


def test_maps_are_those_of_the_trees():
    def constant(forest, score):
        return replace(forest, bias=score, value=np.zeros_like(forest.value))

    trees = weights_of(SETTINGS.confidence)
    pixels, deviation = constant(trees.pixels, np.log(1 / 3)), constant(trees.deviation, np.log(4))
    confidence, length = judged(replace(trees, pixels=pixels, deviation=deviation))
    np.testing.assert_allclose(confidence, 0.75, rtol=1e-5)  # one wrong to three right
    np.testing.assert_allclose(length, 2, rtol=1e-5)  # of a variance of 4
    plain = constant(trees.plain, np.log(1 / 4))
    confidence, length = judged_alone(replace(trees, plain=plain, deviation=deviation))
    np.testing.assert_allclose(confidence, 0.8, rtol=1e-5)
    np.testing.assert_allclose(length, 2, rtol=1e-5)


def test_deviations_stay_finite_whatever_the_trees_say():
    trees = weights_of(SETTINGS.confidence)
    wild = replace(trees, deviation=replace(trees.deviation, bias=1e6))
    np.testing.assert_allclose(judged(wild)[1], np.exp(10), rtol=1e-5)


@pytest.mark.parametrize("seen_of", [seen_result, seen_plain, seen_choices])
def test_one_band_has_the_features_of_the_whole(seen_of):
    made, seen = result(), seen_of()
    [(rows, first, found)] = bands_of_features(seen, made.regions, made.inference, 0.0)
    assert (rows, first) == (slice(0, 93), 0)
    expected = features_of(seen.thinned(slice(None)), seen)
    for one, other in zip(found, expected.values(), strict=True):
        np.testing.assert_array_equal(one, other)


def all_features(made, seen):
    names = names_of(seen)
    found = np.full((len(names), *made.disparity[::2, ::2].shape), np.nan, np.float32)
    bands = 0
    for rows, first, some in bands_of_features(seen, made.regions, made.inference, 0.0):
        place, inside = thin_rows(rows, first)
        assert np.isnan(found[:, place]).all()
        found[:, place] = some[:, inside]
        bands += 1
    assert not np.isnan(found).any()
    return dict(zip(names, found, strict=True)), bands


@pytest.fixture(scope="module")
def tall():
    """A result of 408 rows: some of its bands begin between two rows of the coarse grid."""
    made = make_scene(64, 408, objects=3, max_disparity=20, noise=3.0, seed=2)
    settings = SETTINGS.with_text({"matching.max_disparity": "24"})
    return slanted.estimate(made.left, made.right, settings), grey_pair(made.left, made.right)


@pytest.mark.parametrize("kind", ["result", "plain", "choices"])
@pytest.mark.parametrize("count", [2, 3, 5])
def test_bands_have_the_features_of_the_whole(tall, monkeypatch, count, kind):
    made, views = tall
    rough = made.disparity + np.random.default_rng(1).normal(0, 1, made.disparity.shape)
    choices = rough.astype(np.float32), made.occluded, made.disparity / 24
    maps = made.disparity, made.matched, made.occluded
    beside = Judgement(choices[0], made.matched, np.abs(choices[0]) % 1, *choices[1:])
    seen = Seen.result(maps, made.regions, views, beside if kind == "result" else None)
    if kind == "choices":
        known = Choices.of(choices[0], made.matched, *choices[1:], views)
        seen = Seen.first_choices(known, made.regions, made.inference)
    whole, one = all_features(made, seen)
    monkeypatch.setattr(pixels, "BAND_PIXELS", -(-64 * 408 // count))
    banded, several = all_features(made, seen)
    assert (one, several) == (1, count)
    for name, values in whole.items():
        # Not the same bits: OpenCV's means are running sums, which round from where they start.
        np.testing.assert_allclose(banded[name], values, rtol=1e-4, atol=2e-3, err_msg=name)


def test_maps_in_bands_are_those_of_the_whole(tall, monkeypatch):
    """Interpolation sees the same pixels on both sides of a seam."""
    made, views = tall
    maps = made.disparity, made.matched, made.occluded
    trees = weights_of(SETTINGS.confidence)

    def judged_here():
        return judge_pixels(maps, made.regions, made.inference, views, SETTINGS, trees)

    whole = judged_here()
    monkeypatch.setattr(pixels, "BAND_PIXELS", 64 * 408 // 5 + 1)
    for one, other in zip(judged_here(), whole, strict=True):
        # A feature that rounds to the other side of a threshold changes its leaf.
        assert np.mean(np.abs(one - other) > 1e-3) < 0.01
