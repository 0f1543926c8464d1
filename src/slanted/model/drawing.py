"""Drawing planes as disparity maps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from slanted.model.planes import lowest_disparity
from slanted.model.view_kernels import draw_rows, find_hidden
from slanted.regions.structure import Regions
from slanted.runtime.arrays import DisparityMap, Flags, Floats, Ints
from slanted.runtime.threads import bind, share

if TYPE_CHECKING:
    from slanted.matching import DisparityRange
    from slanted.settings import Settings

PIXELS_AT_A_TIME = 2**20
"""Pixels worked on at a time, to save memory in large images."""
SLOPES = 1 / 6
"""Share of `strip_step` up to which a plane may recede in the strip: that is how it slopes. Without
it errors above 2 px on Middlebury's test scenes are 5.90 % instead of 5.77 %."""


def draw_disparity(
    regions: Regions, planes: Floats, lowest: float = 0.0, highest: float = np.inf
) -> DisparityMap:
    """Return the (H, W) disparity of every pixel on the plane of its segment (paper, Eq. 1).

    Disparities are clipped to `lowest` … `highest`.
    """
    disparity = draw_planes(regions.label_image, regions.centre, planes)
    return np.clip(disparity, np.float32(lowest), np.float32(highest), out=disparity)


def draw_planes(label_image: Ints, centre: Floats, planes: Floats) -> DisparityMap:
    """Return the (H, W) disparity of segments with planes (n, 3) about centres (n, 2)."""
    disparity = np.empty(label_image.shape, np.float32)
    share(len(label_image), bind(draw_rows, (label_image, centre, planes), disparity))
    return disparity


def drawn_range(
    settings: Settings, searched: DisparityRange | None, matched: DisparityMap
) -> tuple[float, float]:
    """Return the range of a result's disparities: that searched, or up to the largest given."""
    highest = float(np.nanmax(matched)) if searched is None else float(searched.high)
    return lowest_disparity(settings), highest


def draw_result(
    regions: Regions,
    planes: Floats,
    settings: Settings,
    searched: DisparityRange | None,
    matched: DisparityMap,
) -> DisparityMap:
    """Return the (H, W) disparity of a result: its planes, in their range, with `continue_rows`."""
    disparity = draw_disparity(regions, planes, *drawn_range(settings, searched, matched))
    height, width = disparity.shape
    rows = max(1, PIXELS_AT_A_TIME // width)
    for block in (slice(first, first + rows) for first in range(0, height, rows)):
        continue_rows(disparity[block], matched[block], settings.model.strip_step * width)
    return disparity


def continue_rows(disparity: DisparityMap, matched: DisparityMap, step: float) -> None:
    """Continue what reaches the strip at the left that the right view does not see, in place.

    In the strip no match tells how planes go on, and they seem to recede from the camera more often
    than they do. A pixel of it gets the disparity of its row's first match that the right view
    shows, if it lies behind that by more than a slope, and less than `step` pixels, as another
    surface does.
    """
    columns = np.arange(disparity.shape[1], dtype=np.float32)
    is_seen = np.isfinite(matched) & (columns >= disparity)
    first = is_seen.argmax(axis=1)
    reached = np.where(is_seen.any(axis=1), disparity[np.arange(len(first)), first], -np.inf)
    ends = np.minimum(first, reached)[:, np.newaxis]
    last = max(0, int(np.ceil(ends.max(initial=0))))
    strip, reached = disparity[:, :last], reached.astype(np.float32)[:, np.newaxis]
    behind = reached - strip
    is_lifted = (columns[:last] < ends) & (behind > np.float32(SLOPES * step))
    is_lifted &= behind < np.float32(step)
    np.copyto(strip, reached, where=is_lifted)


def hidden_pixels(disparity: DisparityMap) -> Flags:
    """Return the (H, W) mask of pixels of the left view that the right view does not show."""
    hidden = np.empty(disparity.shape, np.bool_)
    share(len(hidden), bind(find_hidden, (disparity,), hidden))
    return hidden
