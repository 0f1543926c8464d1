"""Clouds and meshes as bytes that a web page passes to the graphics card unchanged.

Positions are as in glTF: X right, Y up, Z towards the viewer. Numbers are little-endian.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from slanted.output.export import GLTF_FROM_CAMERA
from slanted.output.space import LEAST_DISPARITY

if TYPE_CHECKING:
    from slanted.io import Calibration
    from slanted.viewer.frames import Frame, Scene

MOST_POINTS = 4_000_000
MOST_TRIANGLES = 600_000
"""Most points and triangles sent to a page; exports are exact."""


def thinned(shape: tuple[int, int], most: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return rows and columns of a regular grid of at most `most` pixels."""
    step = max(1, math.ceil(math.sqrt(shape[0] * shape[1] / max(most, 1))))
    while -(-shape[0] // step) * -(-shape[1] // step) > max(most, 1):
        step += 1
    rows = np.arange((shape[0] - 1) % step // 2, shape[0], step)
    columns = np.arange((shape[1] - 1) % step // 2, shape[1], step)
    return rows, columns


def cameras_data(cameras: Calibration) -> dict[str, float]:
    """Return the cameras for a page, which places pixels in space by them."""
    names = ("fx", "fy", "cx", "cy", "doffs")
    pixels = {name: float(getattr(cameras, f"{name}_pixels")) for name in names}
    return {**pixels, "baseline": cameras.baseline_meters, "least": LEAST_DISPARITY}


def pack_cloud(scene: Scene, frame: Frame, most: int, percent: int = 0) -> bytes:
    """Return at most `most` pixels as points: their number, positions and texture coordinates.

    Their order is random, so that the first k of them are a thinner cloud. The sky, and pixels
    whose confidence is below `percent` or that lie too far, are left out.
    """
    disparity = frame.result.solid_disparity(frame.least(percent))
    height, width = disparity.shape
    rows, columns = thinned((height, width), min(max(most, 1), MOST_POINTS))
    space = scene.source(frame.result).space
    cameras = space.cameras
    chosen = disparity[np.ix_(rows, columns)].astype(np.float64)
    in_front = chosen + cameras.doffs_pixels >= space.least
    u, v = np.meshgrid(columns, rows)
    order = np.random.default_rng(0).permutation(int(in_front.sum()))
    u, v, chosen = u[in_front][order], v[in_front][order], chosen[in_front][order]
    positions = cameras.positions(u, v, chosen) * GLTF_FROM_CAMERA
    places = np.stack([(u + 0.5) / width, 1 - (v + 0.5) / height], axis=1)
    return b"".join(
        [
            np.uint32(len(u)).tobytes(),
            positions.astype("<f4").tobytes(),
            places.astype("<f4").tobytes(),
        ]
    )


def pack_mesh(scene: Scene, frame: Frame, most: int, percent: int = 0) -> bytes:
    """Return a mesh of at most `most` triangles, with outlines as coarse as that requires.

    The sky, and pixels whose confidence is below `percent`, are left out. The bytes hold the
    numbers of vertices and triangles, positions, texture coordinates, triangles.
    """
    height, width = frame.result.disparity.shape
    space = scene.source(frame.result).space
    mesh = frame.mesh(space, min(most, MOST_TRIANGLES), percent)
    positions = mesh.positions(space.cameras) * GLTF_FROM_CAMERA
    places = mesh.texture_coordinates(width, height)
    places[:, 1] = 1 - places[:, 1]
    return b"".join(
        [
            np.array([len(positions), len(mesh.faces)], "<u4").tobytes(),
            positions.astype("<f4").tobytes(),
            places.astype("<f4").tobytes(),
            mesh.faces.astype("<u4").tobytes(),
        ]
    )
