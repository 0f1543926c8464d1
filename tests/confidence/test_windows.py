"""Statistics of windows, against loops over pixels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_confidence
from slanted.confidence.windows import (
    STEP,
    blurred,
    coarse,
    extremes,
    fine,
    fit_windows,
    row_quantiles,
    span,
    wide_means,
)

SHAPES = [(8, 8), (9, 13), (17, 8), (33, 41)]
SIZES = st.tuples(st.integers(8, 24), st.integers(8, 24))


def noise(shape, seed=0):
    return np.random.default_rng(seed).normal(10, 5, shape).astype(np.float32)


@given(shape=SIZES, seed=st.integers(0, 99), side=st.sampled_from([1, 3, 5, 11]))
def test_means_are_those_of_the_naive_twin(shape, seed, side):
    values = noise(shape, seed)
    wanted = naive_confidence.window_means(values, side)
    np.testing.assert_allclose(blurred(values, side), wanted, rtol=1e-4, atol=1e-4)


@given(shape=SIZES, seed=st.integers(0, 99), side=st.sampled_from([1, 5, 11]))
def test_spans_are_those_of_the_naive_twin(shape, seed, side):
    values = noise(shape, seed)
    np.testing.assert_array_equal(span(values, side), naive_confidence.spans(values, side))


@given(shape=SIZES, seed=st.integers(0, 99), reach=st.sampled_from([2, 4, 9, 21, 61]))
def test_extremes_are_those_of_the_naive_twin(shape, seed, reach):
    values = noise(shape, seed)
    found = extremes(values, reach)
    wanted = naive_confidence.extremes(values, max(reach // STEP, 1))
    for name, one in wanted.items():
        np.testing.assert_array_equal(getattr(found, name), one, err_msg=name)


@given(shape=SIZES, seed=st.integers(0, 99))
def test_quantiles_of_rows_are_those_of_the_naive_twin(shape, seed):
    values, shares = noise(shape, seed), (0.1, 0.5, 0.9)
    for found, one in zip(
        row_quantiles(values, shares), naive_confidence.row_quantiles(values, shares), strict=True
    ):
        wanted = np.repeat(np.array(one)[:, None], shape[1], axis=1)
        np.testing.assert_allclose(found, wanted, rtol=1e-5)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_coarse_grid_holds_means_and_covers_the_image(shape):
    values = noise(shape)
    grid = coarse(values)
    assert grid.shape == (-(-shape[0] // STEP), -(-shape[1] // STEP))
    assert grid.mean(dtype=float) == pytest.approx(values.mean(dtype=float), rel=0.01)
    if shape == (8, 8):
        np.testing.assert_allclose(grid, values.reshape(2, 4, 2, 4).mean(axis=(1, 3)), rtol=1e-5)
    assert fine(grid, shape).shape == shape


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("side", [5, 31, 61])
def test_wide_means_of_a_constant_are_the_constant(shape, side):
    found = wide_means(np.full(shape, 7.5, np.float32), side)
    assert found.shape == shape
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, 7.5, rtol=1e-6)


def test_wide_means_are_close_to_exact_ones():
    rows, columns = np.mgrid[:80, :96]
    values = (np.sin(rows / 9) + np.cos(columns / 11)).astype(np.float32)
    wanted = np.array(naive_confidence.window_means(values, 28))  # seven pixels of the coarse grid
    inside = (slice(20, 60), slice(20, 76))
    assert np.abs(wide_means(values, 31) - wanted)[inside].max() < 0.15
    assert np.ptp(wanted[inside]) > 1


def with_gaps(values, share, seed=1):
    weight = np.random.default_rng(seed).random(values.shape) < share
    return (values * weight).astype(np.float32), weight.astype(np.float32)


def plane(shape, a=0.3, b=-0.7, c=40.0):
    rows, columns = np.mgrid[: shape[0], : shape[1]]
    return a * columns + b * rows + c


@given(
    shape=SIZES,
    share=st.sampled_from([1.0, 0.5, 0.05]),
    seed=st.integers(0, 99),
    side=st.sampled_from([8, 31, 61]),
)
def test_fits_are_those_of_the_naive_twin(shape, share, seed, side):
    _, weight = with_gaps(noise(shape, seed), share, seed)
    weight *= np.random.default_rng(seed).integers(1, 5, shape) / np.float32(4)  # as `coarse` does
    values = noise(shape, seed) * weight
    found = fit_windows(values, weight, side)
    wanted = naive_confidence.fit_windows(values, weight, 2 * (side // (2 * STEP)) + 1)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("share", [1.0, 0.6])
def test_a_plane_with_gaps_is_recovered(shape, share):
    exact = plane(shape)
    value, deviation = fit_windows(*with_gaps(exact, share), 61)
    inside = tuple(slice(n // 2 - 1, n // 2 + 1) for n in shape)  # their windows are the fullest
    # The added variance of one pixel flattens the slope a little in windows of few pixels.
    most = 1.0 if min(shape) < 16 else 0.1
    assert np.abs(value - exact)[inside].max() < most
    flat, none = fit_windows(*with_gaps(np.full(shape, 12.5), share), 61)
    np.testing.assert_allclose(flat, 12.5, rtol=1e-5)
    np.testing.assert_allclose(none, 0, atol=1e-3)
    assert (deviation >= 0).all()


def test_windows_without_a_value_have_none():
    value, deviation = fit_windows(
        np.zeros((10, 12), np.float32), np.zeros((10, 12), np.float32), 61
    )
    assert not value.any()
    assert not deviation.any()


def test_a_step_has_a_deviation_and_a_plane_hardly_any():
    shape = (40, 40)
    everywhere = np.ones(shape, np.float32)
    step = np.where(np.arange(40) < 20, 10, 30) * everywhere
    stepped = fit_windows(step, everywhere, 61)[1]
    smooth = fit_windows(plane(shape).astype(np.float32), everywhere, 61)[1]
    assert stepped[20, 20] > 4
    assert smooth[20, 20] < 1
