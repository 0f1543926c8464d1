"""Pixels that look like sky, which has no depth.

Matches inside the sky say nothing: where nothing has texture, a matcher carries the disparities of
what surrounds it across. So the rule looks at the image first, and at matches only around a piece:

- Sky is bright for its image, smooth and not reddish. Thin dark things in front of it, such as
  wires and twigs, are closed before that is judged, and belong to it.
- A *piece* of such pixels is sky if it touches the upper border and a tenth of the matches around
  it are far: the sky is behind everything, while a wall or a ceiling has near things around it.
- The piece with the farthest matches around it is the *model*, and all others must have its colour.
- A blue piece of that colour needs only one of the two: to touch the border or to have far matches
  around it. White alone says less, for an overexposed wall is as white as the sky.

A white wall far away still passes for sky if it reaches the upper border and nothing blue tells it
apart, and so does an overexposed road that joins a white sky. Nothing follows for planes and
disparities: sky is flagged, and left out of depth, point clouds and meshes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from slanted.images.colour import as_8_bit
from slanted.runtime.arrays import Bytes, DisparityMap, Flags, Floats

if TYPE_CHECKING:
    from slanted.images import Image

WIDEST = 800
"""Wider images are judged at a whole fraction of their size."""
THIN = 0.004
"""Dark things up to this share of the image's width are closed: 5 px in KITTI."""
BRIGHT = 0.75
"""Least value (brightest channel) of sky, as a share of the image's white, its 99 % quantile."""
SMOOTH = 0.047
"""Largest range of a channel within 3 × 3 pixels, as a share of white: 12 of 255 grey levels."""
REDDISH = 0.08
"""Red may exceed blue by this share of white, as it does at the horizon: 20 of 255 grey levels."""
LEAST_AREA = 0.0005
"""Smaller pieces, as a share of the image, are no sky."""
AROUND = 0.01
"""Matches up to this share of the image's width away are around a piece."""
LEAST_AROUND = 3
"""Pixels, in small images: the smooth part of a piece ends before it does."""
FEWEST = 20
"""With fewer matches around it, nothing is known about how far a piece is."""
FAR = 0.007
"""Disparities below this share of the image's width are far: 8.7 px in KITTI, 45 m there."""
FAR_SHARE = 0.1
"""Least share of the matches around a piece that must be far."""
BLUE = 0.12
"""Blue exceeds red by this share of white on average: 30 of 255 grey levels."""
ALIKE = 0.18
"""Largest difference of colours, as a share of white, beyond two standard deviations."""
USED = 0.001
"""Share of pixels that must be matched below zero if infinity is to lie there."""
SQUARE = np.ones((3, 3), np.uint8)


@dataclass(frozen=True, eq=False)
class _Pieces:
    """Pieces of pixels that might be sky; piece 0 is all the rest."""

    labels: NDArray[np.uint16]
    """(H, W) the piece of each pixel; larger pieces have higher numbers."""
    is_touching: Flags
    """(n,) whether a piece touches the upper border."""
    is_far: Flags
    """(n,) whether enough of the matches around it are far."""
    remoteness: Floats
    """(n,) how many they are; one counts the more, the farther it is."""
    mean: Floats
    """(n, channels) colour, as a share of white."""
    deviation: Floats
    """(n, channels) its standard deviation."""


def find_sky(image: Image, matched: DisparityMap, lowest: float = 0.0) -> Flags:
    """Return the (H, W) mask of pixels that look like sky.

    Parameters
    ----------
    image
        The left image.
    matched
        (H, W) the matches, NaN where unknown.
    lowest
        The disparity of infinity.
    """
    from slanted.runtime.opencv import cv2

    height, width = matched.shape
    step = min(-(-width // WIDEST), height)
    rows, columns = height // step, width // step
    sampled = matched[: rows * step : step, : columns * step : step]
    if lowest < 0 and np.mean(sampled < -1) < USED:  # a range that was only made wide for safety
        lowest = 0.0
    remoteness = 1 - (sampled - np.float32(lowest)) / np.float32(FAR * width)
    pieces = _find_pieces(_reduced(image, step), remoteness)
    mask = _choose(pieces)[pieces.labels].view(np.uint8)
    mask = cv2.dilate(mask, SQUARE)  # smooth pixels end a pixel before the sky does
    mask = cv2.resize(mask, (columns * step, rows * step), interpolation=cv2.INTER_NEAREST)
    rest = height - rows * step, width - columns * step
    whole: Bytes = cv2.copyMakeBorder(mask, 0, rest[0], 0, rest[1], cv2.BORDER_REPLICATE)
    return whole.view(np.bool_)


def _reduced(image: Image, step: int) -> list[Bytes]:
    """Return the channels of an image in 8 bit, as means over squares of `step` pixels a side."""
    from slanted.runtime.opencv import cv2

    if step > 1:
        rows, columns = image.shape[0] // step, image.shape[1] // step
        whole = image[: rows * step, : columns * step]
        image = cv2.resize(whole, (columns, rows), interpolation=cv2.INTER_AREA)
    eight, _ = as_8_bit(image, image[:0])
    return list(cv2.split(eight))


def _find_pieces(channels: list[Bytes], remoteness: DisparityMap) -> _Pieces:
    """Find the pieces that might be sky, and measure them and the matches around them.

    `remoteness` is 1 for matches at infinity, 0 or less for those that are not far, NaN for none.
    """
    from slanted.runtime.opencv import cv2

    height, width = remoteness.shape
    white = _white(_largest(channels))
    side = 2 * round(THIN * width / 2) + 1
    closed = [
        cv2.morphologyEx(channel, cv2.MORPH_CLOSE, np.ones((side, side), np.uint8))
        for channel in channels
    ]
    edges = _largest([cv2.morphologyEx(one, cv2.MORPH_GRADIENT, SQUARE) for one in closed])
    is_smooth = edges <= SMOOTH * white
    redness = cv2.subtract(closed[0], closed[-1])  # 0 where blue is stronger
    candidate = is_smooth & (_largest(closed) >= BRIGHT * white) & (redness <= REDDISH * white)
    labels = _by_area(candidate, LEAST_AREA * height * width)
    count = int(labels.max()) + 1

    reach = 2 * max(round(AROUND * width), LEAST_AROUND) + 1
    around = cv2.dilate(labels, np.ones((reach, reach), np.uint8))
    # Smooth pixels have no match of their own.
    is_known = (around > 0) & (labels == 0) & ~is_smooth & ~np.isnan(remoteness)
    of, remote = around[is_known], remoteness[is_known]
    known, far = (np.bincount(one, minlength=count) for one in (of, of[remote > 0]))
    mean, deviation = _colours(labels, closed, count)
    return _Pieces(
        labels=labels,
        is_touching=np.bincount(labels[0], minlength=count) > 0,
        is_far=(known >= FEWEST) & (far >= FAR_SHARE * known),
        remoteness=np.asarray(np.bincount(of, np.maximum(remote, 0), count), np.float64),
        mean=mean / white,
        deviation=deviation / white,
    )


def _choose(pieces: _Pieces) -> Flags:
    """Return which pieces are sky."""
    sure = pieces.is_touching & pieces.is_far
    sure[0] = False
    if not sure.any():
        return sure
    model = int(np.argmax(np.where(sure, pieces.remoteness, -1)))
    slack = 2 * pieces.deviation[model] + ALIKE
    is_alike = (np.abs(pieces.mean - pieces.mean[model]) <= slack).all(axis=1)
    is_blue = pieces.mean[:, -1] - pieces.mean[:, 0] >= BLUE  # never in a grey image
    chosen: Flags = is_alike & (sure | (is_blue & (pieces.is_touching | pieces.is_far)))
    chosen[0] = False
    return chosen


def _by_area(candidate: Flags, least: float) -> NDArray[np.uint16]:
    """Return the connected pieces of at least an area, numbered from the smallest."""
    from slanted.runtime.opencv import cv2

    solid = cv2.morphologyEx(candidate.view(np.uint8), cv2.MORPH_OPEN, SQUARE)
    _, labels, stats, _ = cv2.connectedComponentsWithStats(solid, connectivity=4)
    area = stats[1:, cv2.CC_STAT_AREA]
    order = np.argsort(area, kind="stable")
    kept = order[area[order] >= least] + 1
    number = np.zeros(len(stats), np.uint16)
    number[kept] = np.arange(1, len(kept) + 1)
    pieces: NDArray[np.uint16] = number[labels]
    return pieces


def _colours(
    labels: NDArray[np.uint16], channels: list[Bytes], count: int
) -> tuple[Floats, Floats]:
    """Return the (count, channels) mean colours of pieces and their standard deviations."""
    inside = labels > 0
    of = labels[inside]
    area = np.maximum(np.bincount(of, minlength=count), 1)[:, np.newaxis]
    values = [channel[inside].astype(np.float64) for channel in channels]
    mean = np.stack([np.bincount(of, one, count) for one in values], axis=1) / area
    square = np.stack([np.bincount(of, one**2, count) for one in values], axis=1) / area
    return mean, np.sqrt(np.maximum(square - mean**2, 0))


def _largest(channels: list[Bytes]) -> Bytes:
    return reduce(np.maximum, channels)


def _white(value: Bytes) -> float:
    """Return the 99 % quantile of the values, at least 1."""
    sums = np.cumsum(np.bincount(value.reshape(-1), minlength=256))
    return max(1.0, float(np.searchsorted(sums, 0.99 * value.size)))
