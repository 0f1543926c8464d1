"""Census words: what a pixel looks like, whatever the exposure (Zabih & Woodfill, ECCV 1994)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import cv2
import numpy as np

from slanted.images.census_kernels import CENSUS_X, CENSUS_Y, census_rows
from slanted.images.checks import as_8_bit, as_grey
from slanted.runtime.threads import bound, share

if TYPE_CHECKING:
    from slanted.images import Image
    from slanted.images.census_kernels import Bytes
    from slanted.images.census_kernels import Words as Plane


@dataclass(frozen=True, eq=False)
class Words:
    """The census words of both views, (H, W) each: which neighbours are darker than the pixel."""

    left: Plane
    right: Plane


def words_of_pair(left: Image, right: Image) -> Words:
    """Return the census words of a pair of images, grey or RGB, of 8 or 16 bits."""
    grey = (np.asarray(as_grey(image), np.uint8) for image in as_8_bit(left, right))
    return Words(*(census_words(image) for image in grey))


def census_words(grey: Bytes) -> Plane:
    """Return the census words of an 8-bit image, which goes on beyond its borders."""
    words = np.empty(grey.shape, np.uint64)
    padded = cv2.copyMakeBorder(grey, CENSUS_Y, CENSUS_Y, CENSUS_X, CENSUS_X, cv2.BORDER_REPLICATE)
    share(len(grey), bound(census_rows, (padded,), words))
    return words
