"""Planes of the previous frame of a video, as particles for the next frame.

Surfaces move little between frames. Not in the paper, which has single pairs only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from slanted.model.planes import shifted_planes
from slanted.regions.structure import Regions
from slanted.runtime.arrays import Floats, Ints

SAMPLE = 16
"""Number of pixels per segment, evenly spaced in raster order, that look up a plane."""


@dataclass(frozen=True, eq=False)
class PreviousFrame:
    """The segments of an image and their planes."""

    label_image: Ints
    """(H, W) segment of each pixel."""
    centre: Floats
    """(n, 2) mean pixel coordinate of each segment."""
    planes: Floats
    """(n, 3) α, β, γ about the centres."""
    margins: Floats | None = None
    """(n,) what another plane would have cost more; see `slanted.inference.outcome.Inference`."""

    def at(self, regions: Regions, count: int, otherwise: Floats) -> Floats:
        """Return (n, count, 3) planes for the segments of another image of this size.

        These are the planes under most pixels of each segment, about its centre; if there are fewer
        than `count`, `otherwise` (n, count, 3) supplies the rest.
        """
        return self.planes_at(regions, self.under(regions, count), otherwise)

    def planes_at(self, regions: Regions, found: Ints, otherwise: Floats) -> Floats:
        """Return the planes of the segments that `under` found, as `at` does."""
        known = found >= 0
        shift = regions.centre[:, None] - self.centre[found]
        planes = shifted_planes(self.planes[found].reshape(-1, 3), shift.reshape(-1, 2))
        return np.where(known[..., None], planes.reshape(*found.shape, 3), otherwise)

    def under(self, regions: Regions, count: int) -> Ints:
        """Return (n, count) segments of this image under each of the other image's, or −1.

        The first is under most of its pixels, and always known.
        """
        step = np.arange(SAMPLE) * regions.size[:, None] // SAMPLE
        pixel = regions.pixel_order[regions.pixel_start[:-1, None] + step]
        under = np.sort(self.label_image.reshape(-1)[pixel], axis=1)
        first = np.ones(under.shape, np.bool_)
        first[:, 1:] = under[:, 1:] != under[:, :-1]
        place = np.where(first, np.arange(SAMPLE), SAMPLE)
        # The run of a segment ends where the next one starts.
        end = np.minimum.accumulate(place[:, ::-1], axis=1)[:, ::-1]
        end = np.concatenate([end[:, 1:], np.full((len(under), 1), SAMPLE)], axis=1)
        length = np.where(first, end - np.arange(SAMPLE), 0)
        best = np.argsort(-length, axis=1, kind="stable")[:, :count]
        chosen = np.take_along_axis(under, best, axis=1)
        chosen[np.take_along_axis(length, best, axis=1) == 0] = -1
        return chosen
