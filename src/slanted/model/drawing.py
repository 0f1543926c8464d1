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


def hidden_pixels(disparity: DisparityMap) -> Flags:
    """Return the (H, W) mask of pixels of the left view that the right view does not show."""
    hidden = np.empty(disparity.shape, np.bool_)
    share(len(hidden), bind(find_hidden, (disparity,), hidden))
    return hidden
