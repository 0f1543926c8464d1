"""Legends tell what the colours of a picture mean."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slanted.output.legends import Legend, draw_legend, nice_ticks, scale_legend, with_legend
from slanted.output.overlays import LABEL_COLOURS, labels_legend, regions_legend
from slanted.output.pictures import (
    ERROR_COLOURS,
    ERROR_STEPS,
    confidence_legend,
    disparity_legend,
    error_legend,
    margins_legend,
    planes_legend,
    strength_legend,
    viridis,
)

LEGENDS = {
    "disparity": disparity_legend(3.2, 61.7),
    "error": error_legend(),
    "confidence": confidence_legend(),
    "margins": margins_legend(np.array([0.0, 3.0, 5000.0, np.inf])),
    "no margins": margins_legend(np.full(3, np.inf)),
    "labels": labels_legend(),
    "regions": regions_legend(),
    "planes": planes_legend(),
    "strength": strength_legend(np.zeros((4, 4), np.float32)),
    "plain": Legend("left image"),
}


@pytest.mark.parametrize("legend", LEGENDS.values(), ids=LEGENDS)
@pytest.mark.parametrize("width", [1, 24, 160, 741, 4000])
def test_every_legend_fits_every_width(legend, width):
    strip = draw_legend(legend, width)
    assert strip.shape[1:] == (width, 3)
    assert strip.dtype == np.uint8
    if width >= 160:
        assert (strip < 120).any()  # something is written


def test_a_picture_keeps_its_pixels_above_the_legend():
    picture = np.random.default_rng(0).integers(0, 255, (50, 300, 3), dtype=np.uint8)
    framed = with_legend(picture, labels_legend())
    np.testing.assert_array_equal(framed[:50], picture)
    grey = with_legend(picture[:, :, 0], strength_legend(np.ones((2, 2), np.float32)))
    np.testing.assert_array_equal(grey[:50, :, 1], picture[:, :, 0])


def test_all_colours_are_in_the_legend():
    strip = {tuple(colour) for colour in draw_legend(labels_legend(), 500).reshape(-1, 3).tolist()}
    assert strip >= set(LABEL_COLOURS.values())
    strip = {tuple(colour) for colour in draw_legend(error_legend(), 800).reshape(-1, 3).tolist()}
    assert strip >= {tuple(colour) for colour in ERROR_COLOURS.tolist()}
    bar = draw_legend(disparity_legend(0, 1), 800).reshape(-1, 3)
    for end in viridis()[[0, -1]]:
        assert (bar == end).all(axis=1).any()


def test_ticks_of_the_error_stand_where_the_colour_changes():
    for (place, text), step in zip(error_legend().ticks, ERROR_STEPS, strict=True):
        assert float(text) == pytest.approx(step, rel=0.03)
        assert place * len(ERROR_COLOURS) == pytest.approx(np.searchsorted(ERROR_STEPS, step) + 1)


@given(st.floats(-1e4, 1e4), st.floats(1e-3, 1e5), st.integers(2, 9))
def test_ticks_are_few_round_and_inside(low, span, most):
    high = low + span
    ticks = nice_ticks(low, high, most)
    assert len(ticks) <= most
    slack = 1e-6 * (abs(low) + span)
    assert all(low - slack <= tick <= high + slack for tick in ticks)
    if most >= 4:
        assert ticks
    steps = np.diff(ticks)
    assert np.allclose(steps, steps[:1], rtol=1e-6)


def test_a_scale_of_one_value_has_a_legend():
    assert scale_legend("x", viridis(), 5.0, 5.0).ticks == ((0.0, "5"),)


def test_as_data_is_what_a_page_needs():
    data = disparity_legend(0, 10).as_data()
    assert data["bar"][0] == "#440154"
    assert data["ticks"][0] == (0.0, "0")
    assert data["swatches"] == [["unknown", "#000000"]]
