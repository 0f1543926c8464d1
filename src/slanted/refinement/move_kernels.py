"""Numba kernels that move pixels from segment to segment, and find matches off their planes.

Colours are 8 bit and positions integers, so sums are exact, and the change by a move is known up to
rounding: for a set of n vectors x with sum s,

    Σ‖x − mean‖²  falls by ‖n x − s‖² / (n (n − 1)) if x leaves,
                  rises by ‖n x − s‖² / (n (n + 1)) if x joins.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from slanted.model.visibility import SLACK
from slanted.runtime.arrays import Bytes, DisparityMap, Flags, Floats, Ints, Starts
from slanted.runtime.kernel import kernel

SMALLEST_SEGMENT = 8
"""Size, in pixels, at which a segment loses no more pixels."""
MIXED = 255
"""Number of the pixels where several bands meet, instead of a band."""
BLOCK = 8
"""Pixels, one byte each, that are skipped at once if none is due."""
EACH_ONE, ALL_LOW = np.uint64(0x0101010101010101), np.uint64(0x7F7F7F7F7F7F7F7F)
ALL_BITS = np.uint64(0xFFFFFFFFFFFFFFFF)
"""Words with the lowest bit, all but the highest bit, and all bits of every byte set."""
SMALLEST_GAIN = 1e-9
"""Least decrease of the energy by a move; anything smaller is rounding."""


class MoveWeights(NamedTuple):
    """The weights of the terms of the energy; see `slanted.refinement.segment_moves`."""

    position: float
    """w_pos, divided by the mean number of pixels per segment."""
    disparity: float
    """w_disp."""
    cap: float
    """K², the cap on the squared residual."""
    visibility: float
    """w_vis."""
    length: float
    """w_len."""


def _single_runs() -> NDArray[np.int64]:
    """Return the size of each set of places in the ring that a pixel may leave or join.

    A pixel may if the set is one run of the ring, hence 4-connected, and holds a place that shares
    a side with the pixel. Other sets, and the whole ring, have 0.
    """
    sizes = np.zeros(256, np.int64)
    for places in range(1, 255):
        held = [places >> k & 1 for k in range(8)]
        runs = sum(held[k] and not held[k - 1] for k in range(8))
        if runs == 1 and any(held[1::2]):
            sizes[places] = sum(held)
    return sizes


SINGLE_RUNS = _single_runs()


@kernel
def move_pixels(
    label_image: Ints,
    sums: Starts,
    lab: Bytes,
    matched: DisparityMap,
    right_disparity: DisparityMap,
    planes: Floats,
    weights: MoveWeights,
    bands: Bytes,
    turns: Bytes,
    due: Bytes,
    turn: int,
    backwards: bool,
) -> tuple[int, float]:
    """Move the pixels whose turn it is, each at most once, to where the energy falls most.

    Pixels move to segments next to them. In a band's turn these are of the same band, so that bands
    do not change and can be done in parallel.

    Parameters
    ----------
    label_image
        (H + 2, W + 2) segments in a frame of −1; changed in place.
    sums
        (n, 6) number of pixels and sums of L, a, b, x, y of each segment; updated.
    lab
        (3, H, W) planes.
    matched, right_disparity
        (H, W) disparity of either view, NaN where unknown.
    planes
        (n, 3) disparity a x + b y + c of each segment.
    weights
        The weights of the energy.
    bands
        (n,) band of each segment, from 1 on.
    turns
        (H + 2, W + 2 rounded up to whole blocks) band of the segments within a pixel of each pixel,
        or `MIXED` if there are several; updated.
    due
        `turns` of the pixels to try, 0 for others. A pixel is tried again only after one of its
        eight neighbours has moved; other changes of its segments are too small to matter.
    turn
        A band, or `MIXED`.
    backwards
        Whether to go over the image against raster order.

    Returns
    -------
    moves
        Number of pixels that moved.
    change
        Change of the energy.
    """
    height = len(matched)
    blocks = due.view(np.uint64)
    wanted = EACH_ONE * np.uint64(turn)
    ring = np.empty(8, np.int32)
    moves, change = 0, 0.0
    for i in range(height):
        y = height - 1 - i if backwards else i
        for j in range(blocks.shape[1]):
            block = blocks.shape[1] - 1 - j if backwards else j
            # Most blocks are skipped here. A byte is 0 where it is a pixel's turn, and only these
            # bytes have no highest bit, neither their own nor carried from the lower bits.
            differ = blocks[y + 1, block] ^ wanted
            if ((differ & ALL_LOW) + ALL_LOW) | differ | ALL_LOW == ALL_BITS:
                continue
            for k in range(BLOCK):
                place = BLOCK * block + (BLOCK - 1 - k if backwards else k)
                if due[y + 1, place] != turn:
                    continue
                x, old = place - 1, label_image[y + 1, place]
                if sums[old, 0] <= SMALLEST_SEGMENT:
                    continue
                due[y + 1, place] = 0
                _look_round(label_image, x, y, ring)
                new, by = _best_move(
                    x, y, old, ring, sums, lab, matched[y, x], right_disparity, planes, weights
                )
                if new != old:
                    label_image[y + 1, place] = new
                    if turn == MIXED:
                        _take_turns(label_image, bands, x, y, turns)
                    for v in range(y, y + 3):
                        for u in range(x, x + 3):
                            due[v, u] = turns[v, u]
                    _update_sums(sums, old, -1, x, y, lab)
                    _update_sums(sums, new, 1, x, y, lab)
                    moves += 1
                    change += by
    return moves, change


@kernel
def _look_round(label_image: Ints, x: int, y: int, ring: Ints) -> None:
    """Write the segments around a pixel of a framed label image, clockwise."""
    ring[0], ring[1], ring[2] = label_image[y, x], label_image[y, x + 1], label_image[y, x + 2]
    ring[7], ring[3] = label_image[y + 1, x], label_image[y + 1, x + 2]
    below = y + 2
    ring[6], ring[5] = label_image[below, x], label_image[below, x + 1]
    ring[4] = label_image[below, x + 2]


@kernel
def _take_turns(label_image: Ints, bands: Bytes, x: int, y: int, turns: Bytes) -> None:
    """Update the turns of a pixel and its eight neighbours; the label image is framed."""
    height, width = label_image.shape
    for v in range(max(y, 1), min(y + 3, height - 1)):
        for u in range(max(x, 1), min(x + 3, width - 1)):
            turn = bands[label_image[v, u]]
            for b in range(v - 1, v + 2):
                for a in range(u - 1, u + 2):
                    if label_image[b, a] >= 0 and bands[label_image[b, a]] != turn:
                        turn = MIXED
            turns[v, u] = turn


@kernel
def _best_move(
    x: int,
    y: int,
    old: int,
    ring: Ints,
    sums: Starts,
    lab: Bytes,
    match: float,
    right_disparity: DisparityMap,
    planes: Floats,
    weights: MoveWeights,
) -> tuple[int, float]:
    """Return the segment a pixel moves to, `old` if it stays, and the change of the energy."""
    kept = SINGLE_RUNS[_places(ring, old)]
    best, best_change = old, -SMALLEST_GAIN
    if kept == 0:
        return best, best_change
    saved = _spread(sums, old, np.int64(-1), x, y, lab, weights.position)
    saved += _plane_cost(x, y, match, right_disparity, planes, old, weights)
    for k in range(1, 8, 2):
        new = ring[k]
        if new < 0 or new in (old, best):
            continue
        joined = SINGLE_RUNS[_places(ring, new)]
        if joined == 0:
            continue
        change = _spread(sums, new, np.int64(1), x, y, lab, weights.position)
        change += _plane_cost(x, y, match, right_disparity, planes, new, weights)
        change += weights.length * (kept - joined) - saved
        if change < best_change:
            best, best_change = new, change
    return best, best_change


@kernel
def _places(ring: Ints, segment: int) -> int:
    """Return the places of the ring that belong to a segment, as bits."""
    places = 0
    for k in range(8):
        places |= (ring[k] == segment) << k
    return places


@kernel
def _spread(
    sums: Starts, segment: int, step: int, x: int, y: int, lab: Bytes, position: float
) -> float:
    """Return the increase of the spread of colours and positions if a pixel joins (step 1).

    With step −1, return the decrease if it leaves.
    """
    n = sums[segment, 0]
    dl = float(n * lab[0, y, x] - sums[segment, 1])
    da = float(n * lab[1, y, x] - sums[segment, 2])
    db = float(n * lab[2, y, x] - sums[segment, 3])
    dx, dy = float(n * x - sums[segment, 4]), float(n * y - sums[segment, 5])
    squares = dl * dl + da * da + db * db + position * (dx * dx + dy * dy)
    return squares / (float(n) * float(n + step))


@kernel
def _plane_cost(
    x: int,
    y: int,
    match: float,
    right_disparity: DisparityMap,
    planes: Floats,
    segment: int,
    weights: MoveWeights,
) -> float:
    """Return φ_i(p) of a pixel on the plane of a segment."""
    d = planes[segment, 0] * x + planes[segment, 1] * y + planes[segment, 2]
    if not np.isnan(match):
        return weights.disparity * min(float((d - match) ** 2), weights.cap)
    place = np.rint(x - d)
    # Not `0 <= place < … and …` as one value: on a Zen 5 all moves then took 26 instead of 12 ms.
    if not 0 <= place < right_disparity.shape[1]:
        return 0.0
    return weights.visibility if right_disparity[y, int(place)] < d - SLACK else 0.0


@kernel
def _update_sums(sums: Starts, segment: int, step: int, x: int, y: int, lab: Bytes) -> None:
    sums[segment, 0] += step
    for k in range(3):
        sums[segment, 1 + k] += step * int(lab[k, y, x])
    sums[segment, 4] += step * x
    sums[segment, 5] += step * y


@kernel
def sum_rows(label_image: Ints, lab: Bytes, count: int, first: int, last: int) -> Starts:
    """Return (count, 6) number of pixels and sums of L, a, b, x, y of segments in some rows."""
    sums = np.zeros((count, 6), np.int64)
    for y in range(first, last):
        for x in range(label_image.shape[1]):
            _update_sums(sums, label_image[y, x], 1, x, y, lab)
    return sums


@kernel
def off_plane_rows(
    label_image: Ints,
    centre: Floats,
    planes: Floats,
    matched: DisparityMap,
    lowest: float,
    highest: float,
    distance: float,
    first: int,
    last: int,
    off: Flags,
) -> None:
    """Mark the matches that are farther than `distance` from their segment's plane.

    Parameters
    ----------
    label_image, centre, planes
        (H, W) segments, and (n, 2) and (n, 3) planes about their centres.
    matched
        (H, W) D(p), NaN where unknown; unknown pixels are not marked.
    lowest, highest
        Range to which planes are clipped.
    distance
        Distance in pixels.
    first, last
        Rows to do.
    off
        (H, W) marked pixels, output.
    """
    for y in range(first, last):
        for x in range(label_image.shape[1]):
            i = label_image[y, x]
            d = planes[i, 0] * (x - centre[i, 0]) + planes[i, 1] * (y - centre[i, 1]) + planes[i, 2]
            off[y, x] = abs(min(max(d, lowest), highest) - matched[y, x]) > distance
