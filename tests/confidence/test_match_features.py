"""Features of matches."""

import numpy as np
import pytest

from confidence.scenes import (
    features_of_matches,
    found,
    grey,
    match_inputs,
    scene,
    surface_with_a_hole,
)
from slanted.confidence.match_features import (
    CAP,
    MATCH_FEATURES,
    WIDE_CAP,
    typical_brightness,
    warped,
)
from slanted.runtime.threads import thread_limit

ROUNDED = {"contrast_31", "mismatch_5"}
"""Features that rounding to whole grey values, or of large sums, changes a little."""


@pytest.fixture(scope="module")
def features():
    return features_of_matches(match_inputs())


def test_every_feature_is_finite_and_says_something(features):
    assert len(set(MATCH_FEATURES)) == len(MATCH_FEATURES)
    for name, values in features.items():
        assert np.isfinite(values).all(), name
        assert np.ptp(values) > 0, name


def test_shares_and_differences_stay_in_their_ranges(features):
    for name in ("equal_11", "equal_31", "kept_11", "kept_61", "agrees_11", "agrees_31", "margin"):
        assert features[name].min() >= 0, name
        assert features[name].max() <= 1 + 1e-5, name
    for name in ("distance", "window_61", "spread_61"):
        assert features[name].min() >= 0, name
        assert features[name].max() <= CAP, name
    assert np.abs(features["offset_11"]).max() <= CAP
    for name in ("nearer_beside", "farther_above", "nearer_left", "step_5"):
        assert np.abs(features[name]).max() <= WIDE_CAP, name


def test_the_same_bytes_for_any_number_of_threads(features):
    for threads in (1, 2):
        with thread_limit(threads):
            again = features_of_matches(match_inputs())
        for name, values in features.items():
            assert values.tobytes() == again[name].tobytes(), name


def test_a_brighter_camera_changes_brightness_alone(features):
    dim = tuple(view // 2 for view in grey())
    bright = tuple(view + np.uint8(90) for view in dim)
    before, after = (features_of_matches(match_inputs(grey=views)) for views in (dim, bright))
    for name in set(MATCH_FEATURES) - ROUNDED - {"brightness"}:
        np.testing.assert_array_equal(before[name], after[name], err_msg=name)
    for name in ROUNDED:
        np.testing.assert_allclose(before[name], after[name], atol=0.05, err_msg=name)
    assert np.ptp(after["brightness"]) < np.ptp(before["brightness"])


def test_brightness_is_in_multiples_of_the_median(features):
    assert np.median(features["brightness"]) == pytest.approx(1, abs=0.1)
    lamp = np.full((40, 60), 50, np.uint8)
    lamp[:10] = 250
    assert typical_brightness(lamp) == 50
    assert typical_brightness(np.zeros((8, 8), np.uint8)) == 1


def test_nothing_depends_on_where_the_range_of_disparities_lies(features):
    """Both views cropped so that all disparities are 20 px less: the same scene to the matcher."""
    seen = match_inputs()
    shift = np.float32(20)
    moved = features_of_matches(
        match_inputs(winner=seen.winner - shift, kept=seen.kept - shift, low=seen.low - 20)
    )
    for name in set(MATCH_FEATURES) - {"mismatch_5"}:  # the right view has not moved
        np.testing.assert_allclose(moved[name], features[name], atol=2e-3, err_msg=name)


def test_a_hole_in_a_surface_lies_behind_it_on_all_sides():
    surface = surface_with_a_hole()
    features = features_of_matches(match_inputs(winner=surface, kept=surface))
    for name in ("nearer_beside", "nearer_above", "nearer_left", "nearer_right"):
        assert features[name][46, 74] == pytest.approx(20), name
        assert features[name][80, 20] == pytest.approx(0, abs=1e-4), name
    assert features["farther_beside"][46, 74] == pytest.approx(0, abs=1e-4)


def test_a_step_is_nearer_on_one_side_only():
    step = np.where(np.arange(150) < 75, 30, 10).astype(np.float32) * np.ones((93, 1), np.float32)
    features = features_of_matches(match_inputs(winner=step, kept=step))
    assert features["nearer_left"][46, 90] == pytest.approx(20)
    assert features["nearer_right"][46, 90] == pytest.approx(0, abs=1e-4)
    assert features["nearer_beside"][46, 90] == pytest.approx(0, abs=1e-4)
    assert features["farther_beside"][46, 60] == pytest.approx(0, abs=1e-4)
    assert features["step_5"][46, 75] == pytest.approx(20)


def test_a_step_is_nearer_above_only():
    step = np.repeat(np.where(np.arange(93) < 46, 30, 10)[:, None], 150, axis=1).astype(np.float32)
    features = features_of_matches(match_inputs(winner=step, kept=step))
    assert features["nearer_above"][60, 75] == pytest.approx(0, abs=1e-4)  # not below as well
    assert features["nearer_above_21"][50, 75] == pytest.approx(0, abs=1e-4)
    assert features["farther_above"][30, 75] == pytest.approx(0, abs=1e-4)
    assert features["nearer_left"][60, 75] == pytest.approx(0, abs=1e-4)


def test_a_match_far_from_its_surroundings_is_far_from_them():
    surface = np.full((93, 150), 12, np.float32)
    winner = surface.copy()
    winner[40:45, 70:75] = 19
    features = features_of_matches(match_inputs(winner=winner, kept=surface))
    assert features["distance"][42, 72] == pytest.approx(7)
    assert features["offset_11"][42, 72] == pytest.approx(7)
    assert features["window_61"][42, 72] == pytest.approx(7, abs=0.1)
    assert features["equal_11"][42, 72] == pytest.approx(1 - 25 / 121)
    assert features["distance"][10, 10] == 0
    winner[40:45, 70:75] = 5
    behind = features_of_matches(match_inputs(winner=winner, kept=surface))
    assert behind["offset_11"][42, 72] == pytest.approx(-7)
    assert features["equal_11"][10, 10] == pytest.approx(1)


def test_pixels_without_matches_around_have_no_offset():
    kept = np.full((93, 150), np.nan, np.float32)
    kept[:, :20] = 12
    features = features_of_matches(match_inputs(kept=kept))
    assert features["kept_11"][46, 100] == 0
    assert features["offset_11"][46, 100] == 0
    assert features["kept_11"][46, 8] == pytest.approx(1)
    for values in features.values():
        assert np.isfinite(values).all()


def test_one_match_is_enough():
    kept = np.full((93, 150), np.nan, np.float32)
    kept[30, 70] = 9
    for name, values in features_of_matches(match_inputs(kept=kept)).items():
        assert np.isfinite(values).all(), name


def test_the_right_view_is_moved_onto_the_left_one():
    left, right = grey()
    visible = ~scene().occluded
    difference = np.abs(warped(right, scene().disparity).astype(float) - left)[visible]
    assert np.median(difference) < 8  # noise of 3 grey values in both
    assert np.median(difference) < 0.5 * np.median(np.abs(right.astype(float) - left)[visible])


def test_right_matches_look_different_from_wrong_ones(features):
    wrong = np.abs(found().winner - scene().disparity) > 3
    assert 0.02 < wrong.mean() < 0.5
    for name, sign in (("distance", 1), ("equal_11", -1), ("agrees_11", -1), ("margin", -1)):
        means = features[name][wrong].mean(), features[name][~wrong].mean()
        assert sign * (means[0] - means[1]) > 0, name
