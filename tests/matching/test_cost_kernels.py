"""Each kernel of the census matcher equals its naive twin, exactly."""

from itertools import pairwise

import cv2
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import naive_matching as naive
from slanted.errors import InputError
from slanted.images.census_kernels import census_rows
from slanted.matching import DisparityRange, census_sgm, sgm_paths
from slanted.matching.census_sgm import match_in_bands
from slanted.matching.cost_kernels import square_costs
from slanted.matching.search_bands import EVERY_MAP
from slanted.matching.search_grid import SIDE, STEP, SearchGrid, whole_grid
from slanted.matching.sgm_kernels import path_state, path_steps, sweep_squares
from slanted.matching.sgm_paths import _mirrored
from slanted.matching.winner_kernels import agreement_rows, square_winners
from slanted.runtime.threads import thread_limit
from slanted.settings import CensusSettings, MatchingSettings, Settings

SIZES = st.tuples(st.integers(1, 9), st.integers(1, 13))
RANGES = st.tuples(st.integers(-12, 12), st.integers(1, 19))
SEEDS = st.integers(0, 2**32 - 1)
few = settings(max_examples=25, deadline=None)


def in_parts(rows, parts, function):
    """Call a kernel for a few bands of rows, as threads would."""
    for k in range(parts):
        function(rows * k // parts, rows * (k + 1) // parts)


def images(size, seed):
    """Two grey images; few grey levels give ties."""
    rng = np.random.default_rng(seed)
    levels = int(rng.choice([2, 8, 256]))
    return (rng.integers(0, levels, (2, *size)) * (255 // (levels - 1))).astype(np.uint8)


def random_grid(rng, height, width):
    squares = -(-height // SIDE), -(-width // SIDE)
    low = rng.integers(0, 20, squares).astype(np.int32)
    return SearchGrid(low, STEP * rng.integers(1, 3, squares).astype(np.int32))


def cells_of(grid, y, x):
    """Where a pixel's cells are in a volume."""
    row, column = y // SIDE, x // SIDE
    layers = int(grid.count[row, column])
    pitch = SIDE * int(grid.count[row].sum())
    first = int(grid.start[row, column]) + (y % SIDE) * pitch + x % SIDE * layers
    return int(grid.low[row, column]), slice(first, first + layers)


@given(seed=SEEDS)
@settings(max_examples=10, deadline=None)
def test_pixels_lie_one_after_another_in_a_volume(seed):
    grid = random_grid(np.random.default_rng(seed), 40, 50)
    rows, columns = (SIDE * length for length in grid.count.shape)  # squares are not cut off
    ends = [0]
    for place in np.ndindex(rows, columns):
        cells = cells_of(grid, *place)[1]
        assert cells.start == ends[-1]
        ends.append(cells.stop)
    assert ends[-1] == grid.cells


@few
@given(SIZES, SEEDS, st.integers(1, 3))
def test_census(size, seed, parts):
    grey = images(size, seed)[0]
    found = np.empty(size, np.uint64)
    padded = cv2.copyMakeBorder(grey, 3, 3, 4, 4, cv2.BORDER_REPLICATE)
    in_parts(size[0], parts, lambda a, b: census_rows(padded, a, b, found))
    np.testing.assert_array_equal(found, naive.census(grey))


def volume_of(grid, values, dtype, other):
    """A flat volume with (H, W, D) values of the disparities from the grid's lowest on.

    What is beyond them, and pixels beyond the image, have some `other` value.
    """
    flat = np.full(grid.cells, other, dtype)
    for y, x in np.ndindex(values.shape[:2]):
        low, cells = cells_of(grid, y, x)
        some = values[y, x, low - grid.low.min() :][: cells.stop - cells.start]
        flat[cells][: len(some)] = some
    return flat


def of_pixels(volume, grid, size, count):
    """The first `count` cells of each pixel, (H, W, D)."""
    pixels = [volume[cells_of(grid, y, x)[1]][:count] for y, x in np.ndindex(size)]
    return np.array(pixels).reshape(*size, count)


def costs_of(words, gradients, grid, weights, parts=1):
    """The volume that the kernel writes."""
    before, after = max(0, -int(grid.low.min())) + SIDE, grid.reach + SIDE
    mirrored = [_mirrored(view, before, after) for view in (words[1], gradients[1])]
    inputs = words[0], mirrored[0], gradients[0], mirrored[1], before
    narrow, found = [np.uint8(weight) for weight in weights], np.zeros(grid.cells, np.uint8)

    def some(first, last):
        square_costs(*inputs, *narrow, *grid.arrays(), first, last, found)

    in_parts(len(grid.low), parts, some)
    return found


@few
@given(SIZES, RANGES, SEEDS, st.integers(1, 3), st.sampled_from([(2, 2), (1, 0), (0, 4), (3, 2)]))
@example((35, 21), (-4, 20), 0, 2, (2, 2))  # of several squares
def test_costs(size, searched, seed, parts, weights):
    low, count = searched
    rng = np.random.default_rng(seed)
    words = rng.integers(0, 2**62, (2, *size), dtype=np.uint64)
    gradients = rng.integers(-15, 16, (2, *size)).astype(np.int16)
    grid = whole_grid(size, DisparityRange(low, low + count))
    found = costs_of(words, gradients, grid, weights, parts)
    expected = naive.costs(*words, *gradients, low, grid.most, weights)
    np.testing.assert_array_equal(of_pixels(found, grid, size, grid.most), expected)


@given(seed=st.integers(0, 2**31), low=st.sampled_from([-5, 0, 3]))
@settings(max_examples=5, deadline=None)
def test_costs_of_squares_are_those_of_the_whole_range(seed, low):
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
    expected = naive.costs(*census, *gradients, low, 52, (2, 2))
    for y, x in np.ndindex(shape):
        first, cells = cells_of(grid, y, x)
        layers = slice(first - low, first - low + cells.stop - cells.start)
        np.testing.assert_array_equal(volume[cells], expected[y, x, layers])


def test_the_largest_costs_divide_exactly():
    words = np.zeros((2, 6, 8), np.uint64)
    words[1] = 2**62 - 1
    gradients = np.full((2, 6, 8), 15, np.int16)
    gradients[1, ::2] = -14
    grid = whole_grid((6, 8), DisparityRange(-2, 3))
    found = of_pixels(costs_of(words, gradients, grid, (3, 2)), grid, (6, 8), 5)
    expected = naive.costs(*words, *gradients, -2, 5, (3, 2))
    assert expected.max() > 215
    np.testing.assert_array_equal(found, expected)


def swept(cost, grey, penalties, steps, grid, high, parts=1):
    """The sums after a sweep down and one up, each in some parts."""
    sums = np.full(grid.cells, 999, np.uint16)  # whatever was there
    for direction in (1, -1):
        state = path_state(steps, grey.shape[1], grid.most)
        edges = [len(grey) * k // parts for k in range(parts + 1)]
        for rows in list(pairwise(edges))[::direction]:
            inputs = cost, grey, *penalties, direction, high, *grid.arrays(), *rows, steps
            sweep_squares(*inputs, *state, direction == 1, sums)
    return sums


@few
@given(
    SIZES,
    st.integers(1, 19),
    SEEDS,
    st.sampled_from([4, 8, 16]),
    st.sampled_from([(40, 120, 350), (0, 1, 1), (2000, 2000, 3800), (5, 20, 90)]),
)
@example((18, 35), 20, 0, 16, (40, 120, 350))  # of several squares
@example((3, 5), 70, 0, 8, (40, 120, 350))  # of five parts
def test_path_sums(size, count, seed, paths, penalties):
    rng = np.random.default_rng(seed)
    cost = rng.integers(0, 256, (*size, count)).astype(np.uint8)
    grey = images(size, seed)[0]
    p1, p2_min, p2 = penalties
    table = sgm_paths.penalties(CensusSettings(p1=p1, p2_min=p2_min, p2=p2, p2_slope=1.5))
    grid = whole_grid(size, DisparityRange(-3, count - 3))
    volume = volume_of(grid, cost, np.uint8, 0)  # what is beyond the range would be cheapest
    sums = swept(volume, grey, (p1, table), path_steps(paths), grid, count - 3)
    expected = naive.path_sums(cost, grey, p1, table, paths)
    np.testing.assert_array_equal(of_pixels(sums, grid, size, count), expected)


@given(
    seed=st.integers(0, 2**31), paths=st.sampled_from([4, 8, 16]), high=st.sampled_from([23, 52])
)
@settings(max_examples=8, deadline=None)
def test_paths_enter_squares_that_search_others(seed, paths, high):
    rng, shape = np.random.default_rng(seed), (19, 35)
    grid = random_grid(rng, *shape)
    grid.low[0, 0] = 0
    whole = rng.integers(0, 256, (*shape, 52)).astype(np.uint8)
    grey = rng.integers(0, 256, shape).astype(np.uint8)
    penalty = np.linspace(300, 80, 256).astype(np.uint16)
    cost = volume_of(grid, whole, np.uint8, 0)
    sums = swept(cost, grey, (30, penalty), path_steps(paths), grid, high, parts=2)
    arguments = whole, grey, 30, penalty, paths, grid.low, grid.count, SIDE, high
    for (y, x), expected in naive.grid_sums(*arguments).items():
        assert sums[cells_of(grid, y, x)[1]][: len(expected)].tolist() == list(expected.values())


@pytest.mark.parametrize(("threads", "paths"), [(1, 8), (2, 4), (2, 8), (2, 16)])
def test_sums_of_a_pair(threads, paths):
    size, searched = (40, 20), DisparityRange(-3, 8)
    left, right = images(size, 1)
    rules, grid = CensusSettings(paths=paths), whole_grid(size, searched)
    costs, sums = np.empty(grid.cells, np.uint8), np.empty(grid.cells, np.uint16)
    with thread_limit(threads):
        sgm_paths.sum_paths((left, right), grid, searched.high, rules, costs, sums)
    census = [naive.census(image) for image in (left, right)]
    gradients = [np.clip(naive.sobel(image), -15, 15) for image in (left, right)]
    whole = naive.costs(*census, *gradients, -3, 11, (2, 2))
    np.testing.assert_array_equal(of_pixels(costs, grid, size, 11), whole)
    expected = naive.path_sums(whole, left, rules.p1, sgm_paths.penalties(rules), paths)
    np.testing.assert_array_equal(of_pixels(sums, grid, size, 11), expected)


def winners_of(sums, low, margins, parts=1, grid=None):
    """What the kernel finds in (H, W, D) sums; squares search them all if no grid tells."""
    size, count = sums.shape[:2], sums.shape[2]
    grid = grid or whole_grid(size, DisparityRange(low, low + count))
    volume = volume_of(grid, sums, np.uint16, 0)  # what is beyond the range would win
    found = [np.empty(size, kind) for kind in (np.int32, np.int32, np.float32, np.float32, bool)]
    chosen = volume, *grid.arrays(), low, low + count, *margins
    in_parts(size[0], parts, lambda a, b: square_winners(*chosen, a, b, *found))
    return found


@few
@given(
    SIZES,
    RANGES,
    SEEDS,
    st.integers(1, 3),
    st.tuples(
        st.sampled_from([0, 5, 40, 100]), st.sampled_from([0, 30, 60]), st.sampled_from([0, 10, 50])
    ),
)
@example((3, 5), (0, 1), 0, 1, (100, 0, 0))  # a winner alone
@example((9, 90), (0, 70), 0, 1, (10, 60, 10))  # of five parts
def test_winners(size, searched, seed, parts, margins):
    low, count = searched
    rng = np.random.default_rng(seed)
    largest = int(rng.choice([1, 5, 500, 64880]))
    sums = rng.integers(0, largest + 1, (*size, count)).astype(np.uint16)
    if rng.random() < 0.5:  # one clear winner a pixel, now and then at the edge of a margin
        sums = np.maximum(sums, largest // 2).astype(np.uint16)
        least = (sums.mean(axis=2, keepdims=True) * rng.uniform(0.2, 0.8, (*size, 1))).astype(int)
        np.put_along_axis(sums, rng.integers(0, count, (*size, 1)), least.astype(np.uint16), axis=2)
    found = winners_of(sums, low, margins, parts)
    for one, other in zip(found, naive.winners(sums, low, margins), strict=True):
        np.testing.assert_array_equal(one, other)


def hard_sums(rng, size, count):
    """Half of the pixels have a winner that is clear, but hardly below the mean of the others."""
    sums = rng.integers(0, rng.choice([9, 4000]), (*size, count)).astype(np.uint16)
    flat = rng.random(size) < 0.5
    sums[flat] = 3000 + rng.integers(0, 99, sums.shape)[flat]
    sums[flat, rng.integers(0, count, flat.sum())] = rng.integers(1500, 2400, flat.sum())
    return sums


@given(seed=st.integers(0, 2**31), low=st.sampled_from([-4, 0, 5]), count=st.sampled_from([27, 32]))
@settings(max_examples=12, deadline=None)
def test_winners_of_several_squares(seed, low, count):
    whole, margins = hard_sums(np.random.default_rng(seed), (3, 70), count), (10, 60, 10)
    found = winners_of(whole, low, margins)
    for ours, twin in zip(found, naive.winners(whole, low, margins), strict=True):
        np.testing.assert_array_equal(ours, twin)


@given(
    seed=st.integers(0, 2**31),
    lowest=st.sampled_from([-30, -5, 0, 3]),
    cut=st.sampled_from([0, 9, 25]),
)
@settings(max_examples=12, deadline=None)
def test_winners_of_squares_that_search_others(seed, lowest, cut):
    """Even where the range ends before the disparities of a square do, by more than a `STEP`."""
    rng, size = np.random.default_rng(seed), (18, 53)
    grid = random_grid(rng, *size)
    grid.low[:] += lowest
    low, end = int(grid.low.min()), int((grid.low + grid.count).max())
    count = max(end - cut, int(grid.low.max()) + 1) - low
    rows, columns = np.indices(size) // SIDE
    above = np.arange(low, low + count) - grid.low[rows, columns, None]
    searched = (above >= 0) & (above < grid.count[rows, columns, None])
    whole, margins = hard_sums(rng, size, count), (10, 60, 10)
    found = winners_of(whole, low, margins, grid=grid)
    for ours, twin in zip(found, naive.winners(whole, low, margins, searched), strict=True):
        np.testing.assert_array_equal(ours, twin)


@pytest.mark.parametrize("searched", [DisparityRange(-2, 19), DisparityRange(0, 16)])
def test_a_band_has_all_maps_of_the_twins(searched):
    size, rules = (19, 40), MatchingSettings(census=CensusSettings(smoothing=0.0))
    left, right = images(size, 3)
    right[:, :-5] = left[:, 5:]
    census = [naive.census(image) for image in (left, right)]
    gradients = [np.clip(naive.sobel(image), -15, 15) for image in (left, right)]
    low, high, tests = searched.low, searched.high, rules.census
    cost = naive.costs(*census, *gradients, low, len(searched), (2, 2))
    sums = naive.path_sums(cost, left, tests.p1, sgm_paths.penalties(tests), tests.paths)
    margins = tests.uniqueness, tests.contrast, tests.rival
    one, other, winner, margin, unique = naive.winners(sums, low, margins)
    state = naive.agreement(one, other, low, high, rules.left_right_threshold)
    disparity = np.where((state == 0) & unique, winner, np.float32(np.nan))
    wanted = *EVERY_MAP, "state"
    grid = whole_grid(size, searched)
    found = match_in_bands((left, right), grid, searched, rules, wanted)
    expected = disparity, winner, state == 0, margin, state
    for name, values in zip(wanted, expected, strict=True):
        np.testing.assert_array_equal(found[name], values, err_msg=name)
    assert 0.5 < np.isfinite(disparity).mean() < 1
    assert {0, 1, 2} == set(state.reshape(-1))


@few
@given(SIZES, RANGES, SEEDS, st.integers(1, 3), st.integers(1, 3))
def test_agreement(size, searched, seed, parts, threshold):
    low, count = searched
    rng = np.random.default_rng(seed)
    left = rng.integers(low, low + count, size).astype(np.int32)
    right = rng.integers(low - 1, low + count, size).astype(np.int32)
    found = np.empty(size, np.uint8)
    in_parts(
        size[0],
        parts,
        lambda a, b: agreement_rows(left, right, low, low + count, threshold, a, b, found),
    )
    expected = naive.agreement(left, right, low, low + count, threshold)
    np.testing.assert_array_equal(found, expected)


def test_penalties_fall_with_the_step_of_grey():
    table = sgm_paths.penalties(CensusSettings(p2=350, p2_min=120, p2_slope=2.0))
    assert (table[0], table[10], table[115], table[255]) == (350, 330, 120, 120)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"census_weight": 3, "gradient_weight": 3}, "costs of at most 255, got up to 276"),
        ({"median": 4}, r"matching\.census\.median: expected 0, 3 or 5, got 4"),
        ({"paths": 6}, r"matching\.census\.paths: expected 4, 8 or 16, got 6"),
        ({"census_weight": 3, "gradient_weight": 4}, r"costs of at most 255, got up to 306"),
        ({"p1": 90}, r"matching\.census\.p2_min: expected a value from p1 \(90\)"),
        ({"p2": 70}, r"to p2 \(70\), got 80"),
    ],
)
def test_settings_that_do_not_fit_are_refused(changes, message):
    with pytest.raises(InputError, match=message):
        Settings().updated({"matching": {"census": changes}})


def test_speckles_of_wide_ranges_fit_16_bits():
    disparity = np.full((30, 40), 16000.0, np.float32)
    disparity[10:13, 10:13] = -16000.0
    census_sgm.drop_speckles(disparity, DisparityRange(-16384, 16384), 20, 2)
    assert np.isnan(disparity).sum() == 9
    assert np.isnan(disparity[10:13, 10:13]).all()


def test_medians_remove_spikes_and_keep_holes_and_edges():
    disparity = np.full((20, 30), 7.0, np.float32)
    disparity[:, 15:] = 20.0
    step = disparity.copy()
    disparity[5, 5], disparity[12, 20] = 40.0, 3.0
    disparity[8:11, 8:11] = np.nan
    census_sgm.take_medians(disparity, 5)
    assert np.isnan(disparity[8:11, 8:11]).all()
    known = np.isfinite(disparity)
    assert known.sum() == disparity.size - 9
    np.testing.assert_array_equal(disparity[known], step[known])
    unknown = np.full((6, 6), np.nan, np.float32)
    census_sgm.take_medians(unknown, 5)
    assert np.isnan(unknown).all()


def test_speckles_are_told_by_steps_in_pixels():
    disparity = np.full((30, 40), 10.0, np.float32)
    disparity[10:14, 10:14] = 13.0
    for step, unknown in ((2, 16), (4, 0)):
        found = disparity.copy()
        census_sgm.drop_speckles(found, DisparityRange(0, 64), 20, step)
        assert np.isnan(found).sum() == unknown


@pytest.mark.parametrize("value", [0, 1, 5])
def test_holes_do_not_save_a_speckle(value):
    """Not even one of the lowest disparity, whose number is next to that of holes."""
    disparity = np.full((20, 20), np.nan, np.float32)
    disparity[8:11, 8:11] = value
    census_sgm.drop_speckles(disparity, DisparityRange(0, 16), 50, 2)
    assert np.isnan(disparity).all()
