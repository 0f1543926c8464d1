"""Planes that are drawn have, at every pixel, the disparity of the paper's Eq. 1."""

import numpy as np
from hypothesis import given, settings

import naive_model
from model.scenes import scenes
from slanted.model.drawing import draw_disparity, draw_planes


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
