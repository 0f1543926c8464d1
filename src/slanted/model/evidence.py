"""The evidence of a pair: everything that inference uses of the images."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from slanted.errors import InputError

if TYPE_CHECKING:
    from slanted.images import GreyPair, Image
    from slanted.images.census import CensusPair
    from slanted.model.user_potential import Potential
    from slanted.runtime.arrays import Bytes, DisparityMap, Flags


@dataclass(frozen=True, eq=False)
class Judgement:
    """The matcher's first choices, and how likely each is wrong, as learned trees say."""

    disparity: DisparityMap
    """(H, W) pixels, known everywhere."""
    kept: DisparityMap
    """(H, W) those that pass the matcher's filters, NaN elsewhere."""
    doubt: DisparityMap
    """(H, W) the probability that the first choice is wrong."""
    agrees: Flags
    """(H, W) whether the first choice passes the left-right check."""
    margin: DisparityMap
    """(H, W) the matcher's own confidence in it."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """What a pair of images says about its scene."""

    disparity: DisparityMap
    """(H, W) the initial disparity D(p), NaN outside F (paper §3.1)."""
    pixel_weights: DisparityMap | None = None
    """(H, W) ≥ 0, the factor of each match in φ_seg and φ_bdy1; None is the paper's 1."""
    left: Image | None = None
    """The left image, whose colours refinement compares; inference does not need it."""
    grey: GreyPair | None = None
    """Both views in 8-bit grey, for the rims of refinement and the census words of tiles."""
    census: CensusPair | None = None
    """Census words of both views for φ_pho, which is 0 without them."""
    right_disparity: DisparityMap | None = None
    lab_planes: Bytes | None = None
    """What `seen_from_right` and `lab` return; if None, they compute it."""
    potential: Potential | None = None
    """The user's potential φ_user; see `slanted.model.user_potential`."""
    judgement: Judgement | None = None
    """What the matches were chosen by; None if they are the matcher's or the user's own."""

    def lab(self) -> Bytes:
        """Return the (3, H, W) 8-bit Lab planes of the left image."""
        from slanted.images.colour import lab_planes

        if self.lab_planes is not None:
            return self.lab_planes
        if self.left is None:
            raise InputError("evidence: expected the left image, got none; refinement needs it")
        return lab_planes(self.left)

    def seen_from_right(self) -> DisparityMap:
        """Return D(p) seen from the right view, (H, W), NaN where unknown."""
        from slanted.model.visibility import right_view

        if self.right_disparity is not None:
            return self.right_disparity
        return right_view(np.asarray(self.disparity, np.float32))
