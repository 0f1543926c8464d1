"""Clouds and meshes as bytes that a web page hands to the graphics card as they are.

Positions are as in glTF: X right, Y up, Z towards the viewer. Numbers are little-endian.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from slanted.output.export import GLTF_FROM_CAMERA
from slanted.output.mesh import LEAST_DISPARITY, assumed_calibration

if TYPE_CHECKING:
    from slanted.io import Calibration
    from slanted.viewer.frames import Frame, Scene

MOST_POINTS = 4_000_000
MOST_TRIANGLES = 600_000
"""That a page is sent; exports are exact."""


def cameras_of(scene: Scene, frame: Frame) -> Calibration:
    """Return the calibration, or the one assumed."""
    return scene.calibration or assumed_calibration(*frame.result.disparity.shape)


def thinned(shape: tuple[int, int], most: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return rows and columns of a regular grid of at most so many pixels."""
    step = max(1, math.ceil(math.sqrt(shape[0] * shape[1] / max(most, 1))))
    while -(-shape[0] // step) * -(-shape[1] // step) > max(most, 1):
        step += 1
    rows = np.arange((shape[0] - 1) % step // 2, shape[0], step)
    columns = np.arange((shape[1] - 1) % step // 2, shape[1], step)
    return rows, columns


def pack_cloud(scene: Scene, frame: Frame, most: int) -> bytes:
    """Return at most so many pixels as points: their number, positions, texture coordinates.

    They come in a random order, so that the first of them are a thinner cloud.
    """
    disparity = frame.result.disparity
    height, width = disparity.shape
    rows, columns = thinned((height, width), min(max(most, 1), MOST_POINTS))
    cameras = cameras_of(scene, frame)
    chosen = disparity[np.ix_(rows, columns)].astype(np.float64)
    in_front = chosen + cameras.doffs_pixels >= LEAST_DISPARITY
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


def pack_mesh(scene: Scene, frame: Frame, most: int) -> bytes:
    """Return the mesh: numbers of vertices and triangles, positions, texture places, triangles.

    Outlines are as coarse as it takes to have at most so many triangles.
    """
    height, width = frame.result.disparity.shape
    cameras = cameras_of(scene, frame)
    mesh = frame.mesh(min(most, MOST_TRIANGLES)).in_front(cameras)
    positions = mesh.positions(cameras) * GLTF_FROM_CAMERA
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
