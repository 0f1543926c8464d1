"""Inference on segments that change: planes, then segments that suit them, then planes again.

Not in the paper, whose superpixels are fixed; its authors' later SPS-Stereo moves them too. See
``docs/refinement.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from slanted.images.colour import lab_planes
from slanted.inference.pcbp import Inference, Start, Watch, infer
from slanted.model.planes import lowest_disparity, shifted_planes
from slanted.model.visibility import right_view
from slanted.refinement.rim import redecide_rims
from slanted.refinement.segment_moves import (
    about_origin,
    fit_patches,
    move_boundaries,
    split_segments,
)
from slanted.regions import build_regions
from slanted.regions.structure import Regions
from slanted.runtime.arrays import Floats, Ints

if TYPE_CHECKING:
    from slanted.images import Image
    from slanted.images.census import Words
    from slanted.inference.previous_frame import Remembered
    from slanted.inference.terms import Terms
    from slanted.model.user_potential import Potential
    from slanted.refinement.rim import Views
    from slanted.settings import Settings

    Map = NDArray[np.float32]


def infer_and_refine(
    image: Image,
    regions: Regions,
    matched: Map,
    settings: Settings,
    *,
    rounds: int,
    weights: Map | None = None,
    words: Words | None = None,
    user_potential: Potential | None = None,
    views: Views | None = None,
    remembered: Remembered | None = None,
    watch: Watch | None = None,
    terms: Callable[[Regions], Terms] | None = None,
) -> tuple[Regions, Inference]:
    """Minimise the energy over planes and labels, and refine the segments in between.

    Parameters
    ----------
    image
        The left image.
    regions
        The segments to start from, built with it.
    rounds
        Times that segments are refined; with 0 they stay as they are. Of fewer than the settings
        ask for, the draws of the others come first.
    views
        Grey values of the pair, from `slanted.refinement.rim.views_of_pair`; without them rims are
        not looked at.
    matched, settings, weights, words, user_potential, remembered, watch
        As for `slanted.inference.pcbp.infer`.
    terms
        Makes the energy of segments, if not from the whole image.

    Returns
    -------
    regions, inference
        The last segments, and the solution on them. ``inference.iterations`` and
        ``initial_energy`` tell of all rounds; confidence, bound and energies of the last.
    """

    def maps() -> tuple[NDArray[np.uint8], Map]:
        return lab_planes(image), right_view(matched)

    # In tiles memory counts: maps are made anew each round, and what the next step does not need is
    # let go. Otherwise they are kept.
    kept = maps() if rounds and terms is None else None
    infer_whole = partial(
        infer,
        matched=matched,
        settings=settings,
        weights=weights,
        words=words,
        user_potential=user_potential,
        right=None if kept is None else kept[1],
        remembered=remembered,
        watch=watch,
    )

    def solve(regions: Regions, **options: Any) -> Inference:
        return infer_whole(regions, **options, terms=None if terms is None else terms(regions))

    found = solve(regions, draws=_first_draws(settings, rounds), measure=rounds == 0)
    initial_energy, steps = found.initial_energy, list(found.iterations)
    for step in range(1, rounds + 1):
        segments, planes = _split(regions, matched, found.planes, settings)
        del regions
        (lab, right), believed = kept or maps(), matched
        if views is not None and settings.refinement.rim_width and step == rounds:
            # Later rounds would fit planes to what earlier planes said.
            believed = redecide_rims(segments, planes, matched, lab, views, settings.refinement)
        segments = move_boundaries(segments, lab, believed, right, planes, settings.refinement)
        del lab, right, believed
        regions = build_regions(segments, image, trusted=True)
        del segments
        planes = shifted_planes(planes, regions.centre)
        start = Start(planes, found.noise, len(steps), settings.refinement.iterations)
        found = solve(regions, start=start, measure=step == rounds)
        if not steps:  # nothing was drawn before
            initial_energy = found.initial_energy
        steps += found.iterations
    return regions, replace(found, iterations=tuple(steps), initial_energy=initial_energy)


def _first_draws(settings: Settings, rounds: int) -> int:
    """Return how often particles are drawn on the first segments."""
    left_out = max(0, settings.refinement.rounds - rounds)
    return settings.inference.iterations + left_out * settings.refinement.iterations


def _split(
    regions: Regions, matched: Map, planes: Floats, settings: Settings
) -> tuple[Ints, Floats]:
    """Split what a plane cannot explain; pieces keep their plane, patches get one of their own.

    Returns
    -------
    labels, planes
        (H, W), and (n, 3) about (0, 0).
    """
    lowest = lowest_disparity(settings)
    labels, parent, core = split_segments(regions, matched, planes, settings.refinement, lowest)
    kept = about_origin(regions, planes)[parent[parent >= 0]]
    return labels, np.concatenate([kept, fit_patches(labels, len(kept), matched, core)])
