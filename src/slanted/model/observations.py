"""The evidence of a pair gathered by segment and by boundary."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slanted.errors import InputError
from slanted.images.census import CensusPair
from slanted.images.checks import as_disparity_map, check_disparity_map
from slanted.model.data_kernels import gather_matches
from slanted.model.evidence import Evidence
from slanted.model.user_potential import Potential
from slanted.model.view_kernels import gather_unmatched
from slanted.model.visibility import Unmatched, right_view
from slanted.regions.structure import Regions
from slanted.runtime.arrays import Floats, Ints, Starts
from slanted.runtime.threads import together


@dataclass(frozen=True, eq=False)
class Matches:
    """The matches of each of many sets, one set after the other."""

    start: Starts
    """(sets + 1,) where each set starts in the other arrays."""
    du: Floats
    """Column of each match, relative to the centre of all pixels of its set."""
    dv: Floats
    """Row of each match, relative to the same centre."""
    disparity: Floats
    """D(p) of each match, in pixels."""
    weight: Floats
    """Factor of each match in the data potentials, ≥ 0; 1 in the paper."""

    def scaled(self, factor: float) -> Matches:
        """Return matches that count `factor` times as much each."""
        return self if factor == 1 else replace(self, weight=factor * self.weight)


@dataclass(frozen=True, eq=False)
class Observations:
    """What the potentials need of the evidence, gathered once for all particles."""

    segments: Matches
    """Matches of S_i ∩ F, about the centre of S_i."""
    boundaries: Matches
    """Matches of B_ij ∩ F, about the centre of B_ij."""
    unmatched: Unmatched
    """Pixels of S_i outside F."""
    census: CensusPair | None
    """Census words of both views; None without φ_pho."""
    user_potential: Potential | None = None
    """The user's potential, whose costs `scaled` does not change."""

    def scaled(self, factor: float) -> Observations:
        """Return observations in which every pixel counts `factor` times as much."""
        segments, boundaries = together(
            lambda: self.segments.scaled(factor), lambda: self.boundaries.scaled(factor)
        )
        unmatched = replace(self.unmatched, weight=factor * self.unmatched.weight)
        return replace(self, segments=segments, boundaries=boundaries, unmatched=unmatched)


def observe(
    regions: Regions,
    evidence: Evidence,
    lowest: float = 0.0,
    *,
    with_census: bool = True,
    every: int = 1,
) -> Observations:
    """Gather the evidence by segment and by boundary.

    Parameters
    ----------
    regions
        Segments of the left image.
    evidence
        The evidence of the pair.
    lowest
        Disparity of the model's 0, in pixels; see `slanted.model.planes.lowest_disparity`.
    with_census
        Whether census words are kept, for φ_pho.
    every
        One pixel in so many is gathered, and counts as many times.

    Raises
    ------
    InputError
        If an array has another size than the label image, or a weight is negative or not finite.

    Examples
    --------
    >>> from slanted.model.evidence import Evidence
    >>> from slanted.regions import build_regions
    >>> regions = build_regions([[0, 0, 1, 1]])
    >>> disparity = np.array([[4, 5, np.nan, 5]], np.float32)
    >>> observations = observe(regions, Evidence(disparity))
    >>> np.diff(observations.segments.start)  # matches of each segment
    array([2, 1])
    """
    _check_size("disparity", check_disparity_map(evidence.disparity, "disparity"), regions)
    given, pixel_weights = together(
        lambda: as_disparity_map(evidence.disparity, "disparity"),
        lambda: _pixel_weights(evidence, regions),
    )
    known = given - lowest if lowest else given
    if every > 1:
        pixel_weights *= every
    right, census = evidence.right_disparity, evidence.census if with_census else None
    if right is not None:
        _check_size("right_disparity", right, regions)
    if census is not None:
        _check_size("census", census.left, regions)
        _check_size("census", census.right, regions)

    def gather(pixels: Ints, start: Starts, centre: Floats) -> Matches:
        maps = known.ravel(), pixel_weights.ravel()
        some = _sample(pixels, start, every)
        return Matches(*gather_matches(*some, centre, *maps, known.shape[1]))

    def gather_rest() -> Unmatched:
        some = _sample(regions.pixel_order, regions.pixel_start, every)
        start, pixels = gather_unmatched(*some, known.ravel())
        seen = right_view(given.astype(np.float32)) if right is None else right
        return Unmatched(start, pixels, seen, lowest, float(every))

    segments, boundaries, unmatched = together(
        lambda: gather(regions.pixel_order, regions.pixel_start, regions.centre),
        lambda: gather(regions.boundary_pixels, regions.boundary_start, regions.boundary_centre),
        gather_rest,
    )
    return Observations(segments, boundaries, unmatched, census, evidence.potential)


def _sample(pixels: Ints, start: Starts, every: int) -> tuple[Ints, Starts]:
    """Return one pixel in so many of sets that are stored one after the other."""
    if every == 1:
        return pixels, start
    some, begin = np.ascontiguousarray(pixels[::every]), -(-start // every)
    # As those of regions are, because kernels are compiled for each type.
    some.flags.writeable = begin.flags.writeable = False
    return some, begin


def observe_sample(regions: Regions, evidence: Evidence, lowest: float, every: int) -> Observations:
    """Gather the matches of one pixel in so many by segment, for a first fit of planes.

    Boundaries and pixels without a match are left out.

    Examples
    --------
    >>> from slanted.model.evidence import Evidence
    >>> from slanted.regions import build_regions
    >>> regions = build_regions([[0, 0, 0, 1, 1, 1]])
    >>> evidence = Evidence(np.array([[4, 5, 6, 9, 9, np.nan]], np.float32))
    >>> observe_sample(regions, evidence, 0.0, 2).segments.disparity
    array([4., 6., 9.])
    """
    pixels, start = _sample(regions.pixel_order, regions.pixel_start, every)
    segment = np.repeat(np.arange(regions.count), np.diff(start))
    disparity = evidence.disparity.reshape(-1)[pixels]
    known = np.flatnonzero(np.isfinite(disparity))
    counts = np.bincount(segment[known], minlength=regions.count)
    segment, pixels, weights = segment[known], pixels[known], evidence.pixel_weights
    row, column = np.divmod(pixels, regions.label_image.shape[1])
    u, v = regions.centre.T
    return Observations(
        Matches(
            np.concatenate([[0], np.cumsum(counts)]),
            column - u[segment],
            row - v[segment],
            disparity[known].astype(np.float64) - lowest,
            np.ones(len(pixels))
            if weights is None
            else weights.reshape(-1)[pixels].astype(np.float64),
        ),
        Matches(np.zeros(1, np.int64), *np.empty((4, 0))),
        Unmatched(
            np.zeros(regions.count + 1, np.int64),
            np.empty(0, np.int32),
            np.empty((0, 0), np.float32),
            lowest,
            1.0,
        ),
        None,
    )


def _pixel_weights(evidence: Evidence, regions: Regions) -> Floats:
    """Return the weight of each pixel; 1 if none are given."""
    if evidence.pixel_weights is None:
        return np.ones(regions.label_image.shape)
    pixel_weights = np.array(evidence.pixel_weights, np.float64)
    _check_size("pixel_weights", pixel_weights, regions)
    if not (np.isfinite(pixel_weights).all() and pixel_weights.min() >= 0):
        raise InputError(
            "pixel_weights: expected finite numbers of at least 0, got others; set the disparity "
            "to NaN where there is no confidence"
        )
    return pixel_weights


def _check_size(argument: str, array: NDArray[Any], regions: Regions) -> None:
    if array.shape != regions.label_image.shape:
        raise InputError(
            f"{argument}: expected the size of the label image, {regions.label_image.shape}, got "
            f"{array.shape}; pass arrays of one frame at one resolution"
        )
