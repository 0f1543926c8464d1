"""Following dense matches: where the disparity is the matches' own, and where that of planes.

A plane smooths the noise of a matcher, but a network's map has little, and knows the shape of what
is round or thin better than planes do. Near its plane the map is kept as it is. Where it is farther
off, either may be wrong, and the right view decides, once for each segment: the census words at the
map's disparities and at the plane's are compared with the left view's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from slanted.images.census import differing_bits

if TYPE_CHECKING:
    from slanted.images.census import CensusPair
    from slanted.regions.structure import Regions
    from slanted.runtime.arrays import DisparityMap, Flags

BETTER = 1.0
"""Bits of a census word by which the map must be better than the plane, on average."""


def follow_matches(
    planes: DisparityMap,
    matched: DisparityMap,
    regions: Regions,
    census: CensusPair,
    near: float,
) -> DisparityMap:
    """Return the disparity of planes, with that of matches where these are to be followed.

    Parameters
    ----------
    planes, matched
        (H, W) disparity of planes, and of matches, NaN where there is none.
    regions
        The segments of the planes.
    census
        Census words of both views.
    near
        Matches up to this far from their plane, in pixels, are followed as they are.
    """
    away = np.abs(matched - planes)
    is_off = away > np.float32(near)
    follows = away <= np.float32(near)
    if is_off.any():
        better = _better(planes, matched, regions, census, is_off)
        follows |= is_off & better[regions.label_image]
    return np.where(follows, matched, planes)


def _better(
    planes: DisparityMap,
    matched: DisparityMap,
    regions: Regions,
    census: CensusPair,
    is_off: Flags,
) -> Flags:
    """Return the segments whose matches, where they are off, look better than the plane."""
    rows = np.flatnonzero(is_off.any(axis=1))
    part = slice(rows[0], rows[-1] + 1)
    views = census.left[part], census.right[part]
    of_planes, of_matches = (differing_bits(*views, each[part]) for each in (planes, matched))
    told = is_off[part] & (of_planes >= 0) & (of_matches >= 0)
    segments = regions.label_image[part][told]
    gain = (of_planes[told] - of_matches[told]).astype(np.float64)
    total = np.bincount(segments, gain, minlength=regions.count)
    count = np.bincount(segments, minlength=regions.count)
    return total > BETTER * count
