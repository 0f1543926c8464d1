"""The visibility potential φ_vis of pixels without a match, which is not in the paper.

A pixel may have no match because something hides it from the right view. If the right view shows
something *farther* than the plane at the position where the plane puts the pixel, then the plane
would be visible there, and it is not. Every such pixel costs 1. A plane that passes behind what the
right view shows, or leaves the view, costs nothing. This keeps foreground planes out of the
half-occluded strip beside an object, where the paper's data potentials are zero, and needs only
D(p).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from slanted.model.planes import check_particles
from slanted.model.view_kernels import contradictions, project_matches
from slanted.regions.structure import Regions
from slanted.runtime.arrays import DisparityMap, Floats, Ints, Starts
from slanted.runtime.threads import bind, share, share_rows

if TYPE_CHECKING:
    from slanted.model.observations import Observations

SLACK = 1.5
"""Tolerance in pixels of disparity: matches and the right view are rounded to whole pixels."""


@dataclass(frozen=True, eq=False)
class Unmatched:
    """The pixels outside F of each segment, and what the right view shows."""

    start: Starts
    """(n + 1,) where each segment starts in `pixels`."""
    pixels: Ints
    """Flat indices of the pixels of S_i without a match."""
    right_disparity: DisparityMap
    """(H, W) D(p) seen from the right view, NaN where unknown."""
    lowest: float
    """Disparity, in pixels of the images, of the model's disparity 0."""
    weight: float
    """Factor of each pixel in φ_vis and φ_pho, as `Matches.weight` is in the data potentials."""


def right_view(disparity: DisparityMap) -> DisparityMap:
    """Return D(p) seen from the right view, (H, W), NaN where unknown."""
    right_disparity = np.empty(disparity.shape, np.float32)
    inputs = (np.asarray(disparity, np.float32),)
    share(len(right_disparity), bind(project_matches, inputs, right_disparity))
    return right_disparity


def visibility_cost(regions: Regions, observations: Observations, particles: Floats) -> Floats:
    """Return φ_vis(y_i), (n, N): the number of pixels of S_i outside F that should have a match.

    Arguments are as for `slanted.model.potentials.disparity_cost`.
    """
    planes = check_particles(regions, particles)
    return share_rows(
        len(planes), lambda *some: visibility_rows(regions, observations, planes, *some)
    )


def visibility_rows(
    regions: Regions, observations: Observations, planes: Floats, first: int, last: int
) -> Floats:
    """Return φ_vis of the segments `first` … `last` − 1; `planes` are those of all segments."""
    unmatched = observations.unmatched
    counts: Floats = contradictions(
        unmatched.start[first : last + 1],
        unmatched.pixels,
        unmatched.right_disparity,
        SLACK,
        regions.centre[first:last],
        planes[first:last] + np.array([0, 0, unmatched.lowest]),
    )
    return unmatched.weight * counts
