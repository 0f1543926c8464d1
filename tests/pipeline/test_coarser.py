"""Planes that are found on a smaller pair: sizes, planes, neighbours, energies, files."""

import numpy as np
import pytest

import slanted
from slanted.inference.previous_frame import PreviousFrame
from slanted.model.drawing import draw_planes
from slanted.pipeline import reestimate
from slanted.pipeline.coarser import _smaller_frame
from slanted.settings.grid import SMALL, times_coarser
from slanted.synthetic import make_scene, make_video

COARSE = {"model.coarser": 2, "segmentation.count": 30, "matching.max_disparity": 40}


@pytest.fixture
def scene(monkeypatch):
    """A pair of odd sides that counts as large."""
    monkeypatch.setattr("slanted.settings.grid.SMALL", 1000)
    return make_scene(151, 101, segments=20, max_disparity=30.0, seed=3)


@pytest.fixture
def result(scene):
    return slanted.estimate(scene.left, scene.right, COARSE, preset="fast")


def test_maps_have_the_size_of_the_image(result):
    shape = 101, 151
    maps = result.disparity, result.matched, result.occluded, result.confidence, result.sky
    assert [each.shape for each in (*maps, result.deviation)] == [shape] * 6
    assert result.coarser == 2
    assert len(result.planes) == result.regions.count
    assert len(result.labels) == len(result.regions.edges)
    assert len(result.regions.chi_squared) == len(result.regions.edges)
    assert result.searched.high == 40


def test_nothing_in_a_run_asks_for_the_boundaries_of_the_whole_image(scene):
    fresh = slanted.estimate(scene.left, scene.right, COARSE, preset="fast")
    assert fresh.coarser == 2
    assert "boundaries" not in vars(fresh.regions)
    assert len(fresh.regions.boundary_start) == fresh.regions.number_of_edges + 1


def test_segments_are_blocks_of_pixels(result):
    labels = result.regions.label_image
    np.testing.assert_array_equal(labels[::2, :-1:2], labels[::2, 1::2])
    np.testing.assert_array_equal(labels[:-1:2], labels[1::2])


def test_the_disparity_is_that_of_the_planes_and_right(scene, result):
    flat = {"model.relief": 0, "model.strip_step": 0}
    plain = slanted.estimate(scene.left, scene.right, COARSE | flat, preset="fast")
    regions = plain.regions
    drawn = draw_planes(regions.label_image, regions.centre, plain.planes)
    np.testing.assert_allclose(np.clip(drawn, 0, 40), plain.disparity, atol=1e-4)
    assert 0 < np.abs(plain.disparity - result.disparity).mean() < 0.5
    wrong = np.abs(result.disparity - scene.disparity)[~scene.occluded] > 3
    assert wrong.mean() < 0.1
    # Without a shift of half a pixel planes would be off by half their slope.
    near = np.abs(result.disparity - scene.disparity)[~scene.occluded]
    assert np.median(near) < 0.15


def test_energies_are_of_the_smaller_model(scene, result):
    assert result.bound <= result.energy
    whole = slanted.estimate(scene.left, scene.right, COARSE | {"model.coarser": 1}, preset="fast")
    assert whole.coarser == 1
    # The smaller model stands for the whole one.
    assert 0.5 < result.energy / whole.energy < 2


def test_a_result_is_read_back_as_it_was(result, tmp_path):
    result.save(tmp_path / "out")
    again = slanted.Result.load(tmp_path / "out")
    assert again.coarser == 2
    assert again.energy == pytest.approx(result.energy)
    for name in ("disparity", "matched", "occluded", "confidence", "deviation", "planes"):
        np.testing.assert_array_equal(getattr(again, name), getattr(result, name), err_msg=name)


def test_relief_stays_within_the_range(scene):
    # Most disparities are beyond the end of this range, to which planes are clipped.
    short = COARSE | {"matching.max_disparity": 14, "model.relief": 5.0}
    with pytest.warns(slanted.errors.SlantedWarning, match="where the range ends"):
        found = slanted.estimate(scene.left, scene.right, short, preset="fast")
    assert 0 <= found.disparity.min() <= found.disparity.max() <= 14


def test_reestimate_takes_weights_as_they_are(scene, result):
    again = reestimate(result, settings={"model.pixel_weights": True})
    assert again.pixel_weights is None
    weighed = slanted.estimate(
        scene.left, scene.right, COARSE | {"model.pixel_weights": True}, preset="fast"
    )
    again = reestimate(weighed)
    known = np.isfinite(weighed.matched)
    np.testing.assert_allclose(again.pixel_weights[known], weighed.pixel_weights[known], rtol=1e-5)


def test_reestimate_keeps_the_grid(result):
    again = reestimate(result)
    assert again.coarser == 2
    assert np.median(np.abs(again.disparity - result.disparity)) < 0.2


def test_own_segments_and_potentials_have_the_whole_grid(scene):
    own = slanted.estimate(scene.left, scene.right, COARSE, preset="fast", segments=scene.segments)
    assert own.coarser == 1

    def potential(regions, planes):
        return np.zeros(planes.shape[:-1])

    charged = slanted.estimate(scene.left, scene.right, COARSE, preset="fast", potential=potential)
    assert charged.coarser == 1


def test_a_watch_sees_the_whole_image(scene):
    seen = []
    more = COARSE | {"inference.iterations": 1}
    slanted.estimate(scene.left, scene.right, more, preset="fast", watch=seen.append)
    assert {each.regions.label_image.shape for each in seen} == {(101, 151)}
    assert all(len(each.planes) == each.regions.count for each in seen)


def test_an_own_disparity_is_coarsened_too(scene):
    given = np.where(scene.occluded, np.nan, scene.disparity)
    found = slanted.estimate(scene.left, scene.right, COARSE, preset="fast", disparity=given)
    assert found.coarser == 2
    assert np.median(np.abs(found.disparity - scene.disparity)) < 0.1


def test_negative_disparities(monkeypatch):
    monkeypatch.setattr("slanted.settings.grid.SMALL", 1000)
    scene = make_scene(151, 101, segments=20, max_disparity=30.0, seed=3)
    shifted = np.roll(scene.right, 7, axis=1)
    more = COARSE | {"matching.min_disparity": -11}
    found = slanted.estimate(scene.left[:, 8:], shifted[:, 8:], more, preset="fast")
    near = np.abs(found.disparity - (scene.disparity[:, 8:] - 7))
    assert np.median(near) < 0.2


def test_streams_follow_on_the_smaller_grid(monkeypatch):
    monkeypatch.setattr("slanted.settings.grid.SMALL", 1000)
    video = list(make_video(151, 101, frames=3, max_disparity=20, seed=1))
    found = []
    for threads in (1, 2):
        stream = slanted.Stream({**COARSE, "threads": threads}, preset="fast")
        found.append([stream(frame.left, frame.right) for frame in video])
        assert stream.state.fresh is None
    for one, two in zip(*found, strict=True):
        assert one.disparity.tobytes() == two.disparity.tobytes()
        assert one.coarser == 2
    errors = [
        np.median(np.abs(one.disparity - frame.disparity))
        for one, frame in zip(found[0], video, strict=True)
    ]
    assert max(errors) < 0.3


def test_planes_of_the_last_frame_are_the_same_surfaces():
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 4, (10, 14)).astype(np.int32)
    last = PreviousFrame(labels, rng.random((4, 2)) * 10, rng.random((4, 3)))
    small = _smaller_frame(last, 2)
    # The disparity in the middle of a block of pixels, in pixels of the smaller image.
    for u, v, segment in ((3, 2, 1), (5, 4, 2)):
        a, b, c = last.planes[segment]
        x, y = 2 * u + 0.5, 2 * v + 0.5
        whole = a * (x - last.centre[segment, 0]) + b * (y - last.centre[segment, 1]) + c
        a, b, c = small.planes[segment]
        found = a * (u - small.centre[segment, 0]) + b * (v - small.centre[segment, 1]) + c
        assert found == pytest.approx(whole / 2)


def test_which_images_are_coarsened():
    fast = slanted.Settings.preset("fast")
    assert times_coarser(SMALL, fast) == 1
    assert times_coarser(SMALL + 1, fast) == 2
    assert times_coarser(SMALL + 1, slanted.Settings()) == 1
    many = fast.updated({"segmentation.count": 2000})
    assert times_coarser(SMALL + 1, many) == 1
    assert times_coarser(SMALL + 1, fast.updated({"model.follow": 2.0})) == 1
