"""From planes back to pixels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from slanted.model.drawing_kernels import draw_rows, find_hidden
from slanted.model.planes import lowest_disparity
from slanted.regions.structure import Regions
from slanted.runtime.arrays import Floats, Ints
from slanted.runtime.threads import bind, share

if TYPE_CHECKING:
    from slanted.matching import DisparityRange
    from slanted.settings import Settings


def draw_disparity(
    regions: Regions, planes: Floats, lowest: float = 0.0, highest: float = np.inf
) -> NDArray[np.float32]:
    """Return (H, W) disparity of every pixel on the plane of its segment (paper, Eq. 1).

    Where a plane leaves `lowest` … `highest`, behind infinity or nearer than was searched, the
    pixel gets the end of the range.
    """
    disparity = draw_planes(regions.label_image, regions.centre, planes)
    return np.clip(disparity, np.float32(lowest), np.float32(highest), out=disparity)


def draw_planes(label_image: Ints, centre: Floats, planes: Floats) -> NDArray[np.float32]:
    """Return (H, W) disparity of planes about some centres, (n, 3) and (n, 2), in (H, W) labels."""
    disparity = np.empty(label_image.shape, np.float32)
    share(len(label_image), bind(draw_rows, (label_image, centre, planes), disparity))
    return disparity


def drawn_range(
    settings: Settings, searched: DisparityRange | None, matched: NDArray[np.float32]
) -> tuple[float, float]:
    """Return the disparities that a result may have: those searched, or up to the largest given."""
    highest = float(np.nanmax(matched)) if searched is None else float(searched.high)
    return lowest_disparity(settings), highest


def hidden_pixels(disparity: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Return (H, W), which pixels of the left view the right one does not show."""
    hidden = np.empty(disparity.shape, np.bool_)
    share(len(hidden), bind(find_hidden, (disparity,), hidden))
    return hidden
