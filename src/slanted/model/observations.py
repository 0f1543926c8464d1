"""What the model knows of the images besides their segments: the matches D(p) on F."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slanted.errors import InputError
from slanted.images.census import CensusPair
from slanted.images.checks import as_disparity_map
from slanted.model.data_kernels import gather_matches
from slanted.model.evidence import Evidence
from slanted.model.user_potential import Potential
from slanted.model.visibility import Unmatched, right_view
from slanted.model.visibility_kernels import gather_unmatched
from slanted.regions.structure import Regions
from slanted.runtime.arrays import Floats, Ints, Starts
from slanted.runtime.threads import together


@dataclass(frozen=True, eq=False)
class Matches:
    """The pixels of F in each of many sets, one set after the other."""

    start: Starts
    """(sets + 1,) share of each set in the arrays below."""
    du: Floats
    """Column of each pixel, counted from the centre of its set (that of all its pixels)."""
    dv: Floats
    """Row, likewise."""
    disparity: Floats
    """D(p)."""
    weight: Floats
    """How much the pixel counts, ≥ 0; 1 in the paper."""


@dataclass(frozen=True, eq=False)
class Observations:
    """The matches that segments and boundaries see. Gathered once, used for all particles."""

    segments: Matches
    """S_i ∩ F, about the centre of S_i."""
    boundaries: Matches
    """B_ij ∩ F, about the centre of B_ij."""
    unmatched: Unmatched
    """S_i outside F."""
    census: CensusPair | None
    """What the views look like; None if only their matches are known."""
    user_potential: Potential | None = None
    """A potential of the user's own, whose costs `scaled` leaves alone."""

    def scaled(self, factor: float) -> Observations:
        """Return observations whose every pixel counts `factor` times as much."""
        return replace(
            self,
            segments=replace(self.segments, weight=factor * self.segments.weight),
            boundaries=replace(self.boundaries, weight=factor * self.boundaries.weight),
            unmatched=replace(self.unmatched, weight=factor * self.unmatched.weight),
        )


def observe(
    regions: Regions, evidence: Evidence, lowest: float = 0.0, *, with_census: bool = True
) -> Observations:
    """Gather the evidence by segment and by boundary.

    Parameters
    ----------
    regions
        Segments of the left image.
    evidence
        What is known of the pair.
    lowest
        The disparity from which the model counts; see `slanted.model.planes.lowest_disparity`.
    with_census
        Whether φ_pho will be asked for.

    Raises
    ------
    InputError
        If an array has another size than the label image, or a weight is negative or not finite.
    """
    given = as_disparity_map(evidence.disparity, "disparity")
    _check_size("disparity", given, regions)
    known = given - lowest if lowest else given
    weights = _pixel_weights(evidence, regions)
    right, census = evidence.right_disparity, evidence.census if with_census else None
    if right is not None:
        _check_size("right_disparity", right, regions)
    if census is not None:
        _check_size("census", census.left, regions)
        _check_size("census", census.right, regions)

    def gather(pixels: Ints, start: Starts, centre: Floats) -> Matches:
        return Matches(
            *gather_matches(pixels, start, centre, known.ravel(), weights.ravel(), known.shape[1])
        )

    def gather_rest() -> Unmatched:
        start, pixels = gather_unmatched(regions.pixel_order, regions.pixel_start, known.ravel())
        seen = right_view(given.astype(np.float32)) if right is None else right
        return Unmatched(start, pixels, seen, lowest, 1.0)

    segments, boundaries, unmatched = together(
        lambda: gather(regions.pixel_order, regions.pixel_start, regions.centre),
        lambda: gather(regions.boundary_pixels, regions.boundary_start, regions.boundary_centre),
        gather_rest,
    )
    return Observations(segments, boundaries, unmatched, census, evidence.potential)


def _pixel_weights(evidence: Evidence, regions: Regions) -> Floats:
    """Return the weights of all pixels, 1 if there are none."""
    if evidence.pixel_weights is None:
        return np.ones(regions.label_image.shape)
    weights = np.array(evidence.pixel_weights, np.float64)
    _check_size("pixel_weights", weights, regions)
    if not (np.isfinite(weights).all() and weights.min() >= 0):
        raise InputError(
            "pixel_weights: expected finite numbers of at least 0, got others; set the disparity "
            "to NaN where there is no confidence"
        )
    return weights


def _check_size(argument: str, array: NDArray[Any], regions: Regions) -> None:
    if array.shape != regions.label_image.shape:
        raise InputError(
            f"{argument}: expected the size of the label image, {regions.label_image.shape}, got "
            f"{array.shape}; pass arrays of one frame at one resolution"
        )
