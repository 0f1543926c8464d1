"""Planes are drawn as in the paper's Eq. 1, and rows continued where the right view ends."""

import numpy as np
import pytest
from hypothesis import given, settings

import naive_model
from model.scenes import scenes
from slanted.matching import DisparityRange
from slanted.model import drawing
from slanted.model.drawing import continue_rows, draw_disparity, draw_planes, draw_result
from slanted.regions import build_regions
from slanted.settings import Settings


@given(scenes)
@settings(max_examples=20, deadline=None)
def test_every_pixel_is_on_the_plane_of_its_segment(scene):
    regions, planes = scene.regions, scene.planes
    expected = np.empty(scene.labels.shape)
    for (v, u), i in np.ndenumerate(scene.labels):
        expected[v, u] = naive_model.disparity_at((u, v), planes[i], regions.centre[i])
    drawn = draw_planes(scene.labels.astype(np.int32), regions.centre, planes)
    np.testing.assert_allclose(drawn, expected, rtol=1e-5, atol=1e-5)
    clipped = draw_disparity(regions, planes, 1.0, 5.0)
    np.testing.assert_allclose(clipped, np.clip(expected, 1, 5), rtol=1e-5, atol=1e-5)


def naive_continued(disparity, matched, step):
    continued = disparity.copy()
    for y, row in enumerate(disparity):
        seen = [x for x, d in enumerate(row) if np.isfinite(matched[y, x]) and x - d >= 0]
        for x in range(seen[0] if seen else 0):
            reached = row[seen[0]]
            if x < reached and step / 6 < reached - row[x] < step:
                continued[y, x] = reached
    return continued


def test_rows_are_continued_as_their_definition_says():
    rng = np.random.default_rng(2)
    for low in (0, -5):
        disparity = rng.uniform(low, 20, (40, 30)).astype(np.float32)
        matched = np.where(rng.random((40, 30)) < 0.1, disparity, np.nan).astype(np.float32)
        matched[:3] = np.nan
        continued = disparity.copy()
        continue_rows(continued, matched, 6.0)
        np.testing.assert_array_equal(continued, naive_continued(disparity, matched, 6.0))
        assert 0.01 < (continued != disparity).mean() < 0.5
        again = disparity.copy()
        continue_rows(again, matched, 0.0)
        np.testing.assert_array_equal(again, disparity)


def strip_scene():
    """A surface at 20 px whose plane recedes in the strip, above one with a step behind it."""
    disparity = np.full((4, 60), 20, np.float32)
    disparity[:2, :20] = np.linspace(17, 20, 20, endpoint=False)
    disparity[2:, :20] = 8
    matched = disparity.copy()
    matched[:, :20] = np.nan
    return disparity, matched


def test_a_receding_plane_is_continued_and_slopes_and_steps_are_kept():
    disparity, matched = strip_scene()
    sloped = disparity[:2, :20] > 20 - 5 / 6
    continue_rows(disparity, matched, 5.0)
    assert (disparity[:2, :20][~sloped] == 20).all()
    assert (disparity[:2, :20][sloped] < 20).all()
    assert (disparity[2:, :20] == 8).all()


def test_a_plane_that_comes_nearer_is_kept():
    disparity, matched = strip_scene()
    disparity[:, :20] = 25
    continue_rows(disparity, matched, 5.0)
    assert (disparity[:, :20] == 25).all()


def test_what_the_right_view_would_show_is_no_strip():
    disparity, matched = strip_scene()
    disparity[:, :40], matched[:, :40] = 18, np.nan
    continue_rows(disparity, matched, 5.0)
    assert (disparity[:, :20] == 20).all()
    assert (disparity[:, 20:40] == 18).all()


@pytest.mark.parametrize("at_a_time", [2**20, 150])
def test_a_result_is_drawn_with_its_rows_continued(at_a_time, monkeypatch):
    monkeypatch.setattr(drawing, "PIXELS_AT_A_TIME", at_a_time)
    regions = build_regions(np.repeat([[0, 1]], 40, axis=1).repeat(4, axis=0).astype(np.int32))
    planes = np.array([[0.01, 0.0, 29.5], [0.0, 0.0, 30.0]])
    matched = np.full((4, 80), np.nan, np.float32)
    matched[:, 40:] = 30
    continued = Settings().with_text({"model.strip_step": "0.02"})
    drawn = draw_result(regions, planes, continued, DisparityRange(0, 64), matched)
    assert (drawn[:, :30] == 30).all()
    assert (drawn[:, 30:40] < 30).all()
    plain = Settings().with_text({"model.strip_step": "0"})
    np.testing.assert_array_equal(
        draw_result(regions, planes, plain, DisparityRange(0, 64), matched),
        draw_disparity(regions, planes),
    )
