"""Numba kernels that decide whether pixels at a rim belong to the farther plane on their right."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from slanted.runtime.arrays import Bytes, DisparityMap, Floats, Ints
from slanted.runtime.kernel import kernel

View = NDArray[np.int16]
"""(2, H, W) grey values, and their slopes: the next column minus the previous one."""


class RimRule(NamedTuple):
    """What a rim is and when a pixel leaves it; see `slanted.refinement.rim`."""

    reach: int
    """Number of columns to the right in which a farther segment is sought."""
    step: float
    """Least difference of the two planes, in pixels of disparity."""
    slack: float
    """How much nearer, in pixels of disparity, something must be to hide a pixel."""
    radius: int
    """Radius of the window, in pixels."""
    stride: int
    """Distance of the sampled pixels of the window, in pixels."""
    grey_cap: float
    """Largest grey difference that counts."""
    slope_cap: float
    """Largest difference of slopes that counts."""
    grey_share: float
    """Weight of the grey difference; that of the slope is the rest to 1."""
    hidden: float
    """Difference of a pixel that is out of view or hidden."""
    most: float
    """Mean difference at or above which the farther plane is rejected."""
    margin: float
    """How much lower the farther plane's mean difference must be than the near one's."""


@kernel
def redecide_rows(
    label_image: Ints,
    planes: Floats,
    lab: Bytes,
    left: View,
    right: View,
    shown: DisparityMap,
    alike: Floats,
    rule: RimRule,
    first: int,
    last: int,
    disparity: DisparityMap,
) -> None:
    """Write the farther plane's disparity into the pixels of rims that resemble that plane.

    Parameters
    ----------
    label_image
        (H, W) segments.
    planes
        (n, 3) disparity a x + b y + c of each segment.
    lab
        (3, H, W) Lab planes of the left image.
    left, right
        Both views.
    shown
        (H, W) disparity of the planes seen from the right view, NaN where unknown.
    alike
        (766,) weight of a pixel of the window, by the sum of absolute differences of Lab values.
    rule
        The rule of rims.
    first, last
        Rows to do.
    disparity
        (H, W), changed in place.
    """
    width = label_image.shape[1]
    for y in range(first, last):
        edge = width
        for x in range(width - 2, -1, -1):
            segment = label_image[y, x]
            if label_image[y, x + 1] != segment:
                edge = x + 1
            near = planes[segment, 0] * x + planes[segment, 1] * y + planes[segment, 2]
            for k in range(edge, min(width, x + rule.reach + 1)):
                other = label_image[y, k]
                far = planes[other, 0] * x + planes[other, 1] * y + planes[other, 2]
                if far < near - rule.step:
                    place = x - far
                    if 0 <= place <= width - 1 and not (
                        shown[y, int(place + 0.5)] > far + rule.slack
                    ):
                        to_near, to_far = _differences(
                            x, y, segment, other, planes, lab, left, right, shown, alike, rule
                        )
                        if to_far < rule.most and to_far + rule.margin < to_near:
                            disparity[y, x] = far
                    break


# One function for both planes, because a call with so many arrays takes longer than its work.
@kernel
def _differences(
    x: int,
    y: int,
    segment: int,
    other: int,
    planes: Floats,
    lab: Bytes,
    left: View,
    right: View,
    shown: DisparityMap,
    alike: Floats,
    rule: RimRule,
) -> tuple[float, float]:
    """Return the mean difference of the views on either plane, over pixels of similar colour."""
    height, width = shown.shape
    # Signed, because differences of bytes would wrap around.
    colour = np.int64(lab[0, y, x]), np.int64(lab[1, y, x]), np.int64(lab[2, y, x])
    weight, to_near, to_far = 0.0, 0.0, 0.0
    for v in range(y - rule.radius, y + rule.radius + 1, rule.stride):
        for u in range(x - rule.radius, x + rule.radius + 1, rule.stride):
            if not (0 <= v < height and 0 <= u < width):
                continue
            unlike = abs(lab[0, v, u] - colour[0])
            unlike += abs(lab[1, v, u] - colour[1]) + abs(lab[2, v, u] - colour[2])
            w = alike[unlike]
            weight += w
            row, own = np.uint64(v), np.uint64(u)
            for m in range(2):
                i = other if m else segment
                d = planes[i, 0] * u + planes[i, 1] * v + planes[i, 2]
                place = u - d
                # Without branches, which processors would guess wrong here, and with unsigned
                # indices, which Numba need not test for negative ones.
                kept = place if place > 0 else 0.0
                kept = kept if kept < width - 1 else width - 1.0
                column = np.int64(kept)
                here, beside = np.uint64(column), np.uint64(min(column + 1, width - 1))
                share = kept - column
                grey, slope = right[0, row, here], right[1, row, here]
                grey_off = grey + share * (right[0, row, beside] - grey) - left[0, row, own]
                slope_off = slope + share * (right[1, row, beside] - slope) - left[1, row, own]
                off = rule.grey_share * min(abs(grey_off), rule.grey_cap)
                off += (1 - rule.grey_share) * min(abs(slope_off), rule.slope_cap)
                nearer = shown[row, np.uint64(kept + 0.5)] > d + rule.slack
                off = rule.hidden if nearer or kept != place else off
                if m:
                    to_far += w * off
                else:
                    to_near += w * off
    return to_near / weight, to_far / weight
