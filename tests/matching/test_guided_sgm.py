"""Squares that search disparities of their own, and what tells them which."""

import inspect

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slanted.matching import DisparityRange, census_sgm, guided_sgm
from slanted.matching import lane_kernels as lanes
from slanted.matching import plain_lane_kernels as plain_lanes
from slanted.matching.census_sgm import match_grid
from slanted.matching.guided_sgm import match_coarsely
from slanted.matching.search_grid import SIDE, STEP, SearchGrid, expected_grid, whole_grid
from slanted.runtime.kernel import kernel
from slanted.runtime.threads import thread_limit
from slanted.settings import CensusSettings, MatchingSettings
from slanted.synthetic import make_scene

RULES = MatchingSettings(census=CensusSettings(smoothing=0.0))


@pytest.fixture(scope="module")
def scene():
    return make_scene(150, 90, segments=40, max_disparity=28, seed=2)


def test_what_is_expected_is_found_in_fewer_cells(scene):
    searched = DisparityRange(0, 64)
    truth = scene.disparity.astype(np.float32)
    grid = expected_grid(truth.shape, [truth[::4, ::4]], 4, searched)
    assert grid.cells < 0.6 * whole_grid(truth.shape, searched).cells
    whole = census_sgm.match(scene.left, scene.right, searched, RULES)
    known = np.isfinite(whole.disparity) & (np.abs(whole.winner - truth) < 1)
    for threads in (1, 2):
        with thread_limit(threads):
            found = match_grid(scene.left, scene.right, grid, searched, RULES)
        assert (np.abs(found.winner - whole.winner)[known] < 0.5).mean() > 0.99


@pytest.mark.parametrize("end", [29, 40])
def test_ranges_of_any_length_are_kept(scene, end):
    searched = DisparityRange(3, end)
    grid = whole_grid(scene.left.shape, searched)
    found = match_grid(scene.left, scene.right, grid, searched, RULES)
    assert found.winner.min() >= 3
    assert found.winner.max() <= end - 1
    assert np.isfinite(found.disparity).mean() > 0.5


def test_squares_search_around_what_is_expected_and_all_of_it_elsewhere():
    expected = np.full((16, 12), np.nan, np.float32)
    expected[:, 4:] = 40
    expected[8, 11] = 10
    searched = DisparityRange(0, 100)
    grid = expected_grid((64, 48), [expected], 3, searched)
    assert grid.count[0].tolist() == [16, 16, 16]  # the first sees half a square of the second
    assert grid.low[0].tolist() == [37, 37, 37]
    assert (grid.low[2, 2], grid.count[2, 2]) == (7, 48)
    nothing = expected_grid((64, 48), [np.full((16, 12), np.nan, np.float32)], 3, searched)
    np.testing.assert_array_equal(nothing.count, whole_grid((64, 48), searched).count)
    high = expected_grid((64, 48), [np.full((16, 12), 99, np.float32)], 3, searched)
    assert (high.low + high.count == 100).all()


def test_a_coarse_match_has_the_disparities_of_the_pair(scene):
    truth = scene.disparity.astype(np.float32)
    for times in (1, 2):
        found = match_coarsely(scene.left, scene.right, DisparityRange(0, 32), RULES, times)
        assert found.disparity.shape == tuple(-(-side * times // 4) for side in truth.shape)
        rows, columns = (np.arange(n) * 4 // times for n in found.disparity.shape)
        expected = times * truth[np.ix_(rows, columns)]
        away = np.abs(found.disparity - expected)
        assert np.nanmedian(away) < 1.5


PARTS = 1, 2, 3, 5


@pytest.mark.parametrize("seed", range(5))
def test_lanes_do_what_their_twins_do(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    sums = rng.integers(0, rng.choice([3, 50, 65536]), 256).astype(np.uint16)
    sums[100:148] = 65535  # three parts with nothing below the largest number
    words = rng.integers(0, 2**62, 64).astype(np.uint64)
    gradients = rng.integers(-15, 16, 64).astype(np.int16)

    @kernel
    def called(sums, words, gradients, paths, cost, best, layer, costs, numbers):
        one, place = np.uint64(1), np.uint64(120)
        step = np.uint16(5), np.uint16(7), np.uint16(30)
        numbers[0] = lanes.least_lane(sums, one)
        numbers[1] = lanes.sum_lanes(sums, one)
        for number in range(4):
            parts, first = np.uint64(PARTS[number]), np.uint64(3 + number)
            row, kept = 2 + 5 * number, np.uint16(65535 * (number % 2))
            numbers[row : row + 4] = lanes.best_two(sums, first, parts)
            numbers[row + 4] = lanes.extend_path(
                paths, first, place, *step, cost, first, sums, kept, parts
            )
        numbers[22:26] = lanes.best_two(sums, np.uint64(100), np.uint64(3))
        lanes.better_lanes(sums, one, best, layer, np.uint64(2), np.int16(-3))
        weights = np.uint8(2), np.uint8(2)
        word, level = words[0], gradients[0]
        lanes.pixel_cost_lanes(word, words, level, gradients, one, *weights, costs, np.uint64(4))

    def arrays():
        rng = np.random.default_rng(seed)
        paths = rng.integers(7, 90, 256).astype(np.uint16)
        cost, best = rng.integers(0, 99, 256).astype(np.uint8), np.full(64, 25, np.uint16)
        empty = np.zeros(64, np.int16), np.zeros(64, np.uint8), np.zeros(26, np.int64)
        return [sums.copy(), words, gradients, paths, cost, best, *empty]

    ours, twins = arrays(), arrays()
    called(*ours)
    twin = called.py_func if hasattr(called, "py_func") else called
    monkeypatch.setitem(twin.__globals__, "lanes", plain_lanes)
    twin(*twins)
    for one, other in zip(ours, twins, strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_plain_lanes_are_all_there():
    twins = {name for name, value in vars(plain_lanes).items() if inspect.isfunction(value)}
    assert {name for name in twins if name[0] != "_"} == set(lanes.__all__) - {"LANES"}


def test_a_run_may_be_guided_by_smaller_pairs():
    scene = make_scene(163, 101, segments=20, max_disparity=60.0, seed=2)
    searched = DisparityRange(0, 64)
    maps = guided_sgm.expect(scene.left, scene.right, searched, RULES)
    assert {each.shape for each in maps} == {(26, 41)}
    grid = expected_grid(scene.left.shape, maps, guided_sgm.MARGIN, searched)
    assert grid.cells < whole_grid(scene.left.shape, searched).cells
    # Nearly every pixel has its true disparity among those that are searched.
    rows, columns = np.indices(scene.disparity.shape) // SIDE
    low, count = grid.low[rows, columns], grid.count[rows, columns]
    inside = (scene.disparity >= low) & (scene.disparity < low + count)
    assert inside[~scene.occluded].mean() > 0.98


@given(st.lists(st.integers(1, 9), min_size=1, max_size=12))
def test_the_middle_divides_the_cells_as_evenly_as_rows_allow(counts):
    grid = SearchGrid(np.zeros((len(counts), 1), np.int32), np.array(counts, np.int32)[:, None])
    away = [abs(sum(counts[:k]) - sum(counts[k:])) for k in range(len(counts))]
    assert 0 <= grid.middle < len(counts)
    assert away[grid.middle] == min(away)


@pytest.mark.parametrize("count", [STEP, STEP + 5])
def test_a_winner_alone_is_that_of_a_whole_match(count):
    scene, searched = make_scene(64, 40, segments=24, seed=3), DisparityRange(-2, count - 2)
    grid, rules = whole_grid((40, 64), searched), MatchingSettings()
    arguments = (scene.left[..., 0], scene.right[..., 0]), grid, searched, rules
    alone = census_sgm.match_in_bands(*arguments, ("winner",))
    whole = census_sgm.match_in_bands(*arguments)
    np.testing.assert_array_equal(alone["winner"], whole["winner"])
