"""Planes of the frame before, as proposals for the next one of a video.

What stood at a place a moment ago is likely to be near it now, with a plane that the last frame's
neighbours had a say in. Not in the paper, which knows single pairs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from slanted.model.planes import shifted_planes
from slanted.regions.structure import Regions
from slanted.runtime.arrays import Floats, Ints

SAMPLE = 16
"""Pixels of a segment, evenly spaced in raster order, under which planes are looked for."""


@dataclass(frozen=True, eq=False)
class PreviousFrame:
    """The segments of an image and their planes.

    Parameters
    ----------
    label_image
        (H, W) segments.
    centre
        (n, 2) mean pixel of each.
    planes
        (n, 3) α, β, γ about it.
    """

    label_image: Ints
    centre: Floats
    planes: Floats

    def at(self, regions: Regions, count: int, otherwise: Floats) -> Floats:
        """Return (n, count, 3) planes for other segments of images of this size.

        Those that lie under most pixels of each, about its centre; where fewer than `count` do,
        `otherwise` (n, count, 3) fills up.
        """
        found = self._under(regions, count)
        known = found >= 0
        shift = regions.centre[:, None] - self.centre[found]
        planes = shifted_planes(self.planes[found].reshape(-1, 3), shift.reshape(-1, 2))
        return np.where(known[..., None], planes.reshape(*found.shape, 3), otherwise)

    def _under(self, regions: Regions, count: int) -> Ints:
        """Return (n, count) segments of this image under each of the other's, −1 for none."""
        step = np.arange(SAMPLE) * regions.size[:, None] // SAMPLE
        pixel = regions.pixel_order[regions.pixel_start[:-1, None] + step]
        under = np.sort(self.label_image.reshape(-1)[pixel], axis=1)
        first = np.ones(under.shape, np.bool_)
        first[:, 1:] = under[:, 1:] != under[:, :-1]
        place = np.where(first, np.arange(SAMPLE), SAMPLE)
        # A label's run ends where the next one starts.
        end = np.minimum.accumulate(place[:, ::-1], axis=1)[:, ::-1]
        end = np.concatenate([end[:, 1:], np.full((len(under), 1), SAMPLE)], axis=1)
        length = np.where(first, end - np.arange(SAMPLE), 0)
        best = np.argsort(-length, axis=1, kind="stable")[:, :count]
        chosen = np.take_along_axis(under, best, axis=1)
        chosen[np.take_along_axis(length, best, axis=1) == 0] = -1
        return chosen
