"""What is made of a pair's views once: by idle threads, and the same as it would be alone."""

import gc
import weakref

import numpy as np
import pytest

from slanted.images.census import census_of_pair
from slanted.images.colour import grey_pair, lab_planes
from slanted.matching.features import match_features
from slanted.matching.finer import shrunk
from slanted.matching.noise import calmed
from slanted.pipeline import match_pair
from slanted.runtime.threads import lend_threads
from slanted.settings import MatchingSettings, Settings
from slanted.stages.pair_run import prepare
from slanted.synthetic import make_scene

COARSER = {"model.coarser": "2", "matching.max_disparity": "64"}


@pytest.fixture(scope="module")
def scene():
    return make_scene(800, 520, segments=60, seed=3)


def coarser_run(scene, threads=2):
    settings = Settings().with_text({**COARSER, "threads": str(threads)})
    return prepare(scene.left, scene.right, settings, None)


@pytest.mark.parametrize("threads", [1, 2])
def test_smaller_views_are_made_by_an_idle_thread(scene, threads):
    with coarser_run(scene, threads) as run:
        assert run.coarser == 2
        run.prepare_views()
        lend_threads()
        assert (run.smaller_views._helper is not None) == (threads > 1)
        small = run.smaller_views.result()
    pair = shrunk(scene.left, 2), shrunk(scene.right, 2)
    for found, expected in (
        ((small.left, small.right), pair),
        (small.grey, grey_pair(*pair)),
        ((small.lab.result(),), (lab_planes(pair[0]),)),
    ):
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)
    census, alone = small.census.result(), census_of_pair(grey_pair(*pair))
    np.testing.assert_array_equal(census.left, alone.left)
    np.testing.assert_array_equal(census.right, alone.right)


def test_segments_of_the_user_need_no_smaller_views(scene):
    with coarser_run(scene) as run:
        run.prepare_views(whole=True)
        assert not run.views._smaller
        assert run.views.lab._box and run.views.census._box  # they wait


def test_views_are_gone_with_their_run(scene):
    gc.disable()
    try:
        with coarser_run(scene) as run:
            run.prepare_views()
            views = weakref.ref(run.views)
        del run
        assert views() is None
    finally:
        gc.enable()


def wide(image):
    """The same image in 12 of 16 bits, with a tint."""
    return (image.astype(np.uint16) * np.array([16, 12, 9], np.uint16)).astype(np.uint16)


def test_features_of_16_bits_are_those_of_their_greys(scene):
    pair = wide(scene.left), wide(scene.right)
    alone, in_grey = match_features(*pair), match_features(*grey_pair(*pair))
    assert len(alone) > 20
    np.testing.assert_array_equal(alone.left, in_grey.left)
    np.testing.assert_array_equal(alone.right, in_grey.right)


def test_a_pair_is_calmed_alike_if_its_greys_are_known(scene):
    rng = np.random.default_rng(0)
    pair = [
        np.clip(view + rng.normal(0, 12, view.shape), 0, 255).astype(np.uint8)
        for view in (scene.left, scene.right)
    ]
    alone = calmed(*pair, MatchingSettings())
    known = calmed(*pair, MatchingSettings(), grey_pair(*pair))
    assert alone[2] == known[2] and alone[2].census.smoothing
    for one, other in zip(alone[:2], known[:2], strict=True):
        np.testing.assert_array_equal(one, other)
    assert (alone[0] != pair[0]).any()


def test_our_matcher_finds_the_same_in_colour_and_in_grey(scene):
    colour = scene.left, scene.right
    settings = Settings().updated({"matching.max_disparity": 64, "matching.census.finer": 1})
    one, _ = match_pair(*colour, settings)
    other, _ = match_pair(*grey_pair(*colour), settings)
    np.testing.assert_array_equal(one, other)
