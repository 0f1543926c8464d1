"""The synthetic data of the paper's Table "Robustness to noise" (Section 4)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from slanted.synthetic.geometry import Ints
from slanted.synthetic.scene import Scene, check_count, check_number, make_scene

WIDTH, HEIGHT, SEGMENTS = 320, 240, 108
"""Size of the paper's images and their average number of superpixels (108.0)."""
BOUNDARY_REACH = 2
"""B_ij holds the pixels of either segment within this chessboard distance of the other."""


@dataclass(frozen=True)
class NoisyScene:
    """An exact scene and a sparse, noisy measurement of its disparity."""

    scene: Scene
    disparity: npt.NDArray[np.float32]
    """(H, W) float32: D(p), NaN where nothing was measured."""
    points: Ints
    """(P, 2) int32: the measured pixels (u, v), boundary by boundary."""
    point_edges: Ints
    """(P,) int32: the row of `scene.edges` that each point was drawn for. A pixel may be drawn for
    several boundaries, but has one disparity."""


def noise_set(count: int, sigma: float, *, seed: int) -> Iterator[NoisyScene]:
    """Make scenes as in the paper's Table "Robustness to noise" (Section 4), one at a time.

    The paper: 320×240 pixels, several planes, 108.0 superpixels on average; D(p) comes from "3 to 5
    points at random on the boundaries", whose true disparities are corrupted with Gaussian noise.
    Our reading: 3 to 5 pixels of every B_ij (all of them where B_ij has fewer than 3).

    Parameters
    ----------
    count
        Number of scenes (the paper: 10 to train, 90 to test).
    sigma
        Standard deviation of the noise, pixels (the paper: 0, 1, 2, 3, 5). Negative disparities
        are set to 0, so errors are not quite Gaussian where σ is close to the true disparity.
    seed
        Scenes and points depend on the seed alone: another σ scales the same errors.

    Returns
    -------
    Iterator of NoisyScene
        Scenes are made as they are read; scene k is the same whatever `count`.

    Examples
    --------
    >>> from slanted.synthetic import noise_set
    >>> noisy = next(iter(noise_set(1, 0.5, seed=0)))
    >>> noisy.disparity.shape == noisy.scene.disparity.shape
    True
    """
    check_count("count", count, 0, None)
    check_number("sigma", sigma, 0.0, math.inf)
    check_count("seed", seed, 0, None)
    # A generator function would report a bad argument only when its first scene is requested.
    return (noisy_scene(sigma, seed, index) for index in range(count))


def noisy_scene(sigma: float, seed: int, index: int) -> NoisyScene:
    """Make scene `index` of `noise_set`, alone."""
    for_scene, for_noise = np.random.SeedSequence((seed, index)).spawn(2)
    scene = make_scene(WIDTH, HEIGHT, segments=SEGMENTS, seed=for_scene)
    rng = np.random.default_rng(for_noise)
    edge, pixel = _draw_points(*_boundary_pixels(scene.segments, scene.edges), rng)
    measured = np.unique(pixel)
    exact = scene.disparity.ravel()[measured]
    disparity = np.full(scene.disparity.size, np.nan, dtype=np.float32)
    disparity[measured] = np.maximum(exact + sigma * rng.standard_normal(len(measured)), 0.0)
    row, column = np.divmod(pixel, WIDTH)
    return NoisyScene(
        scene,
        disparity.reshape(scene.disparity.shape),
        np.stack([column, row], axis=1).astype(np.int32),
        edge.astype(np.int32),
    )


Indices = npt.NDArray[np.int64]


def _boundary_pixels(segments: Ints, edges: Ints) -> tuple[Indices, Indices]:
    """Return edge and pixel index of every member of every B_ij, ordered by edge, then pixel."""
    height, width = segments.shape
    count = int(segments.max()) + 1
    pixel = np.arange(height * width, dtype=np.int64).reshape(height, width)
    edge_keys = edges[:, 0].astype(np.int64) * count + edges[:, 1]
    members: list[Indices] = []
    reach = BOUNDARY_REACH
    # Half of the neighbourhood suffices, because each pair of pixels counts for both segments.
    offsets = [(dv, du) for dv in range(reach + 1) for du in range(-reach, reach + 1)]
    for dv, du in (offset for offset in offsets if offset > (0, 0)):
        here = np.s_[: height - dv, max(0, -du) : width - max(0, du)]
        there = np.s_[dv:, max(0, du) : width - max(0, -du)]
        first, second = segments[here].ravel(), segments[there].ravel()
        keys = np.minimum(first, second).astype(np.int64) * count + np.maximum(first, second)
        known = np.flatnonzero(np.isin(keys, edge_keys))
        edge = np.searchsorted(edge_keys, keys[known])
        members += [edge * pixel.size + pixel[side].ravel()[known] for side in (here, there)]
    edge, inside = np.divmod(np.unique(np.concatenate(members)), pixel.size)
    return edge, inside


def _draw_points(
    edge: Indices, pixel: Indices, rng: np.random.Generator
) -> tuple[Indices, Indices]:
    """Choose 3 to 5 members of each boundary, without replacement."""
    wanted = rng.integers(3, 6, size=int(edge.max(initial=-1)) + 1)
    shuffled = np.lexsort([rng.random(len(edge)), edge])
    edge, pixel = edge[shuffled], pixel[shuffled]
    rank = np.arange(len(edge)) - np.searchsorted(edge, edge)
    chosen = rank < wanted[edge]
    return edge[chosen], pixel[chosen]
