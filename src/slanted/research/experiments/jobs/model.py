"""Measurements of the model on one frame: colours across boundaries, energies and bounds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from slanted.research.experiments.jobs.frames import FrameJob
from slanted.research.experiments.measurements import Scores
from slanted.research.methods import read_frame

if TYPE_CHECKING:
    from slanted.settings import Settings
    from slanted.solver.solution import Solution

KINDS = ("coplanar", "hinge", "occlusion")
BINS = 20
"""Bins of the χ² distance, from 0 to 1."""
LOOKS = (1, 2, 3, 4, 6, 10, 20, 40, 60)
"""Numbers of sweeps after which energy and bound are recorded."""


@dataclass(frozen=True)
class ColourJob(FrameJob):
    """The distance of colours across boundaries of each kind, by the ground truth."""

    def run(self) -> Scores:
        """Return counts of boundaries by kind and bin, as in ``coplanar-0``."""
        import numpy as np

        from slanted.boundary_label import BoundaryLabel
        from slanted.images.checks import check_image
        from slanted.io import read_image
        from slanted.learning.ground_truth import find_truth
        from slanted.regions import build_regions
        from slanted.runtime.threads import thread_limit
        from slanted.segmentation import segment

        left = check_image("left", read_image(self.frame.left))
        truth, _ = self.frame.load_ground_truth()
        with thread_limit(1):
            regions = build_regions(segment(left, self.settings.segmentation), left)
            found = find_truth(regions, truth, self.settings.model)
        distances = np.asarray(regions.chi_squared)[found.kept.edge_numbers]
        kinds = np.minimum(found.labels, BoundaryLabel.LEFT_OCCLUSION)
        counts: Scores = {}
        for kind, name in enumerate(KINDS):
            histogram = np.histogram(distances[kinds == kind], BINS, (0, 1))[0]
            counts |= {f"{name}-{k}": int(n) for k, n in enumerate(histogram)}
        return counts


@dataclass(frozen=True)
class ConvergenceJob(FrameJob):
    """How energy and bound of the first discrete problem converge."""

    def run(self) -> Scores:
        """Return energy and bound after some sweeps, and the gap of the whole run.

        Each is in percent above the best bound.
        """
        from slanted.pipeline import estimate
        from slanted.runtime.threads import thread_limit

        left, right = read_frame(self.frame)
        settings = replace(self.settings, threads=1)
        result = estimate(left, right, settings)
        with thread_limit(1):
            looks = follow(left, right, settings)
        best = max(look.bound for look in looks)
        scores: Scores = {"gap": 100 * result.gap}
        for sweep, look in zip(LOOKS, looks, strict=True):
            scores[f"energy-{sweep}"] = 100 * (look.energy / best - 1)
            scores[f"bound-{sweep}"] = 100 * (look.bound / best - 1)
        return scores


def follow(left: object, right: object, settings: Settings) -> list[Solution]:
    """Return the solutions of a pair's first discrete problem after each of `LOOKS` sweeps."""
    from slanted.images.census import census_of_pair
    from slanted.images.checks import check_pair
    from slanted.images.colour import grey_pair
    from slanted.inference.pcbp import data_scale
    from slanted.inference.terms import WholeImage
    from slanted.model.energy import cheapest_labels
    from slanted.model.evidence import Evidence
    from slanted.pipeline import match_pair
    from slanted.regions import build_regions
    from slanted.segmentation import segment
    from slanted.solver import SolverOptions, build_topology, solve

    left, right = check_pair(left, right)
    matched, _ = match_pair(left, right, settings)
    regions = build_regions(segment(left, settings.segmentation, matched), left)
    census = census_of_pair(grey_pair(left, right)) if settings.model.weights.pho else None
    terms = WholeImage.of(regions, Evidence(matched, census=census), settings)
    planes = terms.local_planes()
    terms = terms.scaled(data_scale(terms.noise(planes), settings.model))
    labels = cheapest_labels(regions, planes, settings.model)
    graph = terms.graph(terms.particles(planes, labels, 0, None))
    topology = build_topology(graph)
    looks: list[Solution] = []
    for before, sweep in pairwise((0, *LOOKS)):
        last = looks[-1] if looks else None
        options = SolverOptions(
            epsilon=settings.inference.epsilon,
            max_sweeps=sweep - before,
            check_every=sweep - before,
            gap_tolerance=0.0,
            progress_tolerance=0.0,
        )
        looks.append(
            solve(
                graph,
                options,
                messages=None if last is None else last.messages,
                topology=topology,
                incumbent=None if last is None else (last.states, last.labels),
            )
        )
    return looks
