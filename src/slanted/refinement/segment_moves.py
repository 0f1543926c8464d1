"""Segments that follow the planes: boundaries move, and patches off their plane are cut out.

Superpixels are cut before any plane is known and miss edges that colour does not show. Once there
are planes, `move_boundaries` lets pixels change to a neighbouring segment, and `split_segments`
makes new ones of matches that their segment's plane cannot explain. Not in the paper.

With planes d̂_i held fixed, moves lower

    E(S) = Σ_i Σ_{p ∈ S_i} [ ‖I_p − μ_i‖² + w_pos n / |Ω| ‖p − c_i‖² + φ_i(p) ] + w_len |B|

    φ_i(p) = w_disp min((D(p) − d̂_i(p))², K²)  if p has a match, else
             w_vis if d̂_i(p) puts p, rounded to a pixel, where the right view shows something
             more than `SLACK` farther, else 0

where I_p is 8-bit Lab, μ_i and c_i are the means of colour and position over S_i *as it is*, the n
segments share |Ω| pixels, and B holds the pairs of pixels, of different segments, that share a side
or a corner. What a move changes E by is known exactly, so E never rises and moves come to an end.

References
----------
.. [1] K. Yamaguchi, D. McAllester, R. Urtasun, "Efficient Joint Segmentation, Occlusion Labeling,
   Stereo and Flow Estimation", ECCV 2014, moves boundary pixels under a similar energy.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np
from numpy.typing import NDArray

from slanted.model.planes import check_planes, shifted_planes
from slanted.model.visibility import SLACK
from slanted.partition.connectivity import rename, split_connected
from slanted.partition.patch_kernels import SIDES, find_patches
from slanted.refinement.move_kernels import (
    BLOCK,
    MIXED,
    MoveWeights,
    move_pixels,
    off_plane_rows,
    piece_origins,
    sum_rows,
)
from slanted.regions.structure import Regions
from slanted.runtime.arrays import Floats, Ints, Starts
from slanted.runtime.threads import bind, share, together

if TYPE_CHECKING:
    from slanted.settings.refinement import RefinementSettings

BANDS = 4
"""Of the image, in which boundaries move side by side: work for four threads; results depend on
their number."""
PATCH_STEP = 1.0
"""Pixels; matches side by side that differ by more are not of one patch."""
SMALLEST_PIECE = 12
"""Pixels; what a cut leaves of a segment in smaller pieces joins a neighbour."""

Map = NDArray[np.float32]
"""(H, W) disparity in pixels, NaN where unknown."""


def move_boundaries(
    label_image: Ints,
    lab: NDArray[np.uint8],
    matched: Map,
    right: Map,
    planes: Floats,
    settings: RefinementSettings,
) -> Ints:
    """Move pixels to neighbouring segments where that lowers E.

    Parameters
    ----------
    label_image
        (H, W) segments.
    lab
        (3, H, W) 8-bit Lab planes of the left image, from `lab_planes`.
    matched
        D(p).
    right
        The same as the right view sees it, from `slanted.model.visibility.right_view`.
    planes
        (n, 3) about the pixel (0, 0), from `about_origin`, in the pixels of `matched`.
    settings
        Weights and the number of passes.

    Returns
    -------
    label_image
        (H, W); segments keep their numbers, stay 4-connected and do not vanish.
    """
    framed = np.pad(label_image, 1, constant_values=-1)
    weights = move_weights(label_image.size / len(planes), settings)
    move_framed(framed, lab, matched, right, planes, weights, settings.passes)
    return np.ascontiguousarray(framed[1:-1, 1:-1])


def move_framed(
    framed: Ints,
    lab: NDArray[np.uint8],
    matched: Map,
    right: Map,
    planes: Floats,
    weights: MoveWeights,
    passes: int,
) -> tuple[int, float]:
    """Move pixels of labels in a frame of −1, in place; return how many, and what E changed by.

    Passes go over the image in raster order and back in turns; later ones try pixels beside which
    something has moved. Segments belong to bands of the image by their centres, whatever the number
    of threads: bands are done side by side, then the pixels where they meet.
    """
    label_image = framed[1:-1, 1:-1]
    sums = segment_sums(label_image, lab, len(planes))
    bands = (1 + sums[:, 5] * BANDS // np.maximum(sums[:, 0] * len(label_image), 1)).astype(
        np.uint8
    )
    maps = (np.ascontiguousarray(each, np.float32) for each in (matched, right))
    turns, due = turns_of_pixels(framed, bands)
    inputs = framed, sums, np.ascontiguousarray(lab), *maps, planes, weights, bands, turns, due
    moves, change = 0, 0.0
    for t in range(passes):
        backwards = t % 2 == 1
        alone = [partial(move_pixels, *inputs, 1 + band, backwards) for band in range(BANDS)]
        found = [*together(*alone), move_pixels(*inputs, MIXED, backwards)]
        moves, change = moves + sum(n for n, _ in found), change + sum(by for _, by in found)
        if not any(n for n, _ in found):
            break
    return moves, change


def turns_of_pixels(
    framed: Ints, bands: NDArray[np.uint8]
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return the band of the segments round each pixel, and the same where a pixel may move.

    Both as `move_pixels` takes them: 0 in the frame and, in the second, for pixels that share no
    side with another segment.
    """
    height, width = framed.shape
    turns, due = np.zeros((2, height, -(-width // BLOCK) * BLOCK), np.uint8)
    own, window = bands[framed[1:-1, 1:-1]], np.ones((3, 3), np.uint8)
    alike = cv2.dilate(own, window) == cv2.erode(own, window)
    turns[1:-1, 1 : width - 1] = np.where(alike, own, np.uint8(MIXED))
    across = framed[1:-1, 2:-1] != framed[1:-1, 1:-2]
    down = framed[2:-1, 1:-1] != framed[1:-2, 1:-1]
    inside = due[1:-1, 1 : width - 1]
    inside[:, :-1] = across
    inside[:, 1:] |= across
    inside[:-1] |= down
    inside[1:] |= down
    due *= turns
    return turns, due


def segment_sums(label_image: Ints, lab: NDArray[np.uint8], count: int) -> Starts:
    """Return (count, 6) number of pixels and sums of L, a, b, x, y of each label in (H, W)."""
    label_image = np.ascontiguousarray(label_image)
    rows = share(len(label_image), bind(sum_rows, (label_image, lab, count)))
    return np.asarray(sum(rows))


def move_weights(size: float, settings: RefinementSettings) -> MoveWeights:
    """Return the weights of E for segments of `size` pixels on average."""
    return MoveWeights(
        position=settings.position_weight / size,
        disparity=settings.disparity_weight,
        cap=settings.truncation**2,
        visibility=settings.visibility_weight,
        length=settings.length_weight,
    )


def about_origin(regions: Regions, planes: Floats) -> Floats:
    """Return the planes about the pixel (0, 0), so that they do not depend on who owns what."""
    return shifted_planes(check_planes(regions, planes), -regions.centre)


def partition_energy(
    label_image: Ints,
    lab: NDArray[np.uint8],
    matched: Map,
    right: Map,
    planes: Floats,
    weights: MoveWeights,
) -> float:
    """Return E, from scratch.

    Parameters
    ----------
    label_image
        (H, W) segments, in any number of pieces.
    lab, matched, right
        As in `move_boundaries`.
    planes
        (n, 3) about (0, 0), from `about_origin`.
    weights
        From `move_weights`.
    """
    sums = segment_sums(label_image, lab, len(planes))
    means = (sums[:, 1:] / np.maximum(sums[:, :1], 1))[label_image]
    rows, columns = np.indices(label_image.shape)
    colour = sum(np.square(lab[k] - means[..., k]).sum() for k in range(3))
    position = np.square(columns - means[..., 3]).sum() + np.square(rows - means[..., 4]).sum()
    a, b, c = planes[label_image].transpose(2, 0, 1)
    drawn = a * columns + b * rows + c
    known = ~np.isnan(matched)
    residual = np.minimum(np.square(drawn - matched)[known], weights.cap).sum()
    place = np.rint(columns - drawn)
    inside = (place >= 0) & (place < label_image.shape[1]) & ~known
    shown = right[np.nonzero(inside)[0], place[inside].astype(np.int64)]
    seen = (shown < drawn[inside] - SLACK).sum()
    total = colour + weights.position * position + weights.disparity * residual
    return float(total + weights.visibility * seen + weights.length * _border(label_image))


def _border(label_image: Ints) -> int:
    """Return how many pairs of pixels that share a side or a corner have different labels."""
    pairs = (
        (label_image[:, 1:], label_image[:, :-1]),
        (label_image[1:], label_image[:-1]),
        (label_image[1:, 1:], label_image[:-1, :-1]),
        (label_image[1:, :-1], label_image[:-1, 1:]),
    )
    return sum(int((one != other).sum()) for one, other in pairs)


def split_segments(
    regions: Regions,
    matched: Map,
    planes: Floats,
    settings: RefinementSettings,
    lowest: float = -np.inf,
    highest: float = np.inf,
) -> tuple[Ints, Starts, NDArray[np.bool_]]:
    """Make segments of the matches that the planes cannot explain.

    Matches farther than `split_distance` from their segment's plane form patches, over the borders
    of segments if need be: 4-connected, in steps of at most `PATCH_STEP`. A patch of at least
    `split_size` pixels becomes a segment. What is left of the segments it cuts falls into
    4-connected pieces; those below `SMALLEST_PIECE` join the neighbour with which they share most
    sides.

    Parameters
    ----------
    regions
        The segments.
    matched
        D(p).
    planes
        (n, 3) α, β, γ about the segments' centres.
    settings
        What is a patch.
    lowest, highest
        Planes are cut off there, as they are when drawn.

    Returns
    -------
    label_image
        (H, W), 0 … n'−1: pieces by the number of the segment they come from, then patches; equals
        in raster order. Where there is no patch, those of `regions`.
    parent
        (n',) segment whose plane a piece keeps; −1 for a patch, which wants a plane of its own.
    core
        (H, W) the matches that made the patches; small pieces may have joined these.
    """
    patches = _patches(regions, matched, planes, settings, lowest, highest)
    core = patches >= 0
    cut = np.zeros(regions.count + int(patches.max()) + 1, np.bool_)
    cut[regions.label_image[core]] = True
    marked = patches + np.int32(regions.count)
    np.copyto(marked, regions.label_image, where=~core)
    del patches
    pieces = split_connected(marked)
    size, origin = piece_origins(pieces, marked, int(pieces.max()) + 1)
    del marked
    into = _join_small(pieces, size, cut[origin])
    kept = np.flatnonzero(into == np.arange(len(into)))
    kept = kept[np.argsort(origin[kept], kind="stable")]
    number = np.empty(len(into), np.int32)
    number[kept] = np.arange(len(kept))
    parent = np.where(origin[kept] < regions.count, origin[kept], -1)
    rename(pieces, number[into])
    return pieces, parent, core


def _patches(
    regions: Regions,
    matched: Map,
    planes: Floats,
    settings: RefinementSettings,
    lowest: float,
    highest: float,
) -> Ints:
    """Return (H, W) patches of matches off their planes, −1 outside of them."""
    if settings.split_size == 0:
        return np.full(regions.label_image.shape, -1, np.int32)
    matched = np.ascontiguousarray(matched, np.float32)
    off = np.empty(matched.shape, np.bool_)
    inputs = regions.label_image, regions.centre, check_planes(regions, planes), matched
    limits = float(lowest), float(highest), settings.split_distance
    share(len(off), bind(off_plane_rows, (*inputs, *limits), off))
    patches: Ints = find_patches(off, matched, PATCH_STEP, settings.split_size)
    return patches


def _join_small(pieces: Ints, size: Starts, loose: NDArray[np.bool_]) -> Starts:
    """Return the piece that each piece becomes part of, itself if it stays.

    Loose pieces below `SMALLEST_PIECE` join the neighbour with the longest common border, the first
    of equals, in rounds: those that have only small neighbours wait for them to join.
    """
    into = np.arange(len(size), dtype=np.int64)
    waiting = loose & (size < SMALLEST_PIECE)
    if not waiting.any() or waiting.all():
        return into
    sides = _sides(pieces, waiting)
    while waiting.any():
        here, there = into[sides]
        usable = waiting[here] & ~waiting[there]
        # Pieces that have joined one another share one border with their neighbours.
        pairs, border = np.unique(here[usable] * len(size) + there[usable], return_counts=True)
        here, there = np.divmod(pairs, len(size))
        order = np.lexsort((there, -border, here))
        here, best = np.unique(here[order], return_index=True)
        into[here] = there[order][best]
        waiting[here] = False
    return into


def _sides(pieces: Ints, wanted: NDArray[np.bool_]) -> Ints:
    """Return (2, M) wanted pieces and the pieces beside them, once for each side of a pixel."""
    rows, columns = np.divmod(np.flatnonzero(wanted[pieces]), pieces.shape[1])
    found = []
    for down, across in SIDES:
        v, u = rows + down, columns + across
        inside = (v >= 0) & (v < pieces.shape[0]) & (u >= 0) & (u < pieces.shape[1])
        there = v[inside], u[inside]
        found.append(np.stack([pieces[rows[inside], columns[inside]], pieces[there]]))
    return np.concatenate(found, axis=1)


def fit_patches(label_image: Ints, first: int, matched: Map, core: NDArray[np.bool_]) -> Floats:
    """Return (m, 3) least-squares planes about (0, 0) of the segments `first`, first + 1, ….

    Fitted to the matches of `core`, which are small steps from one to the next and need no robust
    fit. Slopes that a narrow patch cannot tell are level: they are drawn to zero as if by one match
    a pixel away.
    """
    pixels = np.flatnonzero(core)
    pixels = pixels[label_image.flat[pixels] >= first]  # small pieces may have cut into a patch
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
