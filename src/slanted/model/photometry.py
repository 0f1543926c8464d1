"""What the images themselves say of a plane: the photometric potential φ_pho, not in the paper.

The paper's data potentials know the images by D(p) alone. Where the matcher gave no match, or a
wrong one, they are silent or wrong, and they are as precise as the matcher, which searched whole
disparities. A plane also says which pixels of the right view a segment looks like; φ_pho sums how
much the two differ. A segment has hundreds of pixels, and its plane is slanted as it is, so this is
block matching with windows that fit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from slanted.model.photometry_kernels import differing_bits
from slanted.model.planes import check_particles
from slanted.model.visibility import SLACK
from slanted.regions.structure import Regions
from slanted.runtime.arrays import Floats
from slanted.runtime.threads import share_rows
from slanted.settings.matching import CENSUS_BITS

if TYPE_CHECKING:
    from slanted.model.observations import Observations

MOST = 28
"""Bits; words that have nothing to do with each other differ by half."""
HIDDEN = 20
"""Bits that a pixel counts which the right view cannot show: more than a good match, less than a
bad one."""
SAMPLED = 4
"""One pixel in so many is looked at: census windows overlap, neighbours tell much the same."""


def photometric_cost(regions: Regions, observations: Observations, particles: Floats) -> Floats:
    """Return φ_pho(y_i) = Σ_{p ∈ S_i} min(h, h_max), (n, N).

    h is the share of bits by which the census word of p differs from that of the right view where
    the plane puts p, between two columns in proportion. Pixels that the plane puts out of the view,
    or behind what the right view shows, cost a constant. One pixel in `SAMPLED` is looked at and
    counts for all of them. It is 0 for observations without census words.

    Parameters
    ----------
    regions
        The segments.
    observations
        Of the same regions, from `observe`.
    particles
        (n, N, 3) α, β, γ about the centres of the segments.
    """
    planes = check_particles(regions, particles)
    return share_rows(
        len(planes), lambda *some: photometric_rows(regions, observations, planes, *some)
    )


def photometric_rows(
    regions: Regions, observations: Observations, planes: Floats, first: int, last: int
) -> Floats:
    """Return φ_pho of the segments `first` … `last` − 1; `planes` are those of all."""
    census, seen = observations.census, observations.unmatched
    if census is None:
        return np.zeros((last - first, planes.shape[1]))
    bits: Floats = differing_bits(
        regions.pixel_start[first : last + 1],
        regions.pixel_order,
        census.left,
        census.right,
        seen.right,
        SLACK,
        float(MOST),
        float(HIDDEN),
        regions.centre[first:last],
        planes[first:last] + np.array([0, 0, seen.lowest]),
    )
    return seen.weight * SAMPLED / CENSUS_BITS * bits
