"""What goes on inside the model on one frame: colours across boundaries, energies and bounds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from slanted.experiments.jobs.frames import FrameJob
from slanted.experiments.measurements import Scores

if TYPE_CHECKING:
    from slanted.inference.convex_bp import Solution
    from slanted.settings import Settings

KINDS = ("coplanar", "hinge", "occlusion")
BINS = 20
"""Of the χ² distance, from 0 to 1."""
SWEEPS = 60
"""Message-passing sweeps of the discrete problem that is followed."""


@dataclass(frozen=True)
class ColourJob(FrameJob):
    """How far apart colours are across boundaries of each kind, by the ground truth."""

    def run(self) -> Scores:
        """Return counts of boundaries by kind and bin, as in ``coplanar-0``."""
        import numpy as np

        from slanted.io import read_image
        from slanted.labels import BoundaryLabel
        from slanted.learning.ground_truth import find_truth
        from slanted.matching.images import check_image
        from slanted.regions import build_regions
        from slanted.segmentation import segment
        from slanted.threads import thread_limit

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
    """How fast energy and bound of the first discrete problem meet, and how near they come."""

    def run(self) -> Scores:
        """Return energy and bound after each sweep, and the gap of the whole run.

        All in percent: of the best bound, how far above it.
        """
        from slanted.io import read_image
        from slanted.pipeline import estimate
        from slanted.threads import thread_limit

        left, right = read_image(self.frame.left), read_image(self.frame.right)
        settings = replace(self.settings, threads=1)
        result = estimate(left, right, settings)
        with thread_limit(1):
            solution = follow(left, right, settings)
        best = solution.bound
        scores: Scores = {"gap": 100 * result.gap}
        trace = solution.trace
        for sweep in range(1, SWEEPS + 1):
            row = min(sweep, len(trace.sweep)) - 1  # solved, it stays as it is
            scores[f"energy-{sweep}"] = 100 * (float(trace.energy[row]) / best - 1)
            scores[f"bound-{sweep}"] = 100 * (float(trace.bound[row]) / best - 1)
        return scores


def follow(left: object, right: object, settings: Settings) -> Solution:
    """Solve the first discrete problem of a pair, looking at it after every sweep."""
    from slanted.inference.convex_bp import solve
    from slanted.inference.local_fit import fit_local_planes, match_noise
    from slanted.inference.particles import propose
    from slanted.inference.pcbp import data_scale, lowest_disparity
    from slanted.matching.census import words_of_pair
    from slanted.matching.images import check_pair
    from slanted.model.build import build_factor_graph
    from slanted.model.observations import observe
    from slanted.pipeline import match_pair
    from slanted.regions import build_regions
    from slanted.segmentation import segment

    left, right = check_pair(left, right)
    matched, _ = match_pair(left, right, settings)
    regions = build_regions(segment(left, settings.segmentation, matched), left)
    words = words_of_pair(left, right) if settings.model.weights.pho else None
    observations = observe(regions, matched, None, lowest_disparity(settings), words)
    planes = fit_local_planes(regions, observations, settings.model.truncation)
    observations = observations.scaled(
        data_scale(match_noise(observations, planes), settings.model)
    )
    alone = build_factor_graph(regions, observations, planes[:, None], settings.model)
    labels = solve(alone, max_sweeps=0).labels
    particles = propose(regions, observations, planes, labels, 0, settings)
    graph = build_factor_graph(regions, observations, particles, settings.model)
    return solve(
        graph,
        epsilon=settings.inference.epsilon,
        max_sweeps=SWEEPS,
        check_every=1,
        gap_tolerance=0.0,
        progress_tolerance=0.0,
    )
