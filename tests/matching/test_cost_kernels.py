"""Each kernel of the census matcher equals its naive twin, exactly."""

import cv2
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import naive_matching as naive
from slanted.errors import InputError
from slanted.images.census_kernels import census_rows
from slanted.matching import DisparityRange, census_sgm, sgm_paths, winner_kernels
from slanted.matching.cost_kernels import cost_rows
from slanted.runtime.threads import thread_limit
from slanted.settings import CensusSettings, Settings

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


@few
@given(SIZES, SEEDS, st.integers(1, 3))
def test_census(size, seed, parts):
    grey = images(size, seed)[0]
    found = np.empty(size, np.uint64)
    padded = cv2.copyMakeBorder(grey, 3, 3, 4, 4, cv2.BORDER_REPLICATE)
    in_parts(size[0], parts, lambda a, b: census_rows(padded, a, b, found))
    np.testing.assert_array_equal(found, naive.census(grey))


@few
@given(SIZES, RANGES, SEEDS, st.integers(1, 3), st.sampled_from([(2, 2), (1, 0), (0, 4), (3, 2)]))
def test_costs(size, searched, seed, parts, weights):
    low, count = searched
    rng = np.random.default_rng(seed)
    words = rng.integers(0, 2**62, (2, *size), dtype=np.uint64)
    gradients = rng.integers(-15, 16, (2, *size)).astype(np.int16)
    found = np.empty((*size, count), np.uint8)
    narrow = [np.uint8(weight) for weight in weights]
    in_parts(
        size[0], parts, lambda a, b: cost_rows(*words, *gradients, low, *narrow, a, b, found[a:b])
    )
    expected = naive.costs(*words, *gradients, low, count, weights)
    np.testing.assert_array_equal(found, expected)


def test_the_largest_costs_divide_exactly():
    words = np.zeros((2, 6, 8), np.uint64)
    words[1] = 2**62 - 1
    gradients = np.full((2, 6, 8), 15, np.int16)
    gradients[1, ::2] = -14
    found = np.empty((6, 8, 5), np.uint8)
    cost_rows(*words, *gradients, -2, np.uint8(3), np.uint8(2), 0, 6, found)
    expected = naive.costs(*words, *gradients, -2, 5, (3, 2))
    assert expected.max() > 215
    np.testing.assert_array_equal(found, expected)


@few
@given(
    SIZES,
    st.integers(1, 19),
    SEEDS,
    st.sampled_from([4, 8, 16]),
    st.sampled_from([(40, 120, 350), (0, 1, 1), (2000, 2000, 3800), (5, 20, 90)]),
)
def test_path_sums(size, count, seed, paths, penalties):
    rng = np.random.default_rng(seed)
    cost = rng.integers(0, 256, (*size, count)).astype(np.uint8)
    grey = images(size, seed)[0]
    p1, p2_min, p2 = penalties
    chosen = CensusSettings(paths=paths, p1=p1, p2_min=p2_min, p2=p2, p2_slope=1.5)
    found = np.full(cost.shape, 999, np.uint16)  # whatever was there
    sgm_paths.sum_paths(sgm_paths.Costs((), cost.shape, 0, cost), grey, chosen, found)
    expected = naive.path_sums(cost, grey, p1, sgm_paths.penalties(chosen), paths)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("kept_rows", [0, 1, 30, 69, 70])
@pytest.mark.parametrize(("threads", "paths"), [(1, 8), (2, 4), (2, 8), (2, 16)])
def test_costs_that_are_not_kept_are_made_again(monkeypatch, kept_rows, threads, paths):
    size, searched = (70, 20), DisparityRange(-3, 8)
    monkeypatch.setattr(sgm_paths, "KEPT_BYTES", kept_rows * size[1] * len(searched))
    left, right = images(size, 1)
    settings = CensusSettings(paths=paths)
    with thread_limit(threads):
        costs = sgm_paths.make_costs(left, right, searched, settings)
        found = np.empty((*size, len(searched)), np.uint16)
        sgm_paths.sum_paths(costs, left, settings, found)
    assert abs(len(costs.kept) - kept_rows) <= 1
    assert costs.parts()[0][0] == 0
    assert costs.parts()[-1][1] == 70
    whole = np.concatenate([costs.rows(*part) for part in costs.parts()])
    census = [naive.census(image) for image in (left, right)]
    gradients = [np.clip(naive.sobel(image), -15, 15) for image in (left, right)]
    np.testing.assert_array_equal(whole, naive.costs(*census, *gradients, -3, 11, (2, 2)))
    expected = naive.path_sums(whole, left, settings.p1, sgm_paths.penalties(settings), paths)
    np.testing.assert_array_equal(found, expected)


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
def test_winners(size, searched, seed, parts, margins):
    low, count = searched
    rng = np.random.default_rng(seed)
    largest = int(rng.choice([1, 5, 500, 64880]))
    sums = rng.integers(0, largest + 1, (*size, count)).astype(np.uint16)
    if rng.random() < 0.5:  # one clear winner a pixel, now and then at the edge of a margin
        sums = np.maximum(sums, largest // 2).astype(np.uint16)
        least = (sums.mean(axis=2, keepdims=True) * rng.uniform(0.2, 0.8, (*size, 1))).astype(int)
        np.put_along_axis(sums, rng.integers(0, count, (*size, 1)), least.astype(np.uint16), axis=2)
    found = [np.empty(size, np.int32) for _ in range(2)]
    found += [np.empty(size, np.float32) for _ in range(2)]
    found.append(np.empty(size, np.bool_))
    in_parts(
        size[0],
        parts,
        lambda a, b: winner_kernels.winner_rows(sums, low, *margins, a, b, *found),
    )
    for one, other in zip(found, naive.winners(sums, low, margins), strict=True):
        np.testing.assert_array_equal(one, other)


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
        lambda a, b: winner_kernels.agreement_rows(
            left, right, low, low + count, threshold, a, b, found
        ),
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


def test_bands_cover_every_row_once(monkeypatch):
    assert list(census_sgm.bands(375, 1242, 128)) == [(slice(0, 375), slice(0, 375))]
    for height, width, count in ((3648, 5472, 256), (1000, 90_000, 256), (10_000, 500, 64)):
        found = list(census_sgm.bands(height, width, count))
        rows = np.concatenate([np.arange(core.start, core.stop) for core, _ in found])
        np.testing.assert_array_equal(rows, np.arange(height))
        for core, seen in found:
            assert seen.start in (0, core.start - census_sgm.OVERLAP)
            assert seen.stop in (height, core.stop + census_sgm.OVERLAP)
            limit = max(
                census_sgm.BAND_BYTES // (census_sgm.BYTES_A_CELL * width * count),
                3 * census_sgm.OVERLAP,
            )
            assert seen.stop - seen.start <= limit


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
