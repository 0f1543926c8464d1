"""The fields of a result; importing them loads neither NumPy nor a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from slanted.images.census import CensusPair
    from slanted.inference.outcome import Inference
    from slanted.matching import DisparityRange
    from slanted.matching.rectification import RectificationCheck
    from slanted.regions import Regions
    from slanted.settings import Settings


@dataclass(frozen=True, eq=False)
class ResultData:
    """The fields of a `slanted.Result`, which describes them, and what follows from them."""

    disparity: NDArray[np.float32]
    matched: NDArray[np.float32]
    occluded: NDArray[np.bool_]
    regions: Regions
    inference: Inference
    settings: Settings
    seconds: dict[str, float]
    searched: DisparityRange | None = None
    rectification: RectificationCheck | None = None
    pixel_weights: NDArray[np.float32] | None = None
    census: CensusPair | None = None

    @property
    def planes(self) -> NDArray[np.float64]:
        """(n, 3) α, β, γ of each segment about its centre (paper, Eq. 1)."""
        return self.inference.planes

    @property
    def labels(self) -> NDArray[np.int32]:
        """(E,) the `slanted.BoundaryLabel` of each boundary in ``regions.edges``."""
        return self.inference.labels

    @property
    def confidence(self) -> NDArray[np.float64]:
        """(n,) what another plane would cost each segment; see `slanted.inference.pcbp`."""
        return self.inference.confidence

    @property
    def energy(self) -> float:
        """The energy of planes and labels, Σ w φ."""
        return self.inference.features.total(self.settings.model.weights)

    @property
    def bound(self) -> float:
        """Proven lower bound on the energy over the last particles (with any labels)."""
        return self.inference.bound

    @property
    def gap(self) -> float:
        """How far the energy can be above the optimum over the last particles, as a share of it."""
        from slanted.inference.outcome import Iteration

        return Iteration(self.energy, self.bound, 0, "", self.regions.count).gap
