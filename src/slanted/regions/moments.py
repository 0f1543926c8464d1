"""Centres and covariances of sets of pixels.

The mean of a squared affine function over a set Q, as in the hinge and coplanar costs (paper,
Section 3.1), needs no more of Q: it is the square at the centre plus gᵀ Cov(Q) g for the slope g.
"""

from __future__ import annotations

import numpy as np

from slanted.regions.pixel_kernels import coordinate_sums
from slanted.runtime.arrays import Floats, Ints, Starts


def set_moments(pixels: Ints, start: Starts, width: int) -> tuple[Floats, Floats]:
    """Return the centres (u, v) and covariances (uu, uv, vv) of sets of pixels.

    Parameters
    ----------
    pixels
        Flat indices, set by set, ascending inside a set.
    start
        (sets + 1,) share of each set; none is empty.
    width
        Of the image.
    """
    origin, sums = coordinate_sums(pixels, start, width)
    means = sums / np.diff(start)[:, None]
    shift = means[:, :2]
    return origin + shift, means[:, 2:] - _products(shift)


def union_moments(
    size: Starts, centre: Floats, covariance: Floats, edges: Ints
) -> tuple[Floats, Floats]:
    """Return the centres and covariances of S_i ∪ S_j, from those of the segments.

    The parallel-axis rule: shares of the two covariances, plus the spread of the two centres.
    """
    first, second = edges[:, 0], edges[:, 1]
    share = (size[second] / (size[first] + size[second]))[:, None]
    apart = centre[second] - centre[first]
    mixed = (1 - share) * covariance[first] + share * covariance[second]
    return centre[first] + share * apart, mixed + share * (1 - share) * _products(apart)


def _products(vectors: Floats) -> Floats:
    u, v = vectors[:, 0], vectors[:, 1]
    return np.stack([u * u, u * v, v * v], axis=1)
