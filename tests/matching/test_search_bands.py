"""Bands of squares: every row once, within their memory, and the same pair whoever matches them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slanted.matching import DisparityRange, guided_sgm, search_bands
from slanted.matching.census_sgm import match_grid, match_in_bands, match_squares
from slanted.matching.guided_sgm import expect, find_expected
from slanted.matching.search_bands import square_bands
from slanted.matching.search_grid import SIDE, STEP, SearchGrid, expected_grid, whole_grid
from slanted.runtime.opencv import cv2
from slanted.settings import CensusSettings, MatchingSettings
from slanted.synthetic import make_scene

RULES = MatchingSettings(census=CensusSettings(smoothing=0.0, guided=True))


def grid_of(counts):
    counts = np.array(counts, np.int32) * STEP
    return SearchGrid(np.zeros(counts.shape, np.int32), counts)


grids = st.lists(st.lists(st.integers(1, 9), min_size=3, max_size=3), min_size=1, max_size=40)


def naive_bands(counts, limit):
    """Try every end of a band, and the overlaps one after the other."""
    rows, first, found = len(counts), 0, []

    def seen_by(last, beyond):
        return slice(max(first - beyond, 0), min(last + beyond, rows))

    def fits(last, beyond):
        return int(counts[seen_by(last, beyond)].sum()) * SIDE * SIDE * 3 <= limit

    while first < rows:
        for beyond in (4, 2, 1):
            last = max([first + 1, *(k for k in range(first, rows + 1) if fits(k, beyond))])
            if last == rows or last - first >= 2 * beyond:
                break
        found.append((slice(first, last), seen_by(last, beyond)))
        first = last
    return found


@given(counts=grids, megabytes=st.floats(0.01, 20.0))
@settings(deadline=None)
def test_bands_give_each_row_once_and_are_as_large_as_they_may_be(counts, megabytes):
    grid = grid_of(counts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search_bands, "BAND_BYTES", megabytes * 1e6)
        bands = square_bands(grid)
    assert bands == naive_bands(grid.count, megabytes * 1e6)
    given_rows = [k for core, _ in bands for k in range(core.start, core.stop)]
    assert given_rows == list(range(len(counts)))


def test_bands_of_wide_ranges_are_no_more_than_half_overlap(monkeypatch):
    grid = grid_of(np.full((100, 3), 8))
    monkeypatch.setattr(search_bands, "BAND_BYTES", 6 * 3 * 8 * STEP * SIDE * SIDE * 3)
    assert {core.stop - core.start for core, _ in square_bands(grid)[1:-1]} == {4}
    assert {seen.stop - seen.start for _, seen in square_bands(grid)[1:-1]} == {6}


@given(seed=st.integers(0, 2**31), height=st.integers(1, 300))
@settings(max_examples=20, deadline=None)
def test_maps_of_bands_are_put_where_they_belong_in_any_order(seed, height):
    rng = np.random.default_rng(seed)
    views = rng.integers(0, 256, (2, height, 21)).astype(np.uint8)
    grid = whole_grid(views[0].shape, DisparityRange(0, 16))
    grid.low[:] = rng.integers(0, 50, grid.low.shape)

    def match(band):
        assert len(band.grid.low) == -(-len(band.left) // SIDE)
        low = np.repeat(np.repeat(band.grid.low, SIDE, 0), SIDE, 1)[:, :21]
        return {"winner": band.left[band.core], "low": low[band.core]}

    def shuffled(function, task, count):
        assert function is match_squares
        for number in rng.permutation(count):
            yield number, match(task(number))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search_bands, "BAND_BYTES", 12 * SIDE * SIDE * 2 * 16 * 3)
        bands = square_bands(grid)
        arguments = tuple(views), grid, DisparityRange(0, 16), RULES
        found = match_in_bands(*arguments, ask=shuffled)
    assert len(bands) > 1 or height <= 12 * SIDE
    np.testing.assert_array_equal(found["winner"], views[0])
    low = np.repeat(np.repeat(grid.low, SIDE, 0), SIDE, 1)[:height, :21]
    np.testing.assert_array_equal(found["low"], low)


@pytest.fixture(scope="module")
def scene():
    return make_scene(200, 400, objects=5, max_disparity=60, noise=2.0, seed=4)


def test_bands_match_nearly_as_the_whole_does(scene, monkeypatch):
    searched, pair = DisparityRange(0, 64), (scene.left, scene.right)
    expected = expect(*pair, searched, RULES)
    whole = find_expected(*pair, RULES, searched, expected)
    grid = expected_grid(scene.left.shape, expected, guided_sgm.MARGIN, searched)
    monkeypatch.setattr(search_bands, "BAND_BYTES", grid.cells * 3 // 2)
    assert len(square_bands(grid)) > 2
    found = find_expected(*pair, RULES, searched, expected)
    for name in ("winner", "margin", "agrees", "disparity", "confidence"):
        same = np.isclose(getattr(found, name), getattr(whole, name), 1e-3, 1e-3, equal_nan=True)
        assert same.mean() > 0.99, name


def test_only_the_maps_that_are_wanted_are_made(scene):
    searched = DisparityRange(0, 64)
    grid = whole_grid(scene.left.shape, searched)
    arguments = scene.left, scene.right, grid, searched, RULES
    every, one = match_grid(*arguments), match_grid(*arguments, ("disparity",))
    np.testing.assert_array_equal(one.disparity, every.disparity)
    assert (one.confidence, one.winner, one.agrees, one.margin) == (None, None, None, None)
    assert every.confidence is not None


@pytest.mark.parametrize(
    ("shape", "disparities", "side"),
    [
        ((375, 1242), 128, 4),
        ((4472, 6708), 1024, 4),
        ((4472, 6708), 1025, 8),
        ((4472, 6708), 5000, 32),
        ((200, 1300), 1200, 4),  # it would have no more than 25 rows
    ],
)
def test_a_search_starts_where_the_range_is_short(shape, disparities, side):
    searched = DisparityRange(-3, disparities - 3)
    assert guided_sgm._first_side(shape, searched) == side


@pytest.mark.parametrize("most", [16, 4])
def test_sizes_lead_each_other(most, monkeypatch):
    scene = make_scene(327, 251, segments=20, max_disparity=60.0, seed=2)
    searched = DisparityRange(0, 64)
    monkeypatch.setattr(guided_sgm, "MOST_AT_FIRST", most)
    monkeypatch.setattr(guided_sgm, "LEAST_SIDE", 8)
    assert guided_sgm._first_side(scene.left.shape, searched) == 64 // most
    maps = expect(scene.left, scene.right, searched, RULES)
    assert len(maps) == 5
    assert {each.shape for each in maps} == {(63, 82)}
    grid = expected_grid(scene.left.shape, maps, guided_sgm.MARGIN, searched)
    assert grid.cells < 0.8 * whole_grid(scene.left.shape, searched).cells
    rows, columns = np.indices(scene.disparity.shape) // SIDE
    low, count = grid.low[rows, columns], grid.count[rows, columns]
    inside = (scene.disparity >= low) & (scene.disparity < low + count)
    assert inside[~scene.occluded].mean() > 0.98


def texture(rng, height, width):
    """Grey values that are rough at every size from 1 to 8 pixels."""
    total = np.zeros((height, width), np.float32)
    for side in (1, 2, 4, 8):
        small = rng.standard_normal((height // side + 2, width // side + 2)).astype(np.float32)
        total += cv2.resize(small, None, fx=side, fy=side)[:height, :width]
    return np.clip(128 + 40 * total, 0, 255).astype(np.uint8)


@pytest.mark.parametrize(("width", "kept"), [(16, 0.95), (12, 0.8)])
def test_thin_things_far_in_front_survive(width, kept):
    near, far, searched = 110, 20, DisparityRange(0, 128)
    rng, (height, columns) = np.random.default_rng(0), (192, 640)
    wall = texture(rng, height, columns + near)
    left, right = wall[:, :columns].copy(), wall[:, far : far + columns].copy()
    bars = np.zeros(left.shape, np.bool_)
    for x in range(200, 600, 80):
        bar = texture(rng, height, width)
        left[:, x : x + width], right[:, x - near : x - near + width] = bar, bar
        bars[:, x : x + width] = True
    whole = find_expected(left, right, RULES, searched, [np.full((48, 160), np.nan, np.float32)])
    there = bars & (np.abs(whole.winner - near) < 1)
    assert there.sum() > 0.9 * bars.sum()
    found = find_expected(left, right, RULES, searched, expect(left, right, searched, RULES))
    assert (np.abs(found.winner - near) < 1)[there].mean() > kept
