"""Squares that search disparities of their own: kernels against twins, and the whole matcher."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_matching
from slanted.matching import DisparityRange, census_sgm, guided_sgm
from slanted.matching import lane_kernels as lanes
from slanted.matching import plain_lane_kernels as plain_lanes
from slanted.matching.guided_sgm import _mirrored, match_coarsely, match_expected
from slanted.matching.search_grid import SIDE, STEP, SearchGrid, expected_grid, whole_grid
from slanted.matching.search_grid_kernels import (
    grid_path_state,
    square_costs,
    sweep_squares,
)
from slanted.matching.sgm_kernels import path_steps
from slanted.matching.square_winner_kernels import square_winners
from slanted.runtime.kernel import kernel
from slanted.runtime.threads import thread_limit
from slanted.settings import CensusSettings, MatchingSettings
from slanted.synthetic import make_scene

RULES = MatchingSettings(census=CensusSettings(smoothing=0.0))


def random_grid(rng, height, width):
    squares = -(-height // SIDE), -(-width // SIDE)
    low = rng.integers(0, 20, squares).astype(np.int32)
    return SearchGrid(low, STEP * rng.integers(1, 3, squares).astype(np.int32))


def cells_of(grid, y, x):
    """Where a pixel's cells are in a volume."""
    row, column = y // SIDE, x // SIDE
    layers = int(grid.count[row, column])
    first = int(grid.start[row, column]) + ((y % SIDE) * SIDE + x % SIDE) * layers
    return int(grid.low[row, column]), slice(first, first + layers)


@given(seed=st.integers(0, 2**31), low=st.sampled_from([-5, 0, 3]))
@settings(max_examples=5, deadline=None)
def test_costs_are_those_of_the_whole_range(seed, low):
    rng, shape = np.random.default_rng(seed), (18, 21)
    census = [rng.integers(0, 2**62, shape).astype(np.uint64) for _ in range(2)]
    gradients = [rng.integers(-15, 16, shape).astype(np.int16) for _ in range(2)]
    grid = random_grid(rng, *shape)
    grid = SearchGrid(grid.low + np.int32(low), grid.count)
    before, after = SIDE + 5, grid.reach + SIDE
    right, gradient = _mirrored(census[1], before, after), _mirrored(gradients[1], before, after)
    volume = np.zeros(grid.cells, np.uint8)
    weights = np.uint8(2), np.uint8(2)
    words = census[0], right, gradients[0], gradient, before
    square_costs(*words, *weights, *grid.arrays(), 0, len(grid.low), volume)
    expected = naive_matching.costs(*census, *gradients, low, 52, (2, 2))
    for y, x in np.ndindex(shape):
        first, cells = cells_of(grid, y, x)
        layers = slice(first - low, first - low + cells.stop - cells.start)
        np.testing.assert_array_equal(volume[cells], expected[y, x, layers])


@given(seed=st.integers(0, 2**31), paths=st.sampled_from([4, 8, 16]))
@settings(max_examples=6, deadline=None)
def test_paths_enter_squares_that_search_others(seed, paths):
    rng, shape = np.random.default_rng(seed), (19, 35)
    grid = random_grid(rng, *shape)
    whole = rng.integers(0, 256, (*shape, 52)).astype(np.uint8)
    grey = rng.integers(0, 256, shape).astype(np.uint8)
    penalty = np.linspace(300, 80, 256).astype(np.uint16)
    cost, sums = np.zeros(grid.cells, np.uint8), np.zeros(grid.cells, np.uint16)
    for y, x in np.ndindex(shape):
        first, cells = cells_of(grid, y, x)
        cost[cells] = whole[y, x, first : first + cells.stop - cells.start]
    steps = path_steps(paths)
    for direction in (1, -1):
        state = grid_path_state(steps, shape[1], grid.most)
        for rows in ((0, 7), (7, 19))[::direction]:
            given_rows = direction, *grid.arrays(), *rows, steps
            sweep_squares(cost, grey, 30, penalty, *given_rows, *state, sums)
    arguments = whole, grey, 30, penalty, paths, grid.low, grid.count, SIDE
    for (y, x), expected in naive_matching.grid_sums(*arguments).items():
        assert sums[cells_of(grid, y, x)[1]].tolist() == list(expected.values())


@given(seed=st.integers(0, 2**31), low=st.sampled_from([-4, 0, 5]))
@settings(max_examples=8, deadline=None)
def test_winners_of_whole_ranges_are_those_of_the_twin(seed, low):
    rng, shape, count = np.random.default_rng(seed), (3, 70), 2 * STEP
    whole = rng.integers(0, rng.choice([9, 4000]), (*shape, count)).astype(np.uint16)
    # Half of the pixels have a winner that is clear, but hardly below the mean of the others.
    flat = rng.random(shape) < 0.5
    whole[flat] = 3000 + rng.integers(0, 99, whole.shape)[flat]
    whole[flat, rng.integers(0, count, flat.sum())] = rng.integers(1500, 2400, flat.sum())
    grid = whole_grid(shape, DisparityRange(low, low + count))
    sums = np.zeros(grid.cells, np.uint16)
    for y, x in np.ndindex(shape):
        sums[cells_of(grid, y, x)[1]] = whole[y, x]
    found = [np.empty(shape, kind) for kind in (np.int32, np.int32, np.float32, np.float32, bool)]
    margins = 10, 60, 10
    square_winners(sums, *grid.arrays(), low, *margins, 0, shape[0], *found)
    for ours, twin in zip(found, naive_matching.winners(whole, low, margins), strict=True):
        np.testing.assert_array_equal(ours, twin)


@pytest.fixture(scope="module")
def scene():
    return make_scene(150, 90, segments=40, max_disparity=28, seed=2)


@pytest.mark.parametrize("paths", [4, 16])
def test_with_whole_ranges_it_is_the_census_matcher_to_the_byte(scene, paths):
    searched = DisparityRange(0, 32)
    rules = MatchingSettings(census=CensusSettings(smoothing=0.0, paths=paths))
    pair = scene.left, scene.right
    expected = census_sgm.match(*pair, searched, rules)
    found = match_expected(*pair, whole_grid(scene.left.shape, searched), searched, rules)
    for name, values in vars(expected).items():
        np.testing.assert_array_equal(getattr(found, name), values, err_msg=name)


def test_what_is_expected_is_found_in_fewer_cells(scene):
    searched = DisparityRange(0, 64)
    truth = scene.disparity.astype(np.float32)
    grid = expected_grid(truth.shape, [truth[::4, ::4]], 4, searched)
    assert grid.cells < 0.6 * whole_grid(truth.shape, searched).cells
    whole = census_sgm.match(scene.left, scene.right, searched, RULES)
    known = np.isfinite(whole.disparity) & (np.abs(whole.winner - truth) < 1)
    for threads in (1, 2):
        with thread_limit(threads):
            found = match_expected(scene.left, scene.right, grid, searched, RULES)
        assert (np.abs(found.winner - whole.winner)[known] < 0.5).mean() > 0.99


@pytest.mark.parametrize("end", [29, 40])
def test_ranges_of_any_length_are_kept(scene, end):
    searched = DisparityRange(3, end)
    grid = whole_grid(scene.left.shape, searched)
    found = match_expected(scene.left, scene.right, grid, searched, RULES)
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


def test_lanes_do_what_their_twins_do():
    rng = np.random.default_rng(0)
    sums = rng.integers(0, 50, 40).astype(np.uint16)
    words = rng.integers(0, 2**62, 40).astype(np.uint64)
    gradients = rng.integers(-15, 16, 40).astype(np.int16)

    @kernel
    def called(sums, words, gradients, paths, cost, best, layer, costs, numbers):
        one, winner = np.uint64(1), np.uint16(3)
        step = np.uint16(5), np.uint16(7), np.uint16(30)
        numbers[0] = lanes.extend_lanes(paths, one, np.uint64(20), *step, cost, one, sums)
        numbers[1] = lanes.least_lane(sums, one)
        numbers[2] = lanes.most_lane(sums, one)
        numbers[3] = lanes.first_lane(sums, one, lanes.least_lane(sums, one))
        numbers[4] = lanes.first_lane(sums, one, np.uint16(60000))
        numbers[5] = lanes.second_lane(sums, one, winner)
        numbers[6] = lanes.second_lane(sums, one, np.uint16(65535))
        numbers[7] = lanes.sum_lanes(sums, one)
        lanes.better_lanes(sums, one, best, layer, np.uint64(2), np.int16(-3))
        weights = np.uint8(2), np.uint8(2)
        word, level = words[0], gradients[0]
        lanes.pixel_cost_lanes(word, words, level, gradients, one, *weights, costs, np.uint64(4))

    def arrays():
        rng = np.random.default_rng(1)
        paths = rng.integers(7, 90, 40).astype(np.uint16)
        cost, best = rng.integers(0, 99, 40).astype(np.uint8), np.full(40, 25, np.uint16)
        empty = np.zeros(40, np.int16), np.zeros(40, np.uint8), np.zeros(8, np.int64)
        return [sums.copy(), words, gradients, paths, cost, best, *empty]

    ours, twins = arrays(), arrays()
    called(*ours)
    twin = called.py_func if hasattr(called, "py_func") else called
    twin.__globals__["lanes"] = plain_lanes
    try:
        twin(*twins)
    finally:
        twin.__globals__["lanes"] = lanes
    for one, other in zip(ours, twins, strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_plain_lanes_are_all_there():
    names = {name for name in vars(plain_lanes) if name.endswith(("_lane", "_lanes"))}
    assert names == {name for name in vars(lanes) if name.endswith(("_lane", "_lanes"))}
    assert guided_sgm.MARGIN > 0


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
