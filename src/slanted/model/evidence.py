"""The evidence of a pair: all that inference sees of the images, whatever the segments are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from slanted.errors import InputError

if TYPE_CHECKING:
    from slanted.images import GreyPair, Image
    from slanted.images.census import CensusPair
    from slanted.model.user_potential import Potential


@dataclass(frozen=True, eq=False)
class Evidence:
    """What a pair of images says about its scene.

    Parameters
    ----------
    disparity
        (H, W) the initial disparity D(p), NaN outside F (paper §3.1).
    pixel_weights
        (H, W) ≥ 0, how much each match counts in φ_seg and φ_bdy1; None is the paper's 1.
    left
        The left image. Refinement compares its colours; inference does not need it.
    grey
        Both views in 8-bit grey. Refinement looks at them at rims, tiles make census words of them.
    census
        Census words of both views for φ_pho, which is 0 without them.
    right_disparity
        (H, W) D(p) as the right view sees it, from `slanted.model.visibility.right_view`; if None
        it is computed where it is needed.
    potential
        The user's potential, φ_user; see `slanted.model.user_potential`.
    """

    disparity: NDArray[np.float32]
    pixel_weights: NDArray[np.float32] | None = None
    left: Image | None = None
    grey: GreyPair | None = None
    census: CensusPair | None = None
    right_disparity: NDArray[np.float32] | None = None
    potential: Potential | None = None

    def lab(self) -> NDArray[np.uint8]:
        """Return the (3, H, W) 8-bit Lab planes of the left image."""
        from slanted.images.colour import lab_planes

        if self.left is None:
            raise InputError("evidence: expected the left image, got none; refinement needs it")
        return lab_planes(self.left)

    def seen_from_right(self) -> NDArray[np.float32]:
        """Return D(p) as the right view sees it."""
        from slanted.model.visibility import right_view

        if self.right_disparity is not None:
            return self.right_disparity
        return right_view(np.asarray(self.disparity, np.float32))
