"""Numba kernel that asks pixels left of a farther segment whose plane they look more like."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from slanted.runtime.arrays import Floats, Ints
from slanted.runtime.kernel import kernel

View = NDArray[np.int16]
"""(2, H, W) grey values, and their change from the column before to the one after."""
Map = NDArray[np.float32]


class RimRule(NamedTuple):
    """What the rim is and when a pixel leaves it; see `slanted.refinement.rim`."""

    reach: int
    """Columns to the right in which a farther segment is looked for."""
    step: float
    """Pixels of disparity by which it must be farther."""
    slack: float
    """By how much something must be nearer to hide a pixel."""
    radius: int
    """Of the window, in both directions."""
    stride: int
    """Between the pixels of the window that are looked at."""
    grey_cap: float
    slope_cap: float
    grey_share: float
    """Of the grey value in the difference; the rest is that of its slope."""
    hidden: float
    """Difference that a pixel counts which leaves the view or is hidden there."""
    most: float
    """Mean difference from which on the farther plane is not believed."""
    margin: float
    """By which its mean difference must be smaller than that of the pixel's own plane."""


@kernel(error_model="numpy")
def redecide_rows(
    label_image: Ints,
    planes: Floats,
    lab: NDArray[np.uint8],
    left: View,
    right: View,
    shown: Map,
    alike: Floats,
    rule: RimRule,
    first: int,
    last: int,
    disparity: Map,
) -> None:
    """Write the farther plane's disparity into the pixels of the rim that look like it.

    Parameters
    ----------
    label_image
        (H, W) segments.
    planes
        (n, 3) disparity a x + b y + c of each segment.
    lab
        (3, H, W) planes of the left image.
    left, right
        The views.
    shown
        (H, W) disparity of the right view, NaN where unknown.
    alike
        What a pixel of the window weighs, by the sum of differences of its Lab values.
    rule
        See `RimRule`.
    first, last
        Rows to do.
    disparity
        (H, W), changed in place.
    """
    width = label_image.shape[1]
    for y in range(first, last):
        edge = width
        for x in range(width - 2, -1, -1):
            own = label_image[y, x]
            if label_image[y, x + 1] != own:
                edge = x + 1
            near = planes[own, 0] * x + planes[own, 1] * y + planes[own, 2]
            for k in range(edge, min(width, x + rule.reach + 1)):
                other = label_image[y, k]
                far = planes[other, 0] * x + planes[other, 1] * y + planes[other, 2]
                if far < near - rule.step:
                    place = x - far
                    if 0 <= place <= width - 1 and not (
                        shown[y, int(place + 0.5)] > far + rule.slack
                    ):
                        to_own, to_far = _differences(
                            x, y, own, other, planes, lab, left, right, shown, alike, rule
                        )
                        if to_far < rule.most and to_far + rule.margin < to_own:
                            disparity[y, x] = far
                    break


# One function, because a call with so many arrays takes longer than what it would do.
@kernel(error_model="numpy")
def _differences(
    x: int,
    y: int,
    own: int,
    other: int,
    planes: Floats,
    lab: NDArray[np.uint8],
    left: View,
    right: View,
    shown: Map,
    alike: Floats,
    rule: RimRule,
) -> tuple[float, float]:
    """Return how unlike the views are on either plane, round a pixel, where it has its colour."""
    height, width = shown.shape
    # Signed, because differences of bytes would wrap round.
    colour = np.int64(lab[0, y, x]), np.int64(lab[1, y, x]), np.int64(lab[2, y, x])
    weight, to_own, to_far = 0.0, 0.0, 0.0
    for v in range(y - rule.radius, y + rule.radius + 1, rule.stride):
        for u in range(x - rule.radius, x + rule.radius + 1, rule.stride):
            if not (0 <= v < height and 0 <= u < width):
                continue
            unlike = abs(lab[0, v, u] - colour[0])
            unlike += abs(lab[1, v, u] - colour[1]) + abs(lab[2, v, u] - colour[2])
            w = alike[unlike]
            weight += w
            for m in range(2):
                i = other if m else own
                d = planes[i, 0] * u + planes[i, 1] * v + planes[i, 2]
                place = u - d
                off = rule.hidden
                if 0 <= place <= width - 1 and not shown[v, int(place + 0.5)] > d + rule.slack:
                    column = int(place)
                    beside, share = min(column + 1, width - 1), place - column
                    grey, slope = right[0, v, column], right[1, v, column]
                    grey_off = grey + share * (right[0, v, beside] - grey) - left[0, v, u]
                    slope_off = slope + share * (right[1, v, beside] - slope) - left[1, v, u]
                    off = rule.grey_share * min(abs(grey_off), rule.grey_cap)
                    off += (1 - rule.grey_share) * min(abs(slope_off), rule.slope_cap)
                if m:
                    to_far += w * off
                else:
                    to_own += w * off
    return to_own / weight, to_far / weight
