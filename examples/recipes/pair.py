"""The pair that the recipes work on: made up, or LEFT, RIGHT and CALIB of the command line."""

from __future__ import annotations

import sys

import slanted
from slanted.synthetic import make_scene

CAMERAS = slanted.Calibration(240.0, 240.0, 159.5, 119.5, baseline_meters=0.2)


def estimated() -> slanted.Result:
    """Return the result of the pair."""
    if len(sys.argv) > 1:
        left, right, calibration = sys.argv[1:4]
        return slanted.estimate(left, right, calibration=calibration)
    scene = make_scene(320, 240, segments=60, seed=4)
    return slanted.estimate(scene.left, scene.right, calibration=CAMERAS, preset="fast")
