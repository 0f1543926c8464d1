"""Splitting: matches that their segment's plane cannot explain become segments of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from slanted.model.planes import check_planes
from slanted.partition.connectivity import pieces_and_runs, rename_all
from slanted.partition.patch_kernels import SIDES, find_patches
from slanted.refinement.move_kernels import off_plane_rows
from slanted.regions.structure import Regions
from slanted.runtime.arrays import DisparityMap, Flags, Floats, Ints, Starts
from slanted.runtime.threads import bind, share

if TYPE_CHECKING:
    from slanted.settings.refinement import RefinementSettings

PATCH_STEP = 1.0
"""Largest difference, in pixels, of neighbouring matches of one patch."""
SMALLEST_PIECE = 12
"""Pixels: smaller pieces that a split leaves of a segment join a neighbour."""


def split_segments(
    regions: Regions,
    matched: DisparityMap,
    planes: Floats,
    settings: RefinementSettings,
    lowest: float = -np.inf,
    highest: float = np.inf,
) -> tuple[Ints, Starts, Flags]:
    """Make segments of the matches that the planes cannot explain.

    Matches farther than `split_distance` from their segment's plane form patches, which may cross
    segments: 4-connected, in steps of at most `PATCH_STEP`. A patch of at least `split_size` pixels
    becomes a segment. The rest of the segments it cuts falls into 4-connected pieces; those below
    `SMALLEST_PIECE` join the neighbour with which they share most sides.

    Parameters
    ----------
    regions, planes
        The segments, and (n, 3) α, β, γ about their centres.
    matched
        (H, W) D(p).
    settings
        Section ``refinement``, for `split_distance` and `split_size`.
    lowest, highest
        Range to which planes are clipped, as when drawn.

    Returns
    -------
    label_image
        (H, W), 0 … n'−1: pieces in the order of the segments they come from, then patches, each in
        raster order.
    parent
        (n',) segment whose plane a piece keeps; −1 for a patch, which needs a new plane.
    core
        (H, W) matches that made the patches, which small pieces may have joined since.
    """
    patches = _patches(regions, matched, planes, settings, lowest, highest)
    core = patches >= 0
    cut = np.zeros(regions.count + int(patches.max()) + 1, np.bool_)
    cut[regions.label_image[core]] = True
    marked = patches + np.int32(regions.count)
    np.copyto(marked, regions.label_image, where=~core)
    del patches
    pieces, (begin, _) = pieces_and_runs(marked)
    size, origin = piece_origins(pieces, marked, begin)
    del marked
    into = _join_small(pieces, size, cut[origin])
    kept = np.flatnonzero(into == np.arange(len(into)))
    kept = kept[np.argsort(origin[kept], kind="stable")]
    number = np.empty(len(into), np.int32)
    number[kept] = np.arange(len(kept))
    parent = np.where(origin[kept] < regions.count, origin[kept], -1)
    rename_all(pieces, number[into])
    return pieces, parent, core


def _patches(
    regions: Regions,
    matched: DisparityMap,
    planes: Floats,
    settings: RefinementSettings,
    lowest: float,
    highest: float,
) -> Ints:
    """Return the (H, W) patches of matches off their planes, −1 elsewhere."""
    if settings.split_size == 0:
        return np.full(regions.label_image.shape, -1, np.int32)
    matched = np.ascontiguousarray(matched, np.float32)
    off = np.empty(matched.shape, np.bool_)
    inputs = regions.label_image, regions.centre, check_planes(regions, planes), matched
    limits = float(lowest), float(highest), settings.split_distance
    share(len(off), bind(off_plane_rows, (*inputs, *limits), off))
    patches: Ints = find_patches(off, matched, PATCH_STEP, settings.split_size)
    return patches


def piece_origins(pieces: Ints, label_image: Ints, begin: Ints) -> tuple[Starts, Starts]:
    """Return the size of each piece in pixels, and the label that it is a piece of.

    `begin` are the first pixels of runs, each of which lies in one piece.
    """
    piece = pieces.reshape(-1)[begin[:-1]]
    size = np.bincount(piece, np.diff(begin)).astype(np.int64)
    origin = np.empty_like(size)
    origin[piece] = label_image.reshape(-1)[begin[:-1]]
    return size, origin


def _join_small(pieces: Ints, size: Starts, loose: Flags) -> Starts:
    """Return the piece that each piece joins; itself if it stays.

    Loose pieces below `SMALLEST_PIECE` join the neighbour with the longest common border, the first
    of equals. Pieces with small neighbours only wait until these have joined others.
    """
    into = np.arange(len(size), dtype=np.int64)
    waiting = loose & (size < SMALLEST_PIECE)
    if not waiting.any() or waiting.all():
        return into
    sides = _sides(pieces, waiting)
    while waiting.any():
        here, there = into[sides]
        usable = waiting[here] & ~waiting[there]
        # Pieces that were joined have one common border with each neighbour.
        pairs, border = np.unique(here[usable] * len(size) + there[usable], return_counts=True)
        here, there = np.divmod(pairs, len(size))
        order = np.lexsort((there, -border, here))
        here, best = np.unique(here[order], return_index=True)
        into[here] = there[order][best]
        waiting[here] = False
    return into


def _sides(pieces: Ints, wanted: Flags) -> Ints:
    """Return (2, M) wanted pieces and the pieces next to them, once per pixel side."""
    rows, columns = np.divmod(np.flatnonzero(wanted[pieces]), pieces.shape[1])
    found = []
    for down, across in SIDES:
        v, u = rows + down, columns + across
        inside = (v >= 0) & (v < pieces.shape[0]) & (u >= 0) & (u < pieces.shape[1])
        there = v[inside], u[inside]
        found.append(np.stack([pieces[rows[inside], columns[inside]], pieces[there]]))
    return np.concatenate(found, axis=1)


def fit_patches(label_image: Ints, first: int, matched: DisparityMap, core: Flags) -> Floats:
    """Return (m, 3) least-squares planes about (0, 0) of the segments from `first` on.

    They are fitted to the matches of `core`, which change in small steps and need no robust fit. A
    prior of one level match a pixel away keeps slopes that a narrow patch does not determine at 0.
    """
    pixels = np.flatnonzero(core)
    pixels = pixels[label_image.flat[pixels] >= first]  # small pieces may have changed a patch
    rows, columns = np.divmod(pixels, label_image.shape[1])
    number, d = label_image.flat[pixels] - first, matched.flat[pixels].astype(np.float64)
    count = int(label_image.max()) + 1 - first

    def total(values: NDArray[Any]) -> Floats:
        return np.bincount(number, values, count).astype(np.float64, copy=False)

    size = np.maximum(total(np.ones(len(d))), 1)
    u, v, mean = total(columns) / size, total(rows) / size, total(d) / size
    x, y, d = columns - u[number], rows - v[number], d - mean[number]
    xx, xy, yy, xd, yd = (total(a * b) for a, b in ((x, x), (x, y), (y, y), (x, d), (y, d)))
    xx, yy = xx + 1, yy + 1
    determinant = xx * yy - xy * xy
    slope_x, slope_y = (yy * xd - xy * yd) / determinant, (xx * yd - xy * xd) / determinant
    return np.stack([slope_x, slope_y, mean - slope_x * u - slope_y * v], axis=1)
