"""What the model knows of the images besides their segments: the matches D(p) on F."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slanted.errors import InputError
from slanted.images.census import Words
from slanted.images.disparity_map import as_disparity_map
from slanted.model.data_kernels import gather_matches
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
    """Confidence in D(p), ≥ 0; 1 in the paper."""


@dataclass(frozen=True, eq=False)
class Observations:
    """The matches that segments and boundaries see. Gathered once, used for all particles."""

    segments: Matches
    """S_i ∩ F, about the centre of S_i."""
    boundaries: Matches
    """B_ij ∩ F, about the centre of B_ij."""
    unmatched: Unmatched
    """S_i outside F."""
    words: Words | None
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
    regions: Regions,
    disparity: Any,
    weights: Any = None,
    lowest: float = 0.0,
    words: Words | None = None,
    user_potential: Potential | None = None,
    right: NDArray[np.float32] | None = None,
) -> Observations:
    """Gather the initial disparity by segment and by boundary.

    Parameters
    ----------
    regions
        Of the left image.
    disparity
        (H, W) D(p), NaN outside F.
    weights
        (H, W) ≥ 0, confidence by which φ_seg and φ_bdy1 weigh each pixel; None is the paper's 1.
    lowest
        The disparity from which the model counts.
    words
        Census words of both views, for φ_pho; without them it is 0.
    user_potential
        A potential of the user's own, φ_user.
    right
        (H, W) the disparity as the right view sees it, from `right_view`, if it is at hand.

    Raises
    ------
    InputError
        If an array has another size than the label image, or a weight is negative or not finite.
    """
    given = as_disparity_map(disparity, "disparity")
    _check_size("disparity", given, regions)
    known = given - lowest if lowest else given
    confidence = np.ones_like(known) if weights is None else np.array(weights, np.float64)
    _check_size("weights", confidence, regions)
    if right is not None:
        _check_size("right", right, regions)
    if words is not None:
        _check_size("words", words.left, regions)
        _check_size("words", words.right, regions)
    if weights is not None and not (np.isfinite(confidence).all() and confidence.min() >= 0):
        raise InputError(
            "weights: expected finite numbers of at least 0, got others; set disparity to NaN "
            "where there is no confidence"
        )

    def gather(pixels: Ints, start: Starts, centre: Floats) -> Matches:
        return Matches(
            *gather_matches(
                pixels, start, centre, known.ravel(), confidence.ravel(), known.shape[1]
            )
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
    return Observations(segments, boundaries, unmatched, words, user_potential)


def _check_size(argument: str, array: NDArray[Any], regions: Regions) -> None:
    if array.shape != regions.labels.shape:
        raise InputError(
            f"{argument}: expected the size of the label image, {regions.labels.shape}, got "
            f"{array.shape}; pass arrays of one frame at one resolution"
        )
