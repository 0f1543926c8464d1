"""Census words: which neighbours of a pixel are darker than it (Zabih & Woodfill, ECCV 1994).

They do not depend on exposure or gain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from slanted.images.census_kernels import CENSUS_X, CENSUS_Y, census_rows
from slanted.runtime.opencv import cv2
from slanted.runtime.threads import bind, share

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from slanted.images import GreyPair
    from slanted.images.census_kernels import Words
    from slanted.runtime.arrays import Bytes, DisparityMap

_BITS = np.array([bin(byte).count("1") for byte in range(256)], np.uint8)
"""Bits that are set in each byte."""


@dataclass(frozen=True, eq=False)
class CensusPair:
    """The census words of both views, (H, W) each."""

    left: Words
    right: Words


def census_of_pair(grey: GreyPair) -> CensusPair:
    """Return the census words of an 8-bit grey pair, from `slanted.images.colour.grey_pair`."""
    return CensusPair(*(census_words(view) for view in grey))


def census_words(grey: Bytes) -> Words:
    """Return the census words of an 8-bit image, whose border pixels are repeated outwards."""
    words = np.empty(grey.shape, np.uint64)
    padded = cv2.copyMakeBorder(grey, CENSUS_Y, CENSUS_Y, CENSUS_X, CENSUS_X, cv2.BORDER_REPLICATE)
    share(len(grey), bind(census_rows, (padded,), words))
    return words


def differing_bits(left: Words, right: Words, disparity: DisparityMap) -> NDArray[np.int16]:
    """Return how many bits of the census words of two views differ at a disparity, (H, W).

    It is −1 where the disparity is unknown, or its match lies outside the right view.

    Examples
    --------
    >>> words = np.array([[1, 3, 7]], np.uint64)
    >>> differing_bits(words, words, np.array([[1, 1, 2]], np.float32))
    array([[-1,  1,  2]], dtype=int16)
    """
    width = disparity.shape[1]
    place = np.rint(np.arange(width, dtype=np.float32) - disparity)
    is_inside = (place >= 0) & (place < width)
    there = np.where(is_inside, place, 0).astype(np.intp)
    differing = left ^ np.take_along_axis(right, there, axis=1)
    count = _BITS[differing.view(np.uint8)].reshape(*differing.shape, 8).sum(-1, dtype=np.int16)
    return np.where(is_inside, count, np.int16(-1))
