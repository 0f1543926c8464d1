"""What a run gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from slanted.matching import DisparityRange
    from slanted.matching.rectification import RectificationCheck
    from slanted.regions import Regions
    from slanted.settings import Settings


@dataclass(frozen=True)
class Result:
    """The outcome of `slanted.estimate` for one pair.

    Parameters
    ----------
    disparity
        Dense disparity of the left image, float32 pixels, no NaN.
    matched
        The initial disparity D(p) of the matcher, NaN outside F (paper §3.1).
    regions
        The segments S_i, their boundaries B_ij and junctions (paper §3).
    settings
        The settings that made it.
    seconds
        Wall time of each stage, in the order they ran.
    searched
        The disparities that were searched; None if the initial disparity was given.
    rectification
        What the check of the pair found; None if it was off or said nothing.
    """

    disparity: NDArray[np.float32]
    matched: NDArray[np.float32]
    regions: Regions
    settings: Settings
    seconds: dict[str, float]
    searched: DisparityRange | None = None
    rectification: RectificationCheck | None = None
