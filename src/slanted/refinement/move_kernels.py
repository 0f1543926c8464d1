"""Numba kernels that move pixels from segment to segment.

Colours are 8 bit and positions whole numbers, so the sums from which means are taken are exact
integers, and what a move changes is known to rounding: for a set of n vectors x with sum s,

    Σ‖x − mean‖²  falls by ‖n x − s‖² / (n (n − 1)) if x leaves,
                  rises by ‖n x − s‖² / (n (n + 1)) if x joins.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from slanted.model.visibility import SLACK
from slanted.runtime.arrays import Floats, Ints, Starts
from slanted.runtime.kernel import kernel

SMALLEST_SEGMENT = 8
"""Pixels below which no move takes a segment."""
MIXED = 255
"""Instead of a band: where several meet."""
BLOCK = 8
"""Pixels that are passed over at once if none is to be tried: bytes of a word."""
EACH_ONE, ALL_LOW = np.uint64(0x0101010101010101), np.uint64(0x7F7F7F7F7F7F7F7F)
ALL_BITS = np.uint64(0xFFFFFFFFFFFFFFFF)
"""Words with, of every byte, the lowest bit; all but the highest; all."""
SMALLEST_GAIN = 1e-9
"""By which a move must lower the energy; less is rounding."""


class MoveWeights(NamedTuple):
    """What the terms of the energy weigh; see `slanted.refinement.segment_moves`."""

    position: float
    """Over the mean number of pixels a segment."""
    disparity: float
    cap: float
    """On the squared residual."""
    visibility: float
    length: float


def _single_runs() -> NDArray[np.int64]:
    """Return, for each set of places in the ring, its size if a pixel may leave or join it.

    That is if it is one run of the cycle, hence 4-connected, and holds a place that shares a side
    with the pixel; other sets, and the whole ring, give 0.
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
    lab: NDArray[np.uint8],
    matched: NDArray[np.float32],
    right: NDArray[np.float32],
    planes: Floats,
    weights: MoveWeights,
    bands: NDArray[np.uint8],
    turns: NDArray[np.uint8],
    due: NDArray[np.uint8],
    turn: int,
    backwards: bool,
) -> tuple[int, float]:
    """Move the pixels whose turn it is, each once at most, to where energy falls most.

    Pixels go to segments round them. While it is a band's turn these are of the band, so that what
    belongs to it stays the same and bands can be done side by side.

    Parameters
    ----------
    label_image
        (H + 2, W + 2), −1 in a frame of one pixel; changed in place.
    sums
        (n, 6) number of pixels and sums of L, a, b, x, y of each segment; kept up to date.
    lab
        (3, H, W) planes.
    matched, right
        (H, W) disparity of either view, NaN where unknown.
    planes
        (n, 3) disparity a x + b y + c of each segment.
    weights
        See `MoveWeights`.
    bands
        (n,) which band each segment belongs to, from 1 on.
    turns
        (H + 2, W + 2 or more, in whole blocks) the band of the segments within a pixel of each
        pixel, or `MIXED`, if they are of several; kept up to date.
    due
        The same for pixels that are to be tried, 0 for others. They are not again until one of the
        eight round them has moved: colours and positions of their segments change too little to
        matter.
    turn
        A band, or `MIXED`.
    backwards
        Whether to go over the image against raster order.

    Returns
    -------
    moves
        How many pixels moved.
    change
        Of the energy, the sum of what the moves changed.
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
            # Of most blocks no more is looked at: bytes are 0 where it is a pixel's turn, and only
            # these have no highest bit of their own or carried from the others.
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
                    x, y, old, ring, sums, lab, matched[y, x], right, planes, weights
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
    """Write the labels round a pixel, clockwise, of labels in a frame."""
    ring[0], ring[1], ring[2] = label_image[y, x], label_image[y, x + 1], label_image[y, x + 2]
    ring[7], ring[3] = label_image[y + 1, x], label_image[y + 1, x + 2]
    ring[6], ring[5], ring[4] = (
        label_image[y + 2, x],
        label_image[y + 2, x + 1],
        label_image[y + 2, x + 2],
    )


@kernel
def _take_turns(
    label_image: Ints, bands: NDArray[np.uint8], x: int, y: int, turns: NDArray[np.uint8]
) -> None:
    """Find out anew whose turn the pixels within one of a pixel are; labels are in a frame."""
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
    lab: NDArray[np.uint8],
    match: float,
    right: NDArray[np.float32],
    planes: Floats,
    weights: MoveWeights,
) -> tuple[int, float]:
    """Return where a pixel goes, and by how much that changes the energy; `old` if it stays."""
    kept = SINGLE_RUNS[_places(ring, old)]
    best, best_change = old, -SMALLEST_GAIN
    if kept == 0:
        return best, best_change
    saved = _spread(sums, old, -1, x, y, lab, weights.position)
    saved += _plane_cost(x, y, match, right, planes, old, weights)
    for k in range(1, 8, 2):
        new = ring[k]
        if new < 0 or new in (old, best):
            continue
        joined = SINGLE_RUNS[_places(ring, new)]
        if joined == 0:
            continue
        change = _spread(sums, new, 1, x, y, lab, weights.position)
        change += _plane_cost(x, y, match, right, planes, new, weights)
        change += weights.length * (kept - joined) - saved
        if change < best_change:
            best, best_change = new, change
    return best, best_change


@kernel
def _places(ring: Ints, label: int) -> int:
    """Return the places of the ring that have a label, as bits."""
    places = 0
    for k in range(8):
        places |= (ring[k] == label) << k
    return places


# A division that may raise keeps Numba from dropping reference counts: twice the kernel's time.
@kernel(error_model="numpy")
def _spread(
    sums: Starts, segment: int, step: int, x: int, y: int, lab: NDArray[np.uint8], position: float
) -> float:
    """Return by how much colours and positions spread more if a pixel joins a segment (step 1).

    Or by how much less if it leaves (step −1).
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
    right: NDArray[np.float32],
    planes: Floats,
    segment: int,
    weights: MoveWeights,
) -> float:
    """Return what a pixel costs on a plane: its residual, or being seen where it should not be."""
    d = planes[segment, 0] * x + planes[segment, 1] * y + planes[segment, 2]
    if not np.isnan(match):
        return weights.disparity * min(float((d - match) ** 2), weights.cap)
    place = np.rint(x - d)
    seen = 0 <= place < right.shape[1] and right[y, int(place)] < d - SLACK
    return weights.visibility if seen else 0.0


@kernel
def _update_sums(
    sums: Starts, segment: int, step: int, x: int, y: int, lab: NDArray[np.uint8]
) -> None:
    sums[segment, 0] += step
    for k in range(3):
        sums[segment, 1 + k] += step * int(lab[k, y, x])
    sums[segment, 4] += step * x
    sums[segment, 5] += step * y


@kernel
def sum_rows(
    label_image: Ints, lab: NDArray[np.uint8], count: int, first: int, last: int
) -> Starts:
    """Return (count, 6) number of pixels and sums of L, a, b, x, y of each label in some rows."""
    sums = np.zeros((count, 6), np.int64)
    for y in range(first, last):
        for x in range(label_image.shape[1]):
            _update_sums(sums, label_image[y, x], 1, x, y, lab)
    return sums


@kernel
def piece_origins(pieces: Ints, label_image: Ints, count: int) -> tuple[Starts, Starts]:
    """Return how many pixels each piece has, and the label that it is a piece of."""
    size, origin = np.zeros(count, np.int64), np.zeros(count, np.int64)
    flat, label = pieces.reshape(-1), label_image.reshape(-1)
    for p in range(flat.size):
        size[flat[p]] += 1
        origin[flat[p]] = label[p]
    return size, origin


@kernel
def off_plane_rows(
    label_image: Ints,
    centre: Floats,
    planes: Floats,
    matched: NDArray[np.float32],
    lowest: float,
    highest: float,
    distance: float,
    first: int,
    last: int,
    off: NDArray[np.bool_],
) -> None:
    """Mark the matches that are farther than `distance` from their segment's plane.

    Parameters
    ----------
    label_image, centre, planes
        (H, W) segments, and (n, 2) and (n, 3) planes about their centres.
    matched
        (H, W) D(p), NaN where unknown, which is not off.
    lowest, highest
        Planes are cut off there.
    distance
        In pixels.
    first, last
        Rows to do.
    off
        (H, W), output.
    """
    for y in range(first, last):
        for x in range(label_image.shape[1]):
            i = label_image[y, x]
            d = planes[i, 0] * (x - centre[i, 0]) + planes[i, 1] * (y - centre[i, 1]) + planes[i, 2]
            off[y, x] = abs(min(max(d, lowest), highest) - matched[y, x]) > distance
