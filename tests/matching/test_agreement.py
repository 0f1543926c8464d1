"""A disparity of another pair gets a warning, a good one none."""

import warnings

import numpy as np
import pytest

from slanted import SlantedWarning, estimate
from slanted.evaluation.motorcycle import load_motorcycle
from slanted.images.colour import grey_pair
from slanted.matching.agreement import LEAST_AGREEMENT, agreement_of
from slanted.synthetic import make_scene

SCENE, OTHER = (make_scene(160, 100, segments=30, seed=seed, max_disparity=40.0) for seed in (3, 4))
GREY = grey_pair(SCENE.left, SCENE.right)


def test_a_disparity_of_the_pair_agrees_with_it():
    assert agreement_of(GREY, SCENE.disparity) > 0.9
    left, right, truth = load_motorcycle()[:3]
    assert agreement_of(grey_pair(left, right), truth) > 0.8


@pytest.mark.parametrize(
    "wrong",
    [
        OTHER.disparity,
        SCENE.disparity[::-1],
        SCENE.disparity / 2,
        np.full((100, 160), 17, np.float32),
    ],
)
def test_one_of_another_pair_does_not(wrong):
    assert agreement_of(GREY, wrong) < LEAST_AGREEMENT


def test_nothing_is_said_where_nothing_can_be():
    flat = np.full((100, 160), 90, np.uint8)
    assert agreement_of((flat, flat), SCENE.disparity) is None
    unknown = np.full_like(SCENE.disparity, np.nan)
    assert agreement_of(GREY, unknown) is None


def test_a_run_warns_of_a_disparity_of_another_pair():
    pair = SCENE.left, SCENE.right
    with pytest.warns(SlantedWarning, match="the disparity seems to be of another pair"):
        result = estimate(*pair, preset="fast", disparity=OTHER.disparity)
    assert len(result.doubts) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert estimate(*pair, preset="fast", disparity=SCENE.disparity).doubts == ()
        settings = {"rectification.check": "off"}
        estimate(*pair, settings, preset="fast", disparity=OTHER.disparity)
