"""Features of matches and of a result's pixels."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_confidence
from confidence.scenes import (
    features_of,
    found,
    grey,
    judgement,
    result,
    scene,
    seen_choices,
    seen_plain,
    seen_result,
    surface_with_a_hole,
)
from slanted.confidence import scene as scenery
from slanted.confidence.features import (
    CAP,
    IN_VIEW_CAP,
    MATCH_FEATURES,
    PIXEL_FEATURES,
    PLAIN_FEATURES,
    UNMATCHED,
    WIDE_CAP,
)
from slanted.confidence.scene import (
    THIN,
    describe_scene,
    mismatch,
    patch_shares,
    typical_brightness,
    warped,
)
from slanted.runtime.threads import thread_limit

ROUNDED = {"contrast_31", "image_mismatch", "mismatch_5", "segment_mismatch"}
"""Features that rounding to whole grey values, or of large sums, changes a little."""
SEEN = {"matches": seen_choices, "pixels": seen_result, "plain": seen_plain}
"""What each kind of features is computed from."""
every_kind = pytest.mark.parametrize("kind", SEEN)


@pytest.fixture(scope="module")
def features():
    return {kind: features_of(seen()) for kind, seen in SEEN.items()}


@every_kind
def test_every_feature_is_finite_and_says_something(features, kind):
    kinds = {"matches": MATCH_FEATURES, "pixels": PIXEL_FEATURES, "plain": PLAIN_FEATURES}
    names = kinds[kind]
    assert tuple(features[kind]) == names
    assert len(set(names)) == len(names)
    for name, values in features[kind].items():
        assert np.isfinite(values).all(), name
        assert (np.ptp(values) > 0) != name.startswith("image_"), name


def test_shares_and_differences_stay_in_their_ranges(features):
    found = features["matches"]
    for name in ("matched_11", "matched_61", "hidden_11", "agrees_11", "agrees_31", "margin"):
        assert found[name].min() >= -1e-5, name
        assert found[name].max() <= 1 + 1e-5, name
    for name in ("distance", "window_61", "spread_61", "deviation_11"):
        assert found[name].min() >= 0, name
        assert found[name].max() <= CAP, name
    assert np.abs(found["offset_11"]).max() <= CAP
    for name in ("nearer_beside", "farther_above", "nearer_left", "row_far", "step_11"):
        assert np.abs(found[name]).max() <= WIDE_CAP, name


@every_kind
def test_the_same_bytes_for_any_number_of_threads(features, kind):
    for threads in (1, 2):
        with thread_limit(threads):
            again = features_of(SEEN[kind]())
        for name, values in features[kind].items():
            assert values.tobytes() == again[name].tobytes(), name


@every_kind
def test_a_brighter_camera_changes_brightness_alone(kind):
    dim = tuple(view // 2 for view in grey())
    bright = tuple(view + np.uint8(90) for view in dim)
    seen = SEEN[kind]()
    before, after = (
        features_of(replace(seen, grey=views[0], mismatch=mismatch(views, seen.disparity)))
        for views in (dim, bright)
    )
    for name in set(before) - ROUNDED - {"brightness"}:
        np.testing.assert_allclose(before[name], after[name], rtol=1e-6, err_msg=name)
    for name in ROUNDED & set(before):
        np.testing.assert_allclose(before[name], after[name], atol=0.15, err_msg=name)
    assert np.ptp(after["brightness"]) < np.ptp(before["brightness"])


def test_brightness_is_in_multiples_of_the_median(features):
    assert np.median(features["matches"]["brightness"]) == pytest.approx(1, abs=0.1)
    lamp = np.full((40, 60), 50, np.uint8)
    lamp[:10] = 250
    assert typical_brightness(lamp) == 50
    assert typical_brightness(np.zeros((8, 8), np.uint8)) == 1


@every_kind
def test_nothing_depends_on_where_the_range_of_disparities_lies(features, kind):
    """Both views cropped so that all disparities are 20 px less: the same scene to the matcher."""
    seen, shift = SEEN[kind](), np.float32(20)
    moving = ["disparity", "surface", "matched", *(["choice"] if seen.choice is not None else [])]
    maps = {name: getattr(seen, name) - shift for name in moving}
    moved = features_of(replace(seen, **maps), low=-20.0)
    for name in set(moved) - {"in_view"}:  # the right view has not moved
        np.testing.assert_allclose(moved[name], features[kind][name], atol=2e-3, err_msg=name)


@every_kind
def test_a_hole_in_a_surface_lies_behind_it_on_all_sides(kind):
    surface = surface_with_a_hole()
    features = features_of(SEEN[kind](disparity=surface, surface=surface))
    for name in ("nearer_beside", "nearer_above", "nearer_left", "nearer_right"):
        assert features[name][46, 74] == pytest.approx(20), name
        assert features[name][80, 20] == pytest.approx(0, abs=1e-4), name
    assert features["farther_beside"][46, 74] == pytest.approx(0, abs=1e-4)
    assert features["step_11"][46, 62] == pytest.approx(20)
    assert features["step_11"][46, 74] == 0


def test_a_match_is_compared_with_the_surface_and_not_with_itself():
    surface, behind = np.full((93, 150), 30, np.float32), np.full((93, 150), 22, np.float32)
    features = features_of(seen_choices(disparity=behind, surface=surface))
    for name in ("nearer_beside", "nearer_above", "row_far", "row_middle", "distance"):
        np.testing.assert_allclose(features[name], 8, atol=1e-4, err_msg=name)
    np.testing.assert_array_equal(features["step_11"], 0)
    np.testing.assert_array_equal(features["deviation_11"], 0)


def test_a_step_is_nearer_on_one_side_only():
    step = np.where(np.arange(150) < 75, 30, 10).astype(np.float32) * np.ones((93, 1), np.float32)
    features = features_of(seen_choices(disparity=step, surface=step))
    assert features["nearer_left"][46, 90] == pytest.approx(20)
    assert features["nearer_right"][46, 90] == pytest.approx(0, abs=1e-4)
    assert features["nearer_beside"][46, 90] == pytest.approx(0, abs=1e-4)
    assert features["farther_beside"][46, 60] == pytest.approx(0, abs=1e-4)
    assert features["step_11"][46, 75] == pytest.approx(20)


def test_a_step_is_nearer_above_only():
    step = np.repeat(np.where(np.arange(93) < 46, 30, 10)[:, None], 150, axis=1).astype(np.float32)
    features = features_of(seen_choices(disparity=step, surface=step))
    assert features["nearer_above"][60, 75] == pytest.approx(0, abs=1e-4)  # not below as well
    assert features["nearer_above_21"][50, 75] == pytest.approx(0, abs=1e-4)
    assert features["farther_above"][30, 75] == pytest.approx(0, abs=1e-4)
    assert features["nearer_left"][60, 75] == pytest.approx(0, abs=1e-4)


def test_a_row_tells_what_is_far_and_in_the_middle_of_it():
    ramp = np.tile(np.linspace(10, 30, 150, dtype=np.float32), (93, 1))
    features = features_of(seen_choices(disparity=np.full_like(ramp, 20), surface=ramp))
    np.testing.assert_allclose(features["row_far"], -8, atol=0.5)
    np.testing.assert_allclose(features["row_middle"], 0, atol=0.5)
    np.testing.assert_allclose(features["row_span"], 16, atol=1)


def test_a_match_far_from_its_surroundings_is_far_from_them():
    surface = np.full((93, 150), 12, np.float32)
    choice = surface.copy()
    choice[40:45, 70:75] = 19
    features = features_of(seen_choices(disparity=choice, surface=surface, matched=surface))
    assert features["distance"][42, 72] == pytest.approx(7)
    assert features["offset_11"][42, 72] == pytest.approx(7)
    assert features["window_61"][42, 72] == pytest.approx(7, abs=0.1)
    assert features["deviation_11"][42, 72] == pytest.approx(0, abs=1e-3)
    assert features["deviation_11"][42, 75] > 3  # at the border of the patch
    assert features["distance"][10, 10] == 0
    choice[40:45, 70:75] = 5
    behind = features_of(seen_choices(disparity=choice, surface=surface, matched=surface))
    assert behind["offset_11"][42, 72] == pytest.approx(-7)


def test_plain_features_come_first_and_do_not_depend_on_first_choices(features):
    assert PIXEL_FEATURES[: len(PLAIN_FEATURES)] == PLAIN_FEATURES
    for name, values in features["plain"].items():
        np.testing.assert_array_equal(values, features["pixels"][name], err_msg=name)


def test_first_choices_speak_for_a_disparity_that_they_share_without_doubt():
    flat = np.full((93, 150), 12, np.float32)
    choice, doubt = flat.copy(), np.zeros((93, 150), np.float32)
    choice[:, 100:] = 14.0  # too far away to be the same
    doubt[:, :50] = 0.5
    features = features_of(seen_result(disparity=flat, choice=choice, doubt=doubt))
    for name in ("support_31", "support_61"):
        assert features[name][46, 12] == pytest.approx(0.25, abs=1e-3), name
        assert features[name][46, 75] == pytest.approx(1, abs=1e-3), name
        assert features[name][46, 140] == pytest.approx(0, abs=1e-3), name
    assert features["away"][46, 140] == pytest.approx(2)
    assert features["away_11"][46, 140] == features["away_61"][46, 140] == pytest.approx(2)
    assert features["away"][46, 75] == 0
    for name in ("doubt", "doubt_11", "doubt_31", "doubt_61"):
        assert features[name][46, 12] == pytest.approx(0.5, abs=1e-3), name
        assert features[name][46, 130] == pytest.approx(0, abs=1e-3), name


def test_segments_know_the_first_choices_in_them():
    judged, made, features = judgement(), result(), features_of(seen_result())
    thin = np.zeros(made.disparity.shape, bool)
    thin[::THIN, ::THIN] = True
    for segment in (0, 7, made.regions.count - 1):
        inside = made.regions.label_image == segment
        some = inside & thin
        away, doubt = np.abs(judged.disparity - made.disparity)[some], judged.doubt[some]
        speaks = np.where(away < 1.5, (1 - doubt) ** 2, 0)
        expected = {"doubt": doubt, "away": np.minimum(away, 5), "support": speaks}
        for name, values in expected.items():
            found = features[f"segment_{name}"][inside]
            assert found == pytest.approx(values.mean() if len(values) else 0, abs=1e-4), name


def test_pixels_without_matches_around_have_no_offset():
    matched = np.full((93, 150), np.nan, np.float32)
    matched[:, :20] = 12
    features = features_of(seen_choices(matched=matched))
    assert features["matched_11"][46, 100] == 0
    assert features["offset_11"][46, 100] == 0
    assert features["matched_11"][46, 8] == pytest.approx(1)
    for values in features.values():
        assert np.isfinite(values).all()


@every_kind
@pytest.mark.parametrize("count", [0, 1])
def test_hardly_any_match_is_no_trouble(kind, count):
    matched = np.full((93, 150), np.nan, np.float32)
    matched[30, 70 : 70 + count] = 9
    for name, values in features_of(SEEN[kind](matched=matched)).items():
        assert np.isfinite(values).all(), name


@given(seed=st.integers(0, 99), height=st.integers(1, 24), width=st.integers(1, 24))
def test_patches_are_those_of_the_naive_twin(seed, height, width):
    values = np.random.default_rng(seed).integers(0, 4, (height, width)).astype(np.float32)
    thin = values[::THIN, ::THIN]
    wanted = np.log(np.array(naive_confidence.patches(thin, 1.0)) / thin.size)
    found = patch_shares(values)
    assert found.shape == values.shape
    np.testing.assert_allclose(found[::THIN, ::THIN], wanted, rtol=1e-6)


def test_right_matches_look_different_from_wrong_ones(features):
    wrong = np.abs(found().winner - scene().disparity) > 3
    assert 0.02 < wrong.mean() < 0.5
    for name, sign in (("distance", 1), ("deviation_11", 1), ("agrees_11", -1), ("margin", -1)):
        values = features["matches"][name]
        assert sign * (values[wrong].mean() - values[~wrong].mean()) > 0, name


def test_the_right_view_is_moved_onto_the_left_one():
    left, right = grey()
    visible = ~scene().occluded
    difference = np.abs(warped(right, scene().disparity).astype(float) - left)[visible]
    assert np.median(difference) < 8  # noise of 3 grey values in both
    assert np.median(difference) < 0.5 * np.median(np.abs(right.astype(float) - left)[visible])


def test_features_of_the_image_are_its_means(features):
    made, seen = result(), seen_result()
    thin = slice(None, None, THIN), slice(None, None, THIN)
    known = np.isfinite(made.matched[thin])
    off = np.minimum(np.abs(made.matched - made.disparity)[thin][known], 5)
    image = {name: values[0, 0] for name, values in features["pixels"].items()}
    assert image["image_matched"] == pytest.approx(known.mean())
    assert image["image_residual"] == pytest.approx(off.mean(), rel=1e-4)
    assert image["image_mismatch"] == pytest.approx(seen.mismatch[thin].mean(), rel=1e-4)


@every_kind
def test_residuals_are_those_of_matches_from_the_surface(kind):
    flat = np.full((93, 150), 12, np.float32)
    matched = np.full((93, 150), np.nan, np.float32)
    matched[:, :75] = 12
    matched[46, 30], matched[46, 60] = 14.5, 90
    features = features_of(SEEN[kind](surface=flat, matched=matched))
    assert (features["residual"][:, 75:] == UNMATCHED).all()
    assert features["residual"][46, 30] == pytest.approx(2.5)
    assert features["residual"][46, 60] == CAP
    assert features["residual"][10, 10] == 0
    assert features["residual_11"][46, 30] == pytest.approx(2.5 / 25)
    assert features["matched_11"][46, 100] == 0
    assert features["matched_11"][46, 20] == pytest.approx(1)
    assert features["residual_11"][46, 100] == 0


@every_kind
def test_columns_count_from_the_border_of_the_right_view(kind):
    features = features_of(SEEN[kind](disparity=np.full((93, 150), 12, np.float32)))
    assert features["in_view"][5, 0] == -12
    assert features["in_view"][5, 15] == 18  # column 30 of the image
    assert features["in_view"][5, 149] == IN_VIEW_CAP


@every_kind
def test_pixels_know_their_segment(kind):
    made, seen = result(), SEEN[kind]()
    features = features_of(seen)
    labels = made.regions.label_image
    thin = np.zeros(labels.shape, bool)
    thin[::THIN, ::THIN] = True  # what is measured of a segment
    for segment in (0, 7, made.regions.count - 1):
        inside = labels == segment
        seen_there = inside & thin
        known = seen_there & np.isfinite(seen.matched)
        share = known.sum() / max(seen_there.sum(), 1)
        assert features["segment_matched"][inside] == pytest.approx(share)
        off = np.minimum(np.abs(seen.matched - seen.surface)[known], 5)
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
    features = features_of(seen_result(occluded=occluded))
    expected = np.zeros((93, 150))
    expected[44:49, 68:73] = 1 / 25
    np.testing.assert_allclose(features["hidden_11"], expected, atol=1e-6)


def test_nearness_is_1_at_near_surfaces_and_0_at_the_lowest_disparity():
    ramp = np.tile(np.linspace(5, 25, 150, dtype=np.float32), (93, 1))
    nearness = features_of(seen_result(disparity=ramp, surface=ramp), low=5.0)["nearness"]
    assert nearness[0, 0] == 0
    assert np.interp(1, nearness[0], ramp[0]) == pytest.approx(24, abs=0.3)  # their 95 % quantile


def test_a_margin_that_was_never_tested_is_large_but_finite():
    made = result()
    untested = replace(made.inference, margins=np.full(made.regions.count, np.inf))
    seen = seen_result()
    thin = seen.thinned(slice(None))
    whole = describe_scene(thin, seen.grey, made.regions, untested, 0.0)
    assert (whole.segments["segment_margin"] == 20).all()


@every_kind
def test_a_thinned_image_has_every_second_pixel_of_all_inputs(kind):
    seen = SEEN[kind]()
    some = seen.thinned(slice(10, 30))
    for name, values in vars(seen).items():
        if values is None:
            assert getattr(some, name) is None
        else:
            np.testing.assert_array_equal(getattr(some, name), values[10:30:2, ::2], err_msg=name)


def test_grey_differences_are_those_of_every_thinned_pixel():
    disparity, (left, right) = scene().disparity.astype(np.float32), grey()
    found = mismatch(grey(), disparity)
    wanted = np.abs(left - warped(right, disparity).astype(np.float32))
    assert found.shape == disparity.shape
    np.testing.assert_array_equal(found[::THIN, ::THIN], wanted[::THIN, ::THIN])


def test_grey_differences_do_not_depend_on_how_many_rows_are_looked_up_at_a_time(monkeypatch):
    whole = mismatch(grey(), scene().disparity.astype(np.float32))
    monkeypatch.setattr(scenery, "PIXELS_AT_A_TIME", 7 * scene().disparity.shape[1] // THIN)
    np.testing.assert_array_equal(mismatch(grey(), scene().disparity.astype(np.float32)), whole)
