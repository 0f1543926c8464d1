"""A small pair, its matches and its result, and what their features are computed from."""

from dataclasses import replace
from functools import cache

import numpy as np

import slanted
from slanted.confidence.belief import first_choices
from slanted.confidence.features import names_of, write_features
from slanted.confidence.scene import Seen, describe_scene
from slanted.images.colour import grey_pair
from slanted.matching import DisparityRange, find_matches
from slanted.model.evidence import Judgement
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


@cache
def judgement():
    """First choices with doubts that vary; what trees would say does not matter here."""
    matches = found()
    away = np.abs(matches.winner - scene().disparity)
    doubt = (away / (away + 2)).astype(np.float32)
    return Judgement(matches.winner, matches.disparity, doubt, matches.agrees, matches.margin)


def seen_plain(**changes):
    """A result without first choices."""
    made = result()
    maps = made.disparity, made.matched, made.occluded
    return replace(Seen.result(maps, made.regions, grey()), **changes)


def seen_result(**changes):
    """A result beside first choices."""
    made = result()
    maps = made.disparity, made.matched, made.occluded
    return replace(Seen.result(maps, made.regions, grey(), judgement()), **changes)


def seen_choices(**changes):
    made = result()
    choices = first_choices(found(), grey())
    return replace(Seen.first_choices(choices, made.regions, made.inference), **changes)


def features_of(seen, whole_image=None, inference=None, low=0.0):
    """Features by name of maps as if they were thinned; the scene is of `whole_image`, or of them.

    The output held something else before.
    """
    made, whole = result(), whole_image or seen
    known = made.regions, inference or made.inference, low
    scene_ = describe_scene(whole.thinned(slice(None)), whole.grey, *known)
    output = np.full((len(names_of(seen)), *seen.disparity.shape), np.nan, np.float32)
    write_features(seen, scene_, output)
    return dict(zip(names_of(seen), output, strict=True))


def surface_with_a_hole():
    """A surface at 30 px with a hole, at 10 px, of 24×24 pixels around (46, 74)."""
    disparity = np.full((93, 150), 30, np.float32)
    disparity[34:58, 62:86] = 10
    return disparity
