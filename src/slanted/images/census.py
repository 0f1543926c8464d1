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
    from slanted.images import GreyPair
    from slanted.images.census_kernels import Words
    from slanted.runtime.arrays import Bytes


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
