"""The photometric potential φ_pho, which compares the images and is not in the paper.

The paper's data potentials use the images only through D(p). Where the matcher found no match, or a
wrong one, they are zero or wrong, and they are no more precise than the matcher. But a plane also
puts every pixel of a segment somewhere in the right view, and φ_pho sums how much the two views
differ there. This is block matching with windows of hundreds of pixels that follow the slant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from slanted.model.planes import check_particles
from slanted.model.view_kernels import differing_bits
from slanted.model.visibility import SLACK
from slanted.regions.structure import Regions
from slanted.runtime.arrays import Floats
from slanted.runtime.threads import share_rows
from slanted.settings.matching import CENSUS_BITS

if TYPE_CHECKING:
    from slanted.model.observations import Observations

MOST = 28
"""Largest number of differing bits that counts; unrelated words differ in about half of theirs."""
HIDDEN = 20
"""Bits that a hidden pixel counts: more than a good match, less than a bad one."""
SAMPLED = 4
"""One pixel in so many is visited: census windows overlap, so neighbours carry little news."""


def photometric_cost(regions: Regions, observations: Observations, particles: Floats) -> Floats:
    """Return φ_pho(y_i) = Σ_{p ∈ S_i} min(h, h_max), (n, N).

    h is the share of bits in which the census word of p differs from that of the right view at the
    position where the plane puts p, interpolated between two columns. Pixels that the plane puts
    outside the view, or behind what the right view shows, cost a constant. One pixel in `SAMPLED`
    is visited and counts for all of them. Without census words φ_pho is 0.

    Arguments are as for `slanted.model.potentials.disparity_cost`.
    """
    planes = check_particles(regions, particles)
    return share_rows(
        len(planes), lambda *some: photometric_rows(regions, observations, planes, *some)
    )


def photometric_rows(
    regions: Regions, observations: Observations, planes: Floats, first: int, last: int
) -> Floats:
    """Return φ_pho of the segments `first` … `last` − 1; `planes` are those of all segments."""
    census, unmatched = observations.census, observations.unmatched
    if census is None:
        return np.zeros((last - first, planes.shape[1]))
    bits: Floats = differing_bits(
        regions.pixel_start[first : last + 1],
        regions.pixel_order,
        census.left,
        census.right,
        unmatched.right_disparity,
        SLACK,
        float(MOST),
        float(HIDDEN),
        regions.centre[first:last],
        planes[first:last] + np.array([0, 0, unmatched.lowest]),
    )
    return unmatched.weight * SAMPLED / CENSUS_BITS * bits
