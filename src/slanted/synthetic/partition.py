"""Superpixels within surfaces: a jittered Voronoi diagram, cut at the borders of the surfaces."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from slanted.synthetic.geometry import Ints

SMALLEST_PIECE = 20
"""Pieces of fewer pixels join a neighbour on the same surface, if there is one."""
ROUNDS = 5


def partition(surface: Ints, target: int, rng: np.random.Generator) -> Ints:
    """Cut an image into about `target` 4-connected segments, each inside one surface.

    Cutting at borders adds a number of pieces that depends on the scene. So the number of Voronoi
    cells is corrected in a few rounds, and the partition closest to the target is kept.
    """
    best = np.zeros_like(surface)
    error = math.inf
    cells = float(target)
    for _ in range(ROUNDS):
        sites = _voronoi(surface.shape, cells, rng).astype(np.int64)
        pieces = components(sites * (int(surface.max()) + 1) + surface)
        segments = _merge_small(pieces, surface)
        count = int(segments.max()) + 1
        if abs(count - target) < error:
            best, error = segments, abs(count - target)
        if error <= 0.02 * target:
            break
        cells = max(1.0, cells * target / count)
    return best


def adjacent_pairs(segments: Ints) -> Ints:
    """Return the pairs i < j of segments that share a pixel side, (E, 2), in sorted order."""
    return _contacts(segments)[0]


def _contacts(segments: Ints) -> tuple[Ints, Ints]:
    """Return the adjacent pairs, and how many pixel sides each pair shares."""
    beside = np.stack([segments[:, :-1].ravel(), segments[:, 1:].ravel()], axis=1)
    below = np.stack([segments[:-1].ravel(), segments[1:].ravel()], axis=1)
    pairs = np.concatenate([beside, below])
    pairs = np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1).astype(np.int64)
    count = int(segments.max()) + 1
    # One integer per pair is much faster than unique rows.
    keys, lengths = np.unique(pairs[:, 0] * count + pairs[:, 1], return_counts=True)
    return np.stack(np.divmod(keys, count), axis=1).astype(np.int32), lengths.astype(np.int32)


def _voronoi(shape: tuple[int, ...], cells: float, rng: np.random.Generator) -> Ints:
    """Return the nearest of about `cells` sites for each pixel, one site per cell of a grid."""
    from scipy import ndimage

    height, width = shape
    rows = max(1, round(math.sqrt(cells * height / width)))
    columns = max(1, round(cells / rows))
    j, i = np.meshgrid(np.arange(columns), np.arange(rows))
    jitter = rng.uniform(0.1, 0.9, (2, rows, columns))
    u = ((j + jitter[0]) * (width / columns)).astype(np.int64)
    v = ((i + jitter[1]) * (height / rows)).astype(np.int64)
    site = np.full(shape, -1, dtype=np.int32)
    site[v, u] = np.arange(rows * columns).reshape(rows, columns)
    nearest = ndimage.distance_transform_edt(site < 0, return_distances=False, return_indices=True)
    return np.asarray(site[tuple(nearest)], dtype=np.int32)


def components(key: npt.NDArray[np.integer]) -> Ints:
    """Find the 4-connected regions of equal value, numbered from 0."""
    from scipy import ndimage

    height, width = key.shape
    # Pixels are on even places and links between equal neighbours on odd ones, so that a single
    # binary labelling finds the regions of all values.
    links = np.zeros((2 * height - 1, 2 * width - 1), dtype=np.bool_)
    links[::2, ::2] = True
    links[::2, 1::2] = key[:, 1:] == key[:, :-1]
    links[1::2, ::2] = key[1:] == key[:-1]
    regions, _ = ndimage.label(links)
    return np.asarray(regions[::2, ::2] - 1, dtype=np.int32)


def _merge_small(pieces: Ints, surface: Ints) -> Ints:
    """Join each small piece to the neighbour of its surface with the longest common border."""
    size = np.bincount(pieces.ravel())
    surface_of = np.zeros(len(size), dtype=np.int32)
    surface_of[pieces.ravel()] = surface.ravel()
    borders: list[dict[int, int]] = [{} for _ in size]
    pairs, lengths = _contacts(pieces)
    for (i, j), length in zip(pairs.tolist(), lengths.tolist(), strict=True):
        if surface_of[i] == surface_of[j]:
            borders[i][j] = borders[j][i] = length
    parent = np.arange(len(size))
    queue = [int(i) for i in np.argsort(size, kind="stable") if size[i] < SMALLEST_PIECE]
    for small in queue:
        if size[small] >= SMALLEST_PIECE or not borders[small]:
            continue  # has grown since, or is alone on its surface
        into = max(borders[small], key=lambda k: (borders[small][k], -k))
        parent[small] = into
        size[into] += size[small]
        for other, length in borders[small].items():
            del borders[other][small]
            if other != into:
                borders[into][other] = borders[other][into] = borders[into].get(other, 0) + length
        borders[small] = {}
        if size[into] < SMALLEST_PIECE:
            queue.append(into)  # its own turn may have passed
    return _renumber(pieces, parent)


def _renumber(pieces: Ints, parent: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Ints:
    """Map each piece to the one that it joined, and number those that remain from 0."""
    while (parent[parent] != parent).any():
        parent = parent[parent]
    _, compact = np.unique(parent, return_inverse=True)
    return np.asarray(compact[pieces], dtype=np.int32)
