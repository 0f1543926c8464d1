"""Inference and refinement in turns: planes, then segments that fit them, then planes again.

Not in the paper, whose superpixels are fixed; its authors' later SPS-Stereo moves them too. See
``docs/refinement.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from slanted.inference.pcbp import Start, infer
from slanted.inference.terms import Terms, WholeImage
from slanted.model.planes import lowest_disparity, shifted_planes
from slanted.refinement.rim import redecide_rims, views_of_pair
from slanted.refinement.rim_kernels import View
from slanted.refinement.segment_moves import about_origin, move_boundaries
from slanted.refinement.segment_splits import fit_patches, split_segments
from slanted.regions import build_regions
from slanted.regions.structure import Regions
from slanted.runtime.arrays import Floats, Ints
from slanted.runtime.threads import Soon

if TYPE_CHECKING:
    from slanted.inference.outcome import Inference
    from slanted.model.evidence import Evidence
    from slanted.settings import Settings

TermsOf = Callable[[Regions, "Evidence"], Terms]
"""Returns the energy of given segments."""
Judge = Callable[[Regions, "Inference", "Evidence"], "Evidence"]
"""Returns the evidence with matches that the planes make credible."""
Begin = Callable[[Regions, "Evidence", "Settings"], "Inference"]
"""Returns the first planes of segments, of which colours and boundaries are not known yet."""
Stage = Callable[[str], AbstractContextManager[None]]
"""Reports and times a stage of the pipeline, by its name."""


@dataclass(frozen=True)
class PlaneSearch:
    """How planes are found."""

    infer: Callable[..., Inference] = infer
    """The function `infer`, perhaps with arguments of your own."""
    begin: Begin | None = None
    """Finds the planes that segments are first refined with, in place of `infer`, if they are."""
    every: int = 1
    """The energy of a whole image is estimated from one pixel in so many."""


INFER = PlaneSearch()
"""Planes are inferred from all pixels."""


def infer_and_refine(
    label_image: Ints,
    evidence: Evidence,
    settings: Settings,
    *,
    refine: bool = True,
    judge: Judge | None = None,
    search: PlaneSearch = INFER,
    terms_of: TermsOf | None = None,
    stage: Stage = lambda name: nullcontext(),
) -> tuple[Regions, Inference, Evidence]:
    """Minimise the energy over planes and labels, and refine matches and segments in between.

    Parameters
    ----------
    label_image
        (H, W) the first segments, as from `slanted.segmentation.segment`.
    evidence
        The evidence of the pair; refinement needs its left image.
    settings
        All parameters.
    refine
        Whether segments are refined; otherwise every round has the first ones.
    judge
        Called before every round to choose the matches anew; by default they stay.
    search
        How planes are found; by default by `infer`.
    terms_of
        Returns the energy of segments; by default that of the whole image.
    stage
        Times the stages ``regions``, ``inference``, ``evidence`` and ``refinement``.

    Returns
    -------
    regions, inference, evidence
        The last segments, the solution on them, and the evidence that it explains.
        ``inference.iterations`` and ``initial_energy`` are of all rounds; margins, bound and
        energies of the last.
    """
    rounds = settings.refinement.rounds
    begin, solve = search.begin if refine and rounds else None, search.infer
    if terms_of is None:
        terms_of = partial(WholeImage.of, settings=settings, every=search.every)
        if rounds and (begin is None or judge is None):
            evidence = _with_views(evidence)
    if begin is None:
        with stage("regions"):
            regions = build_regions(label_image, evidence.left, trusted=True)
        with stage("inference"):
            found = solve(terms_of(regions, evidence), with_features=rounds == 0)
    else:
        with stage("regions"):
            regions = build_regions(label_image, trusted=True, boundaries=False)
        with stage("inference"):
            found = begin(regions, evidence, settings)
    initial_energy, steps = found.initial_energy, list(found.iterations)
    for step in range(1, rounds + 1):
        last = step == rounds
        if judge is not None:
            with stage("evidence"):
                evidence = _with_views(judge(regions, found, evidence))
        planes = found.planes
        if refine:
            with stage("refinement"):
                views = Soon(partial(views_of_rims, evidence, settings)) if last else None
                label_image, planes = split(regions, planes, evidence, settings)
                del regions  # frees memory, of which large images have none to spare
                label_image = move(label_image, planes, evidence, settings, views)
                del views
            with stage("regions"):
                regions = build_regions(label_image, evidence.left, trusted=True)
                planes = shifted_planes(planes, regions.centre)
        with stage("inference"):
            start = Start(planes, found.noise, len(steps), settings.refinement.iterations)
            found = solve(terms_of(regions, evidence), start=start, with_features=last)
        if not steps:  # there were no iterations yet
            initial_energy = found.initial_energy
        steps += found.iterations
    solution = replace(found, iterations=tuple(steps), initial_energy=initial_energy)
    return regions, solution, evidence


def _with_views(evidence: Evidence) -> Evidence:
    """Return the evidence with what is computed from it, once for inference and refinement."""
    right, lab = evidence.seen_from_right(), evidence.lab()
    return replace(evidence, right_disparity=right, lab_planes=lab)


def split(
    regions: Regions, planes: Floats, evidence: Evidence, settings: Settings
) -> tuple[Ints, Floats]:
    """Split segments that one plane cannot explain; pieces keep the plane, patches get new ones.

    Returns
    -------
    label_image, planes
        (H, W) segments, and (n, 3) planes about the pixel (0, 0).
    """
    matched, lowest = evidence.disparity, lowest_disparity(settings)
    label_image, parent, core = split_segments(
        regions, matched, planes, settings.refinement, lowest
    )
    kept = about_origin(regions, planes)[parent[parent >= 0]]
    return label_image, np.concatenate([kept, fit_patches(label_image, len(kept), matched, core)])


def views_of_rims(evidence: Evidence, settings: Settings) -> tuple[View, View] | None:
    """Return both views for rims, or None if no matches are corrected there."""
    if settings.refinement.rim_width == 0 or evidence.grey is None:
        return None
    return views_of_pair(evidence.grey)


def move(
    label_image: Ints,
    planes: Floats,
    evidence: Evidence,
    settings: Settings,
    views: Soon[tuple[View, View] | None] | None = None,
) -> Ints:
    """Move boundaries to where the planes, (n, 3) about (0, 0), explain the matches best.

    `views` first correct matches at the rims of near surfaces, in the last round only: later
    rounds would fit planes to disparities of earlier planes.
    """
    lab, matched, rules = evidence.lab(), evidence.disparity, settings.refinement
    if views is not None and (both := views.result()) is not None:
        matched = redecide_rims(label_image, planes, matched, lab, both, rules)
    return move_boundaries(label_image, lab, matched, evidence.seen_from_right(), planes, rules)
