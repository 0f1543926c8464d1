"""The fields of a result; importing them loads neither NumPy nor a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from slanted.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from slanted.images import Image
    from slanted.images.census import CensusPair
    from slanted.inference.outcome import Inference
    from slanted.io import Calibration
    from slanted.matching import DisparityRange
    from slanted.matching.rectification import RectificationCheck
    from slanted.regions import Regions
    from slanted.settings import ModelSettings, Settings


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
    confidence: NDArray[np.float32] | None = None
    deviation: NDArray[np.float32] | None = None
    sky: NDArray[np.bool_] | None = None
    doubts: tuple[str, ...] = ()
    finer: float = 1
    coarser: int = 1
    left: Image | None = None
    right: Image | None = None
    calibration: Calibration | None = None

    def __post_init__(self) -> None:
        # Rounded as files round them, so that a result read back equals the one that was saved.
        from slanted.output.pixel_maps import checked_confidence, checked_deviation

        checks = {"confidence": checked_confidence, "deviation": checked_deviation}
        for name, check in checks.items():
            if (values := getattr(self, name)) is not None:
                object.__setattr__(self, name, check(values, self.disparity.shape))

    @property
    def planes(self) -> NDArray[np.float64]:
        """(n, 3) α, β, γ of each segment about its centre (paper, Eq. 1)."""
        return self.inference.planes

    @property
    def labels(self) -> NDArray[np.int32]:
        """(E,) the `slanted.BoundaryLabel` of each boundary in ``regions.edges``."""
        return self.inference.labels

    @property
    def margins(self) -> NDArray[np.float64]:
        """(n,) energy that another plane would cost each segment; see `slanted.inference.pcbp`."""
        return self.inference.margins

    @property
    def valid(self) -> NDArray[np.uint8]:
        """(H, W) the `slanted.PixelFlag` bits of each pixel, as in ``valid.png``."""
        from slanted.output.pixel_maps import pixel_flags

        return pixel_flags(self)

    @property
    def energy(self) -> float:
        """The energy of planes and labels, Σ w φ."""
        return self.inference.features.total(self.model.weights)

    @property
    def model(self) -> ModelSettings:
        """The constants and weights of the energy.

        They are those of the settings, but follow the grid on which they were used.
        """
        from slanted.settings.grid import on_finer_grid

        return on_finer_grid(self.settings, self.finer * self.coarser).model

    @property
    def bound(self) -> float:
        """Proven lower bound on the energy over the last particles (with any labels)."""
        return self.inference.bound

    @property
    def gap(self) -> float:
        """How far the energy can be above the optimum over the last particles, as a share of it."""
        from slanted.inference.outcome import Iteration

        return Iteration(self.energy, self.bound, 0, "", self.regions.count).gap

    @property
    def gap_above_floor(self) -> float:
        """The gap as a share of what lies above the floor, below which no search can get.

        The *floor* is what the potentials cost if each is minimised alone. Most of an energy lies
        below it, so that `gap` looks small whatever the search did. NaN if the floor is not known.
        """
        from math import isnan

        from slanted.inference.outcome import ROUNDING

        energy, floor = self.energy, self.inference.floor
        # Both bounds allow for rounding, so that they may lie below an energy of zero.
        closed = energy <= self.bound + ROUNDING and not isnan(floor)
        return 0.0 if closed else (energy - self.bound) / (energy - floor)

    def doubted(self, min_confidence: float) -> NDArray[np.bool_] | None:
        """Return the (H, W) mask of pixels below a confidence; None if that is 0.

        Raises
        ------
        InputError
            If the threshold is not from 0 to 1, or the result has no confidence.
        """
        if not 0 <= min_confidence <= 1:
            raise InputError(f"min_confidence: expected a number from 0 to 1, got {min_confidence}")
        if min_confidence == 0:
            return None
        if self.confidence is None:
            raise InputError(
                "min_confidence: expected a result with a confidence, got one that has none; run "
                "it again with a model of confidence, or leave out the threshold"
            )
        return self.confidence < min_confidence

    def left_out(self, min_confidence: float) -> NDArray[np.bool_] | None:
        """Return the (H, W) mask of pixels without a place in space: doubted ones and the sky.

        None if there are none; `doubted` has the errors.
        """
        doubted = self.doubted(min_confidence)
        if self.sky is None or not self.sky.any():
            return doubted
        return self.sky if doubted is None else self.sky | doubted

    def trusted_disparity(self, min_confidence: float | None = None) -> NDArray[np.float32]:
        """Return the disparity with NaN at pixels whose confidence is too low.

        Parameters
        ----------
        min_confidence
            The lowest confidence to keep, from 0 to 1; by default the setting ``confidence.min``.

        Raises
        ------
        InputError
            As for `doubted`.

        Examples
        --------
        >>> import dataclasses
        >>> import numpy as np
        >>> import slanted
        >>> from slanted.synthetic import make_scene
        >>> scene = make_scene(96, 64, segments=40, seed=1)
        >>> result = slanted.estimate(scene.left, scene.right)
        >>> doubtful = np.ones((64, 96), np.float32)
        >>> doubtful[0, 0] = 0.2
        >>> result = dataclasses.replace(result, confidence=doubtful)
        >>> bool(np.isnan(result.trusted_disparity(0.9))[0, 0])
        True
        """
        return self._disparity_outside(self.doubted(self.least_confidence(min_confidence)))

    def solid_disparity(self, min_confidence: float | None = None) -> NDArray[np.float32]:
        """Return the disparity of what has a depth: as `trusted_disparity`, and NaN in the sky.

        Examples
        --------
        >>> import dataclasses
        >>> import numpy as np
        >>> import slanted
        >>> from slanted.synthetic import make_scene
        >>> scene = make_scene(96, 64, segments=40, seed=1)
        >>> result = slanted.estimate(scene.left, scene.right)
        >>> sky = np.zeros((64, 96), bool)
        >>> sky[0] = True
        >>> result = dataclasses.replace(result, sky=sky)
        >>> int(np.isnan(result.solid_disparity()).sum())
        96
        """
        return self._disparity_outside(self.left_out(self.least_confidence(min_confidence)))

    def least_confidence(self, min_confidence: float | None) -> float:
        """Return a threshold or, if it is None, the setting ``confidence.min``."""
        return self.settings.confidence.min if min_confidence is None else min_confidence

    def _disparity_outside(self, mask: NDArray[np.bool_] | None) -> NDArray[np.float32]:
        import numpy as np

        if mask is None:
            return self.disparity
        return np.where(mask, np.float32(np.nan), self.disparity)
