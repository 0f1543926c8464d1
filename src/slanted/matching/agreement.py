"""Does a disparity belong to its pair? The right view looks more alike there than beside it.

Maps of other matchers, of networks and of users come without a cost. So the census words of both
views are compared at the disparity and some pixels off it: of a map of another scene neither place
is better than the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from slanted.images.census import census_of_pair, differing_bits

if TYPE_CHECKING:
    from slanted.images import GreyPair
    from slanted.runtime.arrays import DisparityMap

OFFSETS = (-9, -6, 6, 9)
"""Pixels beside the disparity: more than it is off, and less than to the next object."""
ROWS = 128
"""Rows that are compared."""
LEAST_AGREEMENT = 0.62
"""Below this a map does not seem to be of its pair. Good maps of KITTI have 0.75 to 0.91, and the
ground truth of 19 Middlebury scenes 0.74 to 0.98. Maps of other frames have 0.50 to 0.77, because
all frames of KITTI have a road, and three quarters of them less than this; maps of other scenes of
Middlebury 0.49 to 0.72, and mostly less than 0.6 (``benchmarks/dense_input.py``)."""
FEWEST = 0.02
"""Share of comparisons, of all that there could be, without which nothing is said."""


def agreement_of(grey: GreyPair, disparity: DisparityMap) -> float | None:
    """Return how often the views look more alike at a disparity than some pixels beside it.

    It is 0.5 by chance, and 1 where nothing else looks alike. None is for a map that says too
    little, or views without any texture.

    Parameters
    ----------
    grey
        Both views in 8-bit grey.
    disparity
        (H, W) pixels, NaN where unknown.

    Examples
    --------
    >>> from slanted.synthetic import make_scene
    >>> from slanted.images.colour import grey_pair
    >>> scene = make_scene(96, 64, segments=24, seed=2)
    >>> grey = grey_pair(scene.left, scene.right)
    >>> agreement_of(grey, scene.disparity) > 0.8
    True
    >>> agreement_of(grey, scene.disparity[::-1]) < LEAST_AGREEMENT
    True
    """
    rows = slice(None, None, -(-len(disparity) // ROWS))
    census = census_of_pair(grey)
    views, known = (census.left[rows], census.right[rows]), disparity[rows]
    own, better, worse = differing_bits(*views, known), 0, 0
    for offset in OFFSETS:
        other = differing_bits(*views, known + np.float32(offset))
        both = (own >= 0) & (other >= 0)
        better += int(np.count_nonzero(both & (own < other)))
        worse += int(np.count_nonzero(both & (own > other)))
    told = better + worse
    return better / told if told > FEWEST * len(OFFSETS) * known.size else None
