"""A check, by matched features, that a pair is rectified and its images are not swapped.

Every method that searches along rows fails without notice on a pair whose rows do not agree, so the
vertical offset is measured first and reported.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from slanted.errors import RectificationError, SlantedWarning
from slanted.images.checks import NAMES
from slanted.images.colour import as_8_bit, as_grey
from slanted.runtime.arrays import Floats

if TYPE_CHECKING:
    from slanted.images import Image
    from slanted.settings import RectificationSettings

FEATURES = 600
"""Number of ORB features found in each image."""
LARGEST_WIDTH = 1600
"""Wider images are reduced to this width, in pixels, to limit the time of the check."""
LARGEST_DISTANCE = 40
"""Largest number of differing bits, of 256, of matched descriptors; by chance it is 128 ± 8."""
FEWEST_MATCHES = 30
"""Fewest matches for a verdict; the median of fewer would be noise."""
SWAPPED_SHARE = 0.8
"""Share of matches of negative disparity above which a pair counts as swapped."""


@dataclass(frozen=True)
class RectificationCheck:
    """What the matched features of a pair show."""

    matches: int
    """Number of matched features."""
    vertical_offset: float
    """Median of the absolute row differences, in pixels. This is the number judged, because a pair
    rotated about its axis has signed differences of median zero."""
    vertical_median: float
    """Median of the signed row differences left − right, in pixels."""
    vertical_spread: float
    """Median distance from `vertical_median`, scaled to a standard deviation, in pixels."""
    backward_share: float
    """Share of matches with a disparity below zero, or below the start of a negative range."""


def measure_rectification(
    left: Image, right: Image, min_disparity: int = 0
) -> RectificationCheck | None:
    """Match ORB features of both images; return None if too few match for a verdict."""
    offsets = _feature_offsets(left, right)
    if len(offsets) < FEWEST_MATCHES:
        return None
    horizontal, vertical = offsets.T
    return RectificationCheck(
        matches=len(offsets),
        vertical_offset=float(np.median(np.abs(vertical))),
        vertical_median=float(np.median(vertical)),
        vertical_spread=1.4826 * float(np.median(np.abs(vertical - np.median(vertical)))),
        backward_share=float(np.mean(horizontal < min(0, min_disparity) - 1)),
    )


def check_rectification(
    left: Image, right: Image, settings: RectificationSettings, min_disparity: int = 0
) -> RectificationCheck | None:
    """Warn about, or refuse, a pair that is not rectified or whose images are swapped.

    Raises
    ------
    RectificationError
        If ``settings.check`` is ``refuse`` and the vertical offset is above
        ``settings.refuse_offset``, or the images are swapped.
    """
    found = None if settings.check == "off" else measure_rectification(left, right, min_disparity)
    judge_rectification(found, left, right, settings)
    return found


def judge_rectification(
    found: RectificationCheck | None,
    left: Image,
    right: Image,
    settings: RectificationSettings,
    names: tuple[str, str] = NAMES,
) -> None:
    """Warn about, or refuse, a pair by the outcome of `measure_rectification`.

    `names` are what messages call the images, such as their files.
    """
    if found is None:
        return
    pair = ", ".join(names)
    if np.array_equal(left, right):
        warnings.warn(
            f"{pair}: both images are the same, so every disparity is 0; check the names",
            SlantedWarning,
            stacklevel=2,
        )
        return
    offset = found.vertical_offset
    measured = f"{offset:.1f} px (median of {found.matches} matches)"
    if offset > settings.refuse_offset and settings.check == "refuse":
        raise RectificationError(
            f"{pair}: expected a rectified pair, whose rows agree, got a vertical offset of "
            f"{measured}; rectify the images first, or set rectification.check=warn to go on"
        )
    if offset > settings.warn_offset:
        warnings.warn(
            f"the pair is not well rectified: vertical offset {measured}; expect errors",
            SlantedWarning,
            stacklevel=2,
        )
    if found.backward_share > SWAPPED_SHARE:
        message = (
            f"{pair}: {found.backward_share:.0%} of {found.matches} matches lie to the right "
            f"in the right image, so the images seem to be swapped; swap them, or "
            f"set matching.min_disparity below zero if that is meant"
        )
        if settings.check == "refuse":
            raise RectificationError(message)
        warnings.warn(message, SlantedWarning, stacklevel=2)


def _feature_offsets(left: Image, right: Image) -> Floats:
    """Return (N, 2) differences (column, row) left − right of matched features, in pixels."""
    import cv2

    shrink = min(1.0, LARGEST_WIDTH / left.shape[1])
    # Both views have the same scale, so one pyramid level is enough, at a third of the time.
    finder = cv2.ORB_create(FEATURES, fastThreshold=7, nlevels=1)
    points, descriptors = [], []
    for image in as_8_bit(as_grey(left), as_grey(right)):
        small = image
        if shrink < 1:
            small = cv2.resize(image, None, fx=shrink, fy=shrink, interpolation=cv2.INTER_AREA)
        found, described = finder.detectAndCompute(small, None)
        if described is None:
            return np.empty((0, 2))
        points.append(np.array([point.pt for point in found]) / shrink)
        descriptors.append(described)
    matches = cv2.BFMatcher(cv2.NORM_HAMMING, crossCheck=True).match(*descriptors)
    near = [m for m in matches if m.distance < LARGEST_DISTANCE]
    first = points[0][[m.queryIdx for m in near]]
    second = points[1][[m.trainIdx for m in near]]
    offsets: Floats = (first - second).reshape(-1, 2)
    return offsets
