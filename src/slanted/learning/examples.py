"""Training examples: the features of every particle of an image, before any weights."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from slanted.inference.particles import propose
from slanted.inference.pcbp import data_scale
from slanted.learning.ground_truth import Truth, find_truth
from slanted.learning.losses import particle_losses
from slanted.model import potentials
from slanted.model.evidence import Evidence
from slanted.model.junctions import junction4_kinds
from slanted.model.observations import Observations, observe
from slanted.model.photometry import photometric_cost
from slanted.model.planes import lowest_disparity
from slanted.model.visibility import visibility_cost
from slanted.regions.structure import Regions
from slanted.runtime.arrays import Floats, Ints
from slanted.solver.factor_graph import LABELS, FactorGraph

if TYPE_CHECKING:
    from slanted.result import Result
    from slanted.settings import Settings

NAMES = ("seg", "bdy1", "bdy2", "jct", "crs", "col", "vis", "pho")
"""Order of the entries of all weights and features: the paper's six, then our two."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Example:
    """One image: the graph of the segments with ground truth, and tables over their particles.

    Particle 0 of every segment is its ground-truth plane.
    """

    name: str
    """Name of the frame."""
    edges: Ints
    junctions3: Ints
    junctions4: Ints
    junction4_kinds: Ints
    """As in `slanted.solver.factor_graph.FactorGraph`."""
    seg: Floats
    """(n, N) φ_seg."""
    bdy1: Floats
    """(E, 2, N) sums of φ^TP over B_ij for the planes of i and of j, the terms of φ_bdy1."""
    bdy2: NDArray[np.float32]
    """(E, 4, N²) φ_bdy2, in single precision: by far the largest array."""
    jct: Floats
    crs: Floats
    """(4, 4, 4) and (4, 4, 4, 4, 4) φ_jct and φ_crs."""
    col: Floats
    """(E, 4) φ_col."""
    vis: Floats
    pho: Floats
    """(n, N) φ_vis and φ_pho."""
    losses: Floats
    """(n, N) task loss of each particle."""
    labels: Ints
    """(E,) ground-truth labels."""

    def graph(self, weights: Floats, edge_costs: Floats) -> FactorGraph:
        """Return the factor graph of some weights, with the task losses subtracted from the costs.

        The caller makes the tables `edge_costs`, (E, 4, N, N); they are empty for kernels that use
        tables of their own.
        """
        seg, _, _, jct, crs, col, vis, pho = weights
        node_costs = seg * self.seg + vis * self.vis + pho * self.pho
        return FactorGraph(
            edges=self.edges,
            node_costs=node_costs - self.losses,
            label_costs=col * self.col,
            edge_costs=edge_costs,
            junctions3=self.junctions3,
            junction3_costs=jct * self.jct,
            junctions4=self.junctions4,
            junction4_kinds=self.junction4_kinds,
            junction4_costs=crs * self.crs,
        )

    def truth_features(self) -> Floats:
        """Return φ(gt), the features of the ground truth."""
        return self.features(np.zeros(len(self.seg), np.int32), self.labels)

    def features(self, planes: Ints, labels: Ints) -> Floats:
        """Return the features of a labelling: particles of the segments, labels of the edges."""
        segment, edge = np.arange(len(self.seg)), np.arange(len(self.edges))
        i, j = self.edges.T
        first, second = self.bdy1[edge, 0, planes[i]], self.bdy1[edge, 1, planes[j]]
        # coplanar, hinge: half of both; left occlusion: the first; right occlusion: the second
        boundary = np.choose(labels, [(first + second) / 2, (first + second) / 2, first, second])
        pair = planes[i] * self.seg.shape[1] + planes[j]
        around3, around4 = labels[self.junctions3].T, labels[self.junctions4].T
        return np.array(
            [
                self.seg[segment, planes].sum(),
                boundary.sum(),
                self.bdy2[edge, labels, pair].sum(dtype=np.float64),
                self.jct[tuple(around3)].sum(),
                self.crs[self.junction4_kinds, *around4].sum(),
                self.col[edge, labels].sum(),
                self.vis[segment, planes].sum(),
                self.pho[segment, planes].sum(),
            ]
        )


def build_example(name: str, result: Result, truth: Any, settings: Settings) -> Example:
    """Draw particles and tabulate their features and losses.

    Particle 0 is the ground-truth plane, particle 1 the local fit. The others are drawn around the
    local fit as in a first iteration with ``learning.proposals``. The paper says only that there
    are 30.

    Parameters
    ----------
    name
        Name of the frame.
    result
        Result of the frame, for its segments, matches and local fits.
    truth
        (H, W) ground truth, NaN where unknown.
    settings
        Sections ``model``, ``inference`` and ``learning``, and the seed.

    Raises
    ------
    InputError
        If the ground truth cannot be used.
    """
    regions, model = result.regions, settings.model
    lowest = lowest_disparity(settings)
    known = find_truth(regions, truth, model, settings.learning.boundary_labels, lowest)
    evidence = Evidence(result.matched, result.pixel_weights, census=result.census)
    observations = observe(regions, evidence, lowest)
    observations = observations.scaled(data_scale(result.inference.noise, model))
    local = result.local_planes() - np.array([0, 0, lowest])
    drawn = _draw(result, observations, local, settings)
    particles = np.concatenate([known.planes[:, None], local[:, None], drawn], axis=1)
    return tabulate(name, regions, observations, known, particles, settings)


def _draw(result: Result, observations: Observations, local: Floats, settings: Settings) -> Floats:
    """Return all particles but the first two: `propose` puts the local fit itself first."""
    kind = settings.learning.proposals
    count = settings.learning.particles - 1
    inference = replace(settings.inference, particles=count, proposals=kind)
    drawing = replace(settings, inference=inference)
    labels = result.inference.labels
    return propose(result.regions, observations, local, labels, 0, drawing)[:, 1:]


def tabulate(
    name: str,
    regions: Regions,
    observations: Observations,
    truth: Truth,
    particles: Floats,
    settings: Settings,
) -> Example:
    """Tabulate features and losses of (n, N, 3) particles; number 0 is the true plane."""
    model, kept = settings.model, truth.kept
    segments, edges = kept.segments, kept.edge_numbers
    particles = np.ascontiguousarray(particles)
    tables = potentials.compatibility_cost(regions, particles, model)[edges]
    losses = particle_losses(
        settings.learning.loss,
        truth.pixels,
        segments,
        regions.size[segments],
        particles[segments],
        model.truncation,
    )
    return Example(
        name=name,
        edges=kept.edges,
        junctions3=kept.junctions3,
        junctions4=kept.junctions4,
        junction4_kinds=junction4_kinds(kept.junctions4_segments),
        seg=potentials.disparity_cost(regions, observations, particles, model.truncation)[segments],
        bdy1=potentials.boundary_cost(regions, observations, particles, model.truncation)[edges],
        bdy2=tables.astype(np.float32).reshape(len(edges), LABELS, particles.shape[1] ** 2),
        jct=potentials.junction3_cost(model),
        crs=potentials.junction4_cost(model),
        col=potentials.colour_cost(regions, model)[edges],
        vis=visibility_cost(regions, observations, particles)[segments],
        pho=photometric_cost(regions, observations, particles)[segments],
        losses=settings.learning.loss_scale * losses,
        labels=truth.labels,
    )
