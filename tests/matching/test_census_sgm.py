"""The census matcher as a whole: known shifts, hard pairs, threads, bands, occlusions."""

import dataclasses

import cv2
import numpy as np
import pytest

from slanted.errors import InputError
from slanted.matching import DisparityRange, census_sgm, find_matches, match, search_bands
from slanted.matching.search_bands import BYTES_A_CELL, EVERY_MAP
from slanted.matching.search_grid import SIDE, whole_grid
from slanted.matching.winner_kernels import MISMATCHED, OCCLUDED, agreement_rows
from slanted.runtime.threads import thread_limit
from slanted.settings import CensusSettings, MatchingSettings
from slanted.synthetic import make_scene


def census(low=0, high=32, **changes):
    return MatchingSettings(method="census", min_disparity=low, max_disparity=high, **changes)


def texture(height, width, channels=3, seed=0, sigma=1.0):
    """A smooth random texture that uses the whole range of grey, as floats."""
    rng = np.random.default_rng(seed)
    wide = cv2.GaussianBlur(rng.random((height, width, channels), np.float32), (0, 0), sigma)
    wide = wide.reshape(height, width, channels)
    return (wide - wide.min()) / (wide.max() - wide.min()) * 255


def shifted_pair(shift, *, height=60, width=160, channels=3, dtype=np.uint8, seed=0):
    """A random texture and its copy, `shift` pixels to the left."""
    wide = texture(height, width + 2 * abs(shift), channels, seed)
    wide = (wide * (1 if dtype is np.uint8 else 16)).astype(dtype)
    start = abs(shift)
    pair = wide[:, start : start + width], wide[:, start + shift : start + shift + width]
    return [np.ascontiguousarray(x[..., 0] if channels == 1 else x) for x in pair]


@pytest.mark.parametrize("paths", [4, 8, 16])
@pytest.mark.parametrize(("shift", "low", "high"), [(12, 0, 32), (0, -3, 5), (-9, -16, 8)])
def test_known_shifts_are_found(paths, shift, low, high):
    left, right = shifted_pair(shift)
    found = match(left, right, census(low, high, census=CensusSettings(paths=paths)))
    assert found.dtype == np.float32
    seen = found[:, max(shift, 0) + 4 : 156 + min(shift, 0)]
    assert np.isfinite(seen).mean() > 0.97
    np.testing.assert_allclose(seen[np.isfinite(seen)], shift, atol=0.5)
    np.testing.assert_allclose(np.nanmean(seen), shift, atol=0.05)


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_grey_and_colour_8_and_16_bit(channels, dtype):
    left, right = shifted_pair(7, channels=channels, dtype=dtype)
    found = match(left, right, census(0, 16))
    np.testing.assert_allclose(np.nanmedian(found), 7, atol=0.1)
    assert np.isfinite(found[:, 12:]).mean() > 0.97


def test_half_pixels_are_found():
    wide = texture(80, 640, 1, sigma=4.0)
    half = cv2.resize(wide, (320, 80), interpolation=cv2.INTER_AREA)
    moved = cv2.resize(np.roll(wide, -13, 1), (320, 80), interpolation=cv2.INTER_AREA)
    found = match(half.astype(np.uint8), moved.astype(np.uint8), census(0, 16))
    np.testing.assert_allclose(np.nanmedian(found[:, 20:-20]), 6.5, atol=0.25)


@pytest.mark.parametrize("high", [1, 2, 3])
def test_ranges_of_few_disparities(high):
    left, right = shifted_pair(0)
    found = match(left, right, census(0, high))
    assert (np.abs(found[np.isfinite(found)]) <= 0.5).all()
    assert np.isfinite(found).mean() > 0.97


def test_the_range_may_be_wider_than_the_image():
    left, right = shifted_pair(2, width=20, height=21)
    settings = census(speckle_size=0)
    found = census_sgm.match(left, right, DisparityRange(-40, 60), settings).disparity
    np.testing.assert_allclose(np.nanmedian(found), 2, atol=0.1)


def maps_of(scene, searched):
    """Every map, without the clean-up."""
    views = [census_sgm.grey_view(view, census()) for view in (scene.left, scene.right)]
    grid, wanted = whole_grid(views[0].shape, searched), (*EVERY_MAP, "state")
    return census_sgm.match_in_bands(views, grid, searched, census(), wanted)


def test_threads_do_not_change_the_bytes():
    scene = make_scene(161, 93, objects=3, max_disparity=30, noise=4.0, seed=3)
    results = []
    for threads in (1, 2, 3):
        with thread_limit(threads):
            found = maps_of(scene, DisparityRange(-3, 33))
            cleaned = census_sgm.match(
                scene.left, scene.right, DisparityRange(-3, 33), census(speckle_size=100)
            )
        maps = *found.values(), cleaned.disparity, cleaned.margin, cleaned.confidence
        results.append([values.tobytes() for values in maps])
    assert results[0] == results[1] == results[2]


def test_bands_change_nothing_away_from_seams(monkeypatch):
    scene = make_scene(120, 400, objects=3, max_disparity=20, noise=2.0, seed=5)
    searched, settings = DisparityRange(0, 24), census(speckle_size=0)
    whole = census_sgm.match(scene.left, scene.right, searched, settings)
    monkeypatch.setattr(search_bands, "BAND_BYTES", 12 * 8 * 32 * SIDE * SIDE * BYTES_A_CELL)
    bands = search_bands.square_bands(whole_grid((400, 120), searched))
    assert [core.stop * SIDE for core, _ in bands] == [128, 256, 400]
    banded = census_sgm.match(scene.left, scene.right, searched, settings)
    same = np.isclose(banded.disparity, whole.disparity, 0, 0, equal_nan=True)
    assert same[:50].all()  # too far from a seam to notice it
    assert same.mean() > 0.995


@pytest.mark.parametrize("value", [0, 90, 255])
@pytest.mark.parametrize("threshold", [0, 1])
def test_a_constant_pair_is_unknown(value, threshold):
    flat = np.full((40, 60), value, np.uint8)
    settings = census(left_right_threshold=threshold, census=CensusSettings(uniqueness=0))
    found = census_sgm.match(flat, flat, DisparityRange(0, 16), settings)
    assert np.isnan(found.disparity).all()
    assert (found.margin == 0).all()
    assert (found.confidence == 0).all()


def hard_pair(kind, shift=9):
    """A pair of 80×240 pixels that is hard to match in a way of its own."""
    height, width = 80, 240
    wide = texture(height, width + shift, 1, seed=1)[..., 0]
    rng = np.random.default_rng(2)
    if kind == "low-texture":
        wide = wide * 0.03 + 100
    elif kind == "repetitive":
        wide = np.tile(np.arange(width + shift) % 6 * 40.0, (height, 1))
    elif kind == "over-exposed":
        wide = np.minimum(wide * 2.2 + 20, 255)
    elif kind == "near-black":
        wide = wide * 0.02
    pair = [wide[:, :width], wide[:, shift : shift + width]]
    if kind == "noisy":
        pair = [x + rng.normal(0, 25, x.shape) for x in pair]
    if kind == "unrelated":
        pair = [rng.integers(0, 256, x.shape) for x in pair]
    return [np.clip(x, 0, 255).astype(np.uint8) for x in pair]


@pytest.mark.parametrize(
    ("kind", "density", "bad"),
    [
        ("low-texture", (0.5, 1.0), 0.02),
        ("over-exposed", (0.8, 1.0), 0.02),
        ("near-black", (0.3, 1.0), 0.02),
        ("noisy", (0.7, 1.0), 0.03),
        ("unrelated", (0.0, 0.1), 1.0),
    ],
)
def test_hard_pairs_come_out_right_or_unknown(kind, density, bad):
    found = match(*hard_pair(kind), census())[:, 16:]
    known = np.isfinite(found)
    assert density[0] <= known.mean() <= density[1]
    if known.any():
        assert (np.abs(found[known] - 9) > 1).mean() <= bad


def test_a_repetitive_pair_is_off_by_whole_periods_only():
    # Nothing inside the image tells 3 from 9 or 15; what the borders favour wins.
    found = match(*hard_pair("repetitive"), census())[:, 16:-16]
    known = found[np.isfinite(found)]
    assert (np.abs((known - 9 + 3) % 6 - 3) < 0.6).all()


@pytest.mark.parametrize("area", ["white", "stripes"])
def test_an_ambiguous_area_is_filled_rightly_or_not_at_all(area):
    left, right = (x.copy() for x in hard_pair("plain"))
    filling = 255 if area == "white" else np.arange(120) % 6 * 40
    left[20:60, 80:200] = filling
    right[20:60, 71:191] = filling
    inside = match(left, right, census())[20:60, 80:200]
    assert (np.abs(inside[np.isfinite(inside)] - 9) > 1).mean() < 0.05


def test_occlusions_and_mismatches_are_told_apart():
    scene = make_scene(320, 240, objects=4, background=1, min_disparity=8, max_disparity=40, seed=7)
    found = maps_of(scene, DisparityRange(0, 48))
    unknown = np.isnan(found["disparity"])
    occluded, mismatched = found["state"] == OCCLUDED, found["state"] == MISMATCHED
    assert unknown[occluded | mismatched].all()
    inner = np.zeros_like(unknown)
    inner[:, 48:] = True  # left of it the right image ends
    hidden = scene.occluded & inner
    # What the right image does not see is mostly noticed, and what it sees is mostly kept.
    assert (occluded | mismatched)[hidden].mean() > 0.7
    assert occluded[hidden].mean() > mismatched[hidden].mean()
    assert unknown[~scene.occluded & inner].mean() < 0.06
    assert hidden[occluded & inner].mean() > 0.5
    known = ~unknown & ~scene.occluded
    assert (np.abs(found["disparity"] - scene.disparity)[known] > 1).mean() < 0.02


def test_a_wrong_match_of_a_seen_pixel_is_a_mismatch():
    left = np.array([[0, 0, 0, 3, 0, 0]], np.int32)  # all at disparity 0, one pixel matched wrongly
    right = np.zeros((1, 6), np.int32)
    state = np.empty((1, 6), np.uint8)
    agreement_rows(left, right, 0, 4, 1, 0, 1, state)
    assert state.tolist() == [[0, 0, 0, MISMATCHED, 0, 0]]


def test_confidence_is_higher_where_matches_are_right():
    scene = make_scene(240, 160, objects=3, max_disparity=30, noise=12.0, seed=11)
    settings = census(speckle_size=0, census=CensusSettings(uniqueness=0))
    found = census_sgm.match(scene.left, scene.right, DisparityRange(0, 36), settings)
    assert found.confidence.dtype == np.float32
    assert ((found.confidence >= 0) & (found.confidence <= 1)).all()
    known = np.isfinite(found.disparity)
    assert (found.confidence[~known] == 0).all()
    wrong = known & (np.abs(found.disparity - scene.disparity) > 2)
    assert found.confidence[known & ~wrong].mean() > found.confidence[wrong].mean() + 0.05


def test_filters_can_be_switched_off():
    left, right = shifted_pair(20)
    right[20:40] = np.random.default_rng(1).integers(0, 256, right[20:40].shape)

    def details(**changes):
        settings = dataclasses.replace(census(), **changes)
        return census_sgm.match(left, right, DisparityRange(0, 32), settings)

    checked = np.isfinite(details().disparity).mean()
    unchecked = details(left_right_threshold=0)
    assert np.isfinite(unchecked.disparity).mean() > checked
    assert unchecked.agrees.all()
    assert np.isfinite(details(speckle_size=0).disparity).mean() > checked
    plain = details(census=CensusSettings(median=0)).disparity
    np.testing.assert_array_equal(np.isfinite(plain), np.isfinite(details().disparity))
    assert np.nanmax(np.abs(plain - details().disparity)) > 0.01
    assert np.isfinite(details(census=CensusSettings(uniqueness=0)).disparity).mean() >= checked


def test_inputs_are_left_alone():
    left, right = shifted_pair(5)
    views = left[:, ::-1][:, ::-1], np.asfortranarray(right)
    copies = left.copy(), right.copy()
    found = census_sgm.match(*views, DisparityRange(0, 8), census()).disparity
    np.testing.assert_array_equal(left, copies[0])
    np.testing.assert_array_equal(right, copies[1])
    again = census_sgm.match(*copies, DisparityRange(0, 8), census()).disparity
    np.testing.assert_array_equal(found, again)


def test_pairs_that_do_not_fit_and_empty_ranges_are_refused():
    left, right = shifted_pair(3)
    unknown = np.full(right.shape, np.nan, np.float32)
    for wrong in (right[:8, :8], right.astype(np.uint16), right > 0, unknown, right[:0]):
        with pytest.raises(InputError):
            match(left, wrong, census())
    for low, high in ((3, 3), (5, 3)):
        with pytest.raises(InputError, match="searched: expected a range whose end is above"):
            DisparityRange(low, high)


def test_confidence_is_zero_where_nothing_is_known():
    left, right = shifted_pair(9, width=60, height=40)
    settings = census(left_right_threshold=0, speckle_size=0, census=CensusSettings(uniqueness=0))
    found = find_matches(left, right, settings)
    disparity, confidence = found.disparity, found.confidence
    assert np.isnan(disparity).any()
    assert (confidence[np.isnan(disparity)] == 0).all()
