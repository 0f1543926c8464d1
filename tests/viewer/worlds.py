"""A small session to look at."""

import dataclasses
from functools import cache

import numpy as np

import slanted
from slanted.io import Calibration
from slanted.result_folder import ResultFolder
from slanted.synthetic import make_scene
from slanted.viewer.session import Session

CAMERAS = Calibration(140.0, 150.0, 80.0, 61.0, 0.5, 2.0)
SETTINGS = slanted.Settings().with_text(
    # Tests of the viewer write many results, and would wait for the disk half of that time.
    {"segmentation.count": "50", "refinement.rounds": "2", "seed": "4", "fsync": "false"}
)


@cache
def scene():
    return make_scene(160, 120, seed=3)


@cache
def estimated():
    """A result as of a run without a model of confidence, and its states on the way."""
    snapshots = []
    pair = scene().left, scene().right
    result = slanted.estimate(*pair, SETTINGS, watch=snapshots.append)
    return dataclasses.replace(result, confidence=None, deviation=None), snapshots


def sure(result):
    """A result with a confidence that rises from left to right, and a deviation."""
    ramp = np.broadcast_to(np.linspace(0, 1, result.disparity.shape[1]), result.disparity.shape)
    return dataclasses.replace(result, confidence=ramp, deviation=2 * ramp)


def session(
    *,
    truth=True,
    snapshots=False,
    right=True,
    calibration=CAMERAS,
    prefix="",
    record=None,
    confidence=False,
    compared=None,
):
    result, states = estimated()
    result = sure(result) if confidence else result
    view = scene()
    second = view.right if right else None
    opened = ResultFolder("a scene", result, view.left, second, calibration, record or {})
    known, steps = view.disparity if truth else None, states if snapshots else None
    return Session(opened, known, steps, prefix, compared)
