"""Features that match in both views, with their positions to a fraction of a pixel."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from slanted.images.colour import grey_pair
from slanted.runtime.arrays import Bytes, Floats
from slanted.runtime.threads import together

if TYPE_CHECKING:
    from slanted.images import Image

FEATURES = 640
"""Number of features described in each image."""
CELLS = 40
"""Cells of the image that share them evenly. The strongest features alone crowd together, and a
warp fitted to them is wrong elsewhere: on KITTI 000027 by 0.6 px."""
CONTRASTS = (20, 7)
"""Least contrasts of a corner, in grey levels; the second is for images with few of the first."""
FEW_CORNERS = 2000
"""So many corners are few."""
LARGEST_WIDTH = 1600
"""Wider images are reduced to this width, in pixels, to limit the time."""
LARGEST_DISTANCE = 40
"""Largest number of differing bits, of 256, of matched descriptors; by chance it is 128 ± 8."""
WINDOW = 21
"""Side of the window, in pixels, that is moved by fractions of a pixel."""
LARGEST_MOVE = 2.5
"""A position that moves farther than this many pixels has left its feature."""


@dataclass(frozen=True, eq=False)
class FeatureMatches:
    """Positions of the same features in both views."""

    left: Floats
    right: Floats
    """(N, 2) column and row, in pixels of the full image."""

    def __len__(self) -> int:
        return len(self.left)

    @property
    def disparity(self) -> Floats:
        """(N,) column differences left − right."""
        difference: Floats = self.left[:, 0] - self.right[:, 0]
        return difference

    @property
    def vertical(self) -> Floats:
        """(N,) row differences right − left."""
        difference: Floats = self.right[:, 1] - self.left[:, 1]
        return difference


def match_features(left: Image, right: Image) -> FeatureMatches:
    """Match ORB features of both images, and refine where they lie in the right one."""
    from slanted.runtime.opencv import cv2

    nothing = FeatureMatches(np.empty((0, 2)), np.empty((0, 2)))
    shrink = min(1.0, LARGEST_WIDTH / left.shape[1])
    small = list(grey_pair(left, right))
    if shrink < 1:
        small = [
            cv2.resize(each, None, fx=shrink, fy=shrink, interpolation=cv2.INTER_AREA)
            for each in small
        ]
    points, descriptors = zip(*together(*(partial(_describe, each) for each in small)), strict=True)
    if any(each is None for each in descriptors):
        return nothing
    matches = cv2.BFMatcher(cv2.NORM_HAMMING, crossCheck=True).match(*descriptors)
    near = [m for m in matches if m.distance < LARGEST_DISTANCE]
    if not near:
        return nothing
    first = points[0][[m.queryIdx for m in near]]
    second = points[1][[m.trainIdx for m in near]]
    refined, kept = _refine(small, first, second)
    scale = 1 / shrink
    return FeatureMatches(first[kept] * scale, refined[kept] * scale)


def _describe(image: Bytes) -> tuple[Any, Any]:
    """Return positions and descriptors of the strongest corners of each cell."""
    from slanted.runtime.opencv import cv2

    corners: Any = ()
    for contrast in CONTRASTS:  # to find all corners of a rich image takes three times as long
        if len(corners) < FEW_CORNERS:
            corners = cv2.FastFeatureDetector_create(contrast).detect(image, None)
    if not corners:
        return None, None
    kept = _strongest(
        cv2.KeyPoint_convert(corners), np.array([c.response for c in corners]), image.shape
    )
    # Both views have the same scale, so one pyramid level is enough.
    finder = cv2.ORB_create(FEATURES, nlevels=1)
    found, described = finder.compute(image, [corners[k] for k in kept])
    # The finder drops corners too close to the border, in a small image all of them.
    return np.array(cv2.KeyPoint_convert(found), np.float32).reshape(-1, 2), described


def _strongest(points: Any, strength: Any, shape: tuple[int, ...]) -> Any:
    """Return the numbers of the strongest points of each of about `CELLS` square cells."""
    height, width = shape[:2]
    side = max(1.0, (height * width / CELLS) ** 0.5)
    across = int(width // side) + 1
    cell = (points[:, 1] // side).astype(int) * across + (points[:, 0] // side).astype(int)
    order = np.lexsort((-strength, cell))
    sorted_cells = cell[order]
    rank = np.arange(len(order)) - np.searchsorted(sorted_cells, sorted_cells)
    return order[rank < FEATURES // CELLS]


def _refine(images: list[Bytes], first: Any, second: Any) -> tuple[Any, Any]:
    """Return right positions to a fraction of a pixel (Lucas–Kanade), and which were found."""
    from slanted.runtime.opencv import cv2

    # It compares grey levels, and another exposure of one view would look like a move: with a gamma
    # of 1.5 on KITTI, by 0.7 px rms.
    moved, found, _ = cv2.calcOpticalFlowPyrLK(
        *map(cv2.equalizeHist, images),
        first[:, None],
        second[:, None].copy(),
        winSize=(WINDOW, WINDOW),
        maxLevel=0,
        flags=cv2.OPTFLOW_USE_INITIAL_FLOW,
        criteria=(cv2.TERM_CRITERIA_COUNT | cv2.TERM_CRITERIA_EPS, 20, 0.01),
    )
    refined = moved[:, 0]
    return refined, (found[:, 0] > 0) & (np.abs(refined - second).max(axis=1) < LARGEST_MOVE)
