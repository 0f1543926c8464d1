"""Features of a result's pixels."""

import numpy as np
import pytest

from confidence.scenes import (
    features_of_pixels,
    grey,
    pixel_inputs,
    result,
    surface_with_a_hole,
)
from slanted.confidence.pixel_features import (
    CAP,
    IN_VIEW_CAP,
    PIXEL_FEATURES,
    THIN,
    UNMATCHED,
    describe_scene,
    mismatch,
    pixel_features,
)
from slanted.runtime.threads import thread_limit

ROUNDED = {"contrast_31", "image_mismatch", "mismatch_5", "segment_mismatch"}
"""Features that rounding to whole grey values, or of large sums, changes a little."""


@pytest.fixture(scope="module")
def features():
    return features_of_pixels(pixel_inputs())


def test_every_feature_is_finite_and_says_something(features):
    assert len(set(PIXEL_FEATURES)) == len(PIXEL_FEATURES)
    for name, values in features.items():
        assert np.isfinite(values).all(), name
        assert (np.ptp(values) > 0) != name.startswith("image_"), name


def test_features_of_the_image_are_its_means(features):
    made, seen = result(), pixel_inputs()
    thin = slice(None, None, THIN), slice(None, None, THIN)
    known = np.isfinite(made.matched[thin])
    off = np.minimum(np.abs(made.matched - made.disparity)[thin][known], 5)
    assert features["image_matched"][0, 0] == pytest.approx(known.mean())
    assert features["image_residual"][0, 0] == pytest.approx(off.mean(), rel=1e-4)
    assert features["image_mismatch"][0, 0] == pytest.approx(seen.mismatch[thin].mean(), rel=1e-4)


def test_the_same_bytes_for_any_number_of_threads(features):
    for threads in (1, 2):
        with thread_limit(threads):
            again = features_of_pixels(pixel_inputs())
        for name, values in features.items():
            assert values.tobytes() == again[name].tobytes(), name


def test_a_brighter_camera_changes_brightness_alone():
    dim = tuple(view // 2 for view in grey())
    bright = tuple(view + np.uint8(90) for view in dim)
    before, after = (
        features_of_pixels(
            pixel_inputs(grey=views[0], mismatch=mismatch(views, result().disparity))
        )
        for views in (dim, bright)
    )
    for name in set(PIXEL_FEATURES) - ROUNDED - {"brightness"}:
        np.testing.assert_allclose(before[name], after[name], rtol=1e-6, err_msg=name)
    for name in ROUNDED:
        np.testing.assert_allclose(before[name], after[name], atol=0.05, err_msg=name)
    assert np.ptp(after["brightness"]) < np.ptp(before["brightness"])


def test_a_hole_in_a_surface_lies_behind_it_on_all_sides():
    features = features_of_pixels(pixel_inputs(disparity=surface_with_a_hole()))
    for name in ("nearer_beside", "nearer_above", "nearer_left", "nearer_right"):
        assert features[name][46, 74] == pytest.approx(20), name
        assert features[name][80, 20] == pytest.approx(0, abs=1e-4), name
    assert features["step_11"][46, 62] == pytest.approx(20)
    assert features["step_11"][46, 74] == 0


def test_residuals_are_those_of_matches_and_others_are_marked():
    flat = np.full((93, 150), 12, np.float32)
    matched = np.full((93, 150), np.nan, np.float32)
    matched[:, :75] = 12
    matched[46, 30], matched[46, 60] = 14.5, 90
    features = features_of_pixels(pixel_inputs(disparity=flat, matched=matched))
    assert (features["residual"][:, 75:] == UNMATCHED).all()
    assert features["residual"][46, 30] == pytest.approx(2.5)
    assert features["residual"][46, 60] == CAP
    assert features["residual"][10, 10] == 0
    assert features["residual_11"][46, 30] == pytest.approx(2.5 / 25)
    assert features["matched_11"][46, 100] == 0
    assert features["matched_11"][46, 20] == pytest.approx(1)
    assert features["residual_11"][46, 100] == 0


def test_no_match_at_all_is_no_trouble():
    nothing = np.full((93, 150), np.nan, np.float32)
    for name, values in features_of_pixels(pixel_inputs(matched=nothing)).items():
        assert np.isfinite(values).all(), name


def test_columns_count_from_the_border_of_the_right_view():
    flat = np.full((93, 150), 12, np.float32)
    features = features_of_pixels(pixel_inputs(disparity=flat))
    assert features["in_view"][5, 0] == -12
    assert features["in_view"][5, 15] == 18  # column 30 of the image
    assert features["in_view"][5, 149] == IN_VIEW_CAP


def test_pixels_know_their_segment():
    made, seen = result(), pixel_inputs()
    features = features_of_pixels(seen)
    labels = made.regions.label_image
    thin = np.zeros(labels.shape, bool)
    thin[::THIN, ::THIN] = True  # what is measured of a segment
    for segment in (0, 7, made.regions.count - 1):
        inside = labels == segment
        seen_there = inside & thin
        known = seen_there & np.isfinite(made.matched)
        share = known.sum() / max(seen_there.sum(), 1)
        assert features["segment_matched"][inside] == pytest.approx(share)
        off = np.minimum(np.abs(made.matched - made.disparity)[known], 5)
        expected = off.sum() / max(known.sum(), 1)
        assert features["segment_residual"][inside] == pytest.approx(expected, rel=1e-4)
        assert features["segment_mismatch"][inside] == pytest.approx(
            seen.mismatch[seen_there].mean(), rel=1e-4
        )
        relative = inside.sum() / (labels.size / made.regions.count)
        assert features["segment_size"][inside] == pytest.approx(np.log(relative), abs=1e-4)
        margin = min(np.log1p(made.margins[segment] / relative), 20)
        assert features["segment_margin"][inside] == pytest.approx(margin, abs=1e-4)
        assert features["slope_x"][inside] == pytest.approx(abs(made.planes[segment, 0]), rel=1e-5)
        assert features["slope_y"][inside] == pytest.approx(abs(made.planes[segment, 1]), rel=1e-5)


def test_hidden_pixels_count_in_windows_of_five_thinned_pixels():
    occluded = np.zeros((93, 150), bool)
    occluded[46, 70] = True
    features = features_of_pixels(pixel_inputs(occluded=occluded))
    expected = np.zeros((93, 150))
    expected[44:49, 68:73] = 1 / 25
    np.testing.assert_allclose(features["hidden_11"], expected, atol=1e-6)


def test_nearness_is_1_at_near_surfaces_and_0_at_the_lowest_disparity():
    made, ramp = result(), np.tile(np.linspace(5, 25, 150, dtype=np.float32), (93, 1))
    seen = pixel_inputs(disparity=ramp)
    whole = describe_scene(seen, made.regions, made.planes, made.margins, 5.0)
    output = np.empty((len(PIXEL_FEATURES), 93, 150), np.float32)
    pixel_features(seen, whole, output)
    nearness = dict(zip(PIXEL_FEATURES, output, strict=True))["nearness"]
    assert nearness[0, 0] == 0
    assert np.interp(1, nearness[0], ramp[0]) == pytest.approx(24, abs=0.3)  # their 95 % quantile


def test_a_margin_that_was_never_tested_is_large_but_finite():
    made = result()
    margins = np.full(made.regions.count, np.inf)
    whole = describe_scene(pixel_inputs(), made.regions, made.planes, margins, 0.0)
    assert (whole.segments["segment_margin"] == 20).all()


def test_a_thinned_image_has_every_second_pixel_of_all_inputs():
    seen = pixel_inputs()
    some = seen.thinned(slice(10, 30))
    for name, values in vars(seen).items():
        np.testing.assert_array_equal(getattr(some, name), values[10:30:2, ::2], err_msg=name)
