"""A small pair, its matches and its result, and what their features are computed from."""

from dataclasses import replace
from functools import cache

import numpy as np

import slanted
from slanted.confidence.belief import inputs_of
from slanted.confidence.match_features import MATCH_FEATURES, match_features
from slanted.confidence.pixel_features import (
    PIXEL_FEATURES,
    PixelInputs,
    describe_scene,
    mismatch,
    pixel_features,
)
from slanted.images.colour import grey_pair
from slanted.matching import DisparityRange, find_matches
from slanted.settings import Settings
from slanted.synthetic import make_scene

SEARCHED = DisparityRange(0, 40)
SETTINGS = Settings().with_text({"matching.max_disparity": "40", "segmentation.count": "60"})


@cache
def scene():
    return make_scene(150, 93, segments=60, objects=4, max_disparity=30, noise=3.0, seed=5)


@cache
def found():
    return find_matches(scene().left, scene().right, SETTINGS.matching, SEARCHED)


@cache
def result():
    return slanted.estimate(scene().left, scene().right, SETTINGS)


def grey():
    return grey_pair(scene().left, scene().right)


def match_inputs(**changes):
    return replace(inputs_of(found(), grey(), SEARCHED), **changes)


def pixel_inputs(**changes):
    made = result()
    maps = made.disparity, made.matched, made.occluded
    views = grey()
    labels = made.regions.label_image
    return replace(PixelInputs(*maps, mismatch(views, made.disparity), views[0], labels), **changes)


def features_of_matches(seen):
    """The features by name; the output held something else before."""
    output = np.full((len(MATCH_FEATURES), *seen.winner.shape), np.nan, np.float32)
    match_features(seen, output)
    return dict(zip(MATCH_FEATURES, output, strict=True))


def features_of_pixels(seen, whole_image=None):
    """Features of maps as if they were thinned; the scene is of `whole_image`, or of the same."""
    made = result()
    image = whole_image or seen
    whole = describe_scene(image, made.regions, made.planes, made.margins, 0.0)
    output = np.full((len(PIXEL_FEATURES), *seen.disparity.shape), np.nan, np.float32)
    pixel_features(seen, whole, output)
    return dict(zip(PIXEL_FEATURES, output, strict=True))


def surface_with_a_hole():
    """A surface at 30 px with a hole, at 10 px, of 24×24 pixels around (46, 74)."""
    disparity = np.full((93, 150), 30, np.float32)
    disparity[34:58, 62:86] = 10
    return disparity
