"""Planes of a frame that follows another: the last frame's are where its own begin."""

from __future__ import annotations

from dataclasses import replace
from math import inf, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from slanted.inference.local_fit import match_noise
from slanted.inference.outcome import UNKNOWN, Inference
from slanted.inference.pcbp import infer
from slanted.inference.pooled_fit import fit_initial_planes
from slanted.model.observations import observe_sample
from slanted.model.planes import lowest_disparity
from slanted.model.potentials import disparity_rows
from slanted.runtime.threads import share_rows

if TYPE_CHECKING:
    from slanted.inference.previous_frame import PreviousFrame
    from slanted.inference.terms import WholeImage
    from slanted.model.evidence import Evidence
    from slanted.regions.structure import Regions
    from slanted.settings import Settings

CLEARLY = 4.0
"""A local fit replaces several planes of the last frame if its cost, times this, is lower: wrong
matches, too, are fitted best by a plane of their own, and the last frame's were inferred with
neighbours. The only plane under a segment is replaced if the cost is lower at all: with this factor
for it, too, D1 of zooms into KITTI's frames was 3.43 % instead of 3.36 % (commit 5ce73d5)."""
FEWEST = 4
"""There are two particles and two sweeps fewer than for a single pair, but at least so many: the
last frame's planes were inferred already."""
LAST_PLANES = 2
"""Planes of the last frame that a segment may start with."""
SAMPLED = 3
"""One pixel in so many tells the first planes."""


def choose_planes(
    regions: Regions, evidence: Evidence, settings: Settings, *, last: PreviousFrame
) -> Inference:
    """Return the cheapest planes: of the local fit and those of the last frame.

    They are chosen, not inferred, and lead to segments on which planes are inferred. Their margins
    are the last frame's: they tell the trees that judge matches what to rely on. Without them, D1
    of zooms into KITTI's frames was 0.2 points higher.
    """
    lowest, K = lowest_disparity(settings), settings.model.truncation
    seen = observe_sample(regions, evidence, lowest, SAMPLED)
    local = fit_initial_planes(regions, seen, K, settings.inference.pooled_fit)
    floor = np.array([0, 0, lowest])
    under = last.under(regions, LAST_PLANES)
    before = last.planes_at(regions, under, (local + floor)[:, None].repeat(LAST_PLANES, 1))
    planes = np.concatenate([before - floor, local[:, None]], axis=1)
    costs = share_rows(len(planes), lambda *some: disparity_rows(seen.segments, planes, K, *some))
    costs[:, -1] *= CLEARLY
    choice = np.argmin(costs, axis=1)
    chosen = planes[np.arange(len(planes)), choice] + floor
    margins = np.full(regions.count, inf) if last.margins is None else last.margins[under[:, 0]]
    # Where fewer planes are under a segment, the local fit is in their place.
    is_new = np.pad(under, ((0, 0), (0, 1)), constant_values=-1)[np.arange(len(planes)), choice] < 0
    return Inference(
        planes=chosen,
        labels=np.zeros(len(regions.edges), np.int32),
        initial_planes=chosen,
        features=UNKNOWN,
        initial_energy=nan,
        bound=-inf,
        iterations=(),
        margins=np.where(is_new, 0.0, margins),  # nobody was ever sure of a new plane
        noise=match_noise(seen, local),
    )


def infer_less(terms: WholeImage, **options: Any) -> Inference:
    """Infer planes as `infer` does, with fewer particles and sweeps."""
    rules = terms.settings.inference
    rules = replace(
        rules,
        particles=min(rules.particles, max(FEWEST, rules.particles - 2)),
        sweeps=min(rules.sweeps, max(FEWEST, rules.sweeps - 2)),
        last_sweeps=None,
        check_every=min(rules.check_every, max(FEWEST, rules.check_every - 2)),
    )
    terms = replace(terms, settings=replace(terms.settings, inference=rules))
    return infer(terms, **options)
