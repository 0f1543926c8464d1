"""Training examples: the features of every particle of an image, before any weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from slanted.learning.ground_truth import Truth
from slanted.model import potentials
from slanted.model.junctions import junction4_kinds
from slanted.model.observations import Observations
from slanted.model.photometry import photometric_cost
from slanted.model.visibility import visibility_cost
from slanted.regions.structure import Regions
from slanted.runtime.arrays import Floats, Ints
from slanted.solver.factor_graph import LABELS, FactorGraph

if TYPE_CHECKING:
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
    label_losses: Floats
    """(E, 4) task loss of each label."""
    labels: Ints
    """(E,) ground-truth labels."""
    target: tuple[Ints, Ints] | None = None
    """Particles (n,) and labels (E,) that the weights should prefer; by default the ground truth.
    """

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
            label_costs=col * self.col - self.label_losses,
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

    def target_features(self) -> Floats:
        """Return the features of the target."""
        return self.truth_features() if self.target is None else self.features(*self.target)

    def spreads(self) -> Floats:
        """Return by how much each feature differs from that of the ground truth, per segment.

        It is a mean over particles at the true labels, for jct, crs and col over all labels.
        Differences of bdy2 count up to λ_imp: beyond that, planes are equally impossible.
        """
        count, edge = len(self.seg), np.arange(len(self.edges))
        pairs = self.bdy2[edge, self.labels].astype(np.float64)
        colours = self.col - self.col[edge, self.labels][:, None]
        sums = [
            _deviation(self.seg),
            _deviation(self.bdy1) / 2,
            _deviation(pairs, most=self.jct.max(initial=0.0) or np.inf),
            self.jct.mean() * len(self.junctions3),
            self.crs.mean(axis=(1, 2, 3, 4))[self.junction4_kinds].sum(),
            np.abs(colours).mean(axis=1).sum(),
            _deviation(self.vis),
            _deviation(self.pho),
        ]
        return np.array(sums) / count

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


def _deviation(table: Floats, most: float = np.inf) -> float:
    """Return the sum over rows of the mean difference from the first column, capped."""
    return float(np.minimum(np.abs(table - table[..., :1]), most).mean(axis=-1).sum())


def tabulate(
    name: str,
    regions: Regions,
    observations: Observations,
    truth: Truth,
    particles: Floats,
    losses: tuple[Floats, Floats],
    settings: Settings,
) -> Example:
    """Tabulate the features of (n, N, 3) particles; number 0 is the true plane.

    The losses are those of the particles and labels with ground truth.
    """
    model, kept = settings.model, truth.kept
    segments, edges = kept.segments, kept.edge_numbers
    particles = np.ascontiguousarray(particles)
    tables = potentials.compatibility_cost(regions, particles, model)[edges]
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
        losses=losses[0],
        label_losses=losses[1],
        labels=truth.labels,
    )
