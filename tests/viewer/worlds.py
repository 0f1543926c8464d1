"""A small session to look at."""

from functools import cache

import numpy as np

import slanted
from slanted.io import Calibration
from slanted.output.opened import OpenedResult
from slanted.synthetic import make_scene
from slanted.viewer.session import Session

CAMERAS = Calibration(140.0, 150.0, 80.0, 61.0, 0.5, 2.0)
SETTINGS = slanted.Settings().with_text({"segmentation.count": "50", "seed": "4"})


@cache
def scene():
    return make_scene(160, 120, seed=3)


@cache
def estimated():
    snapshots = []
    pair = scene().left, scene().right
    return slanted.estimate(*pair, SETTINGS, watch=snapshots.append), snapshots


def session(*, truth=True, snapshots=False, right=True, calibration=CAMERAS, token=""):
    result, states = estimated()
    view = scene()
    second = view.right if right else None
    opened = OpenedResult("a scene", result, view.left, second, calibration, {})
    return Session(opened, view.disparity if truth else None, states if snapshots else None, token)


def distances_to_planes(result, positions, cameras):
    """How far, in px of disparity, each vertex is from the nearest of the planes round it."""
    x, y, z = positions.astype(np.float64).T
    u = cameras.fx_pixels * x / z + cameras.cx_pixels
    v = cameras.fy_pixels * y / z + cameras.cy_pixels
    d = cameras.fx_pixels * cameras.baseline_meters / z - cameras.doffs_pixels
    np.testing.assert_allclose(np.stack([u, v]) % 1, 0.5, atol=1e-3)  # corners of pixels
    height, width = result.disparity.shape
    nearest = np.full(len(x), np.inf)
    limits = result.disparity.min() - 1, result.disparity.max() + 1
    for du, dv in ((-0.5, -0.5), (0.5, -0.5), (-0.5, 0.5), (0.5, 0.5)):
        column, row = np.rint(u + du).astype(int), np.rint(v + dv).astype(int)
        inside = (column >= 0) & (row >= 0) & (column < width) & (row < height)
        i = result.regions.labels[row.clip(0, height - 1), column.clip(0, width - 1)]
        a, b, c = result.planes[i].T
        centre = result.regions.centre[i].T
        on_plane = (a * (u - centre[0]) + b * (v - centre[1]) + c).clip(*limits)
        nearest = np.where(inside, np.minimum(nearest, np.abs(on_plane - d)), nearest)
    return nearest
