"""What pixels without a match tell: the visibility potential φ_vis, which the paper does not have.

A pixel may be without a match because something hides it from the right view. If its plane
says otherwise, that is if the right view shows, at the place where the plane puts the pixel,
something *farther* than the plane, then the plane would be seen there, in front, and is not. Every
such pixel costs 1. A plane that passes behind what the right view shows, or that leaves the view,
costs nothing. This keeps foreground planes out of the half-occluded strip beside an object, where
the paper's data potentials are silent, and needs nothing but D(p) itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from slanted.model.planes import check_particles
from slanted.model.visibility_kernels import contradictions, project_matches
from slanted.regions.structure import Regions
from slanted.runtime.arrays import Floats, Ints, Starts
from slanted.runtime.threads import bind, share, share_rows

if TYPE_CHECKING:
    from slanted.model.observations import Observations

SLACK = 1.5
"""Pixels; matches are whole pixels apart and the right view is rounded to them."""


@dataclass(frozen=True, eq=False)
class Unmatched:
    """The pixels outside F in each segment, and what the right view shows."""

    start: Starts
    """(n + 1,) share of each segment in `pixels`."""
    pixels: Ints
    """Flat indices of the pixels of S_i without a match."""
    right: NDArray[np.float32]
    """(H, W) disparity of the right view, NaN where unknown."""
    lowest: float
    """What is to be added to the model's disparities to have those of the images."""
    weight: float
    """By which a pixel counts in φ_vis and φ_pho, as matches do by theirs."""


def right_view(disparity: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the matches as the right view sees them, (H, W), NaN where it knows none."""
    right = np.empty(disparity.shape, np.float32)
    share(len(right), bind(project_matches, (np.asarray(disparity, np.float32),), right))
    return right


def visibility_cost(regions: Regions, observations: Observations, particles: Floats) -> Floats:
    """Return φ_vis(y_i), (n, N): pixels of S_i outside F that should be seen twice and are not.

    Parameters
    ----------
    regions
        The segments.
    observations
        Their matches, from `observe`.
    particles
        (n, N, 3) α, β, γ about the centres of the segments.
    """
    planes = check_particles(regions, particles)
    return share_rows(
        len(planes), lambda *some: visibility_rows(regions, observations, planes, *some)
    )


def visibility_rows(
    regions: Regions, observations: Observations, planes: Floats, first: int, last: int
) -> Floats:
    """Return φ_vis of the segments `first` … `last` − 1; `planes` are those of all."""
    unmatched = observations.unmatched
    counts: Floats = contradictions(
        unmatched.start[first : last + 1],
        unmatched.pixels,
        unmatched.right,
        SLACK,
        regions.centre[first:last],
        planes[first:last] + np.array([0, 0, unmatched.lowest]),
    )
    return unmatched.weight * counts
