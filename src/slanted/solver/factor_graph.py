"""The discrete problem that the solver minimises: arrays only.

Each node i has a variable y_i with N states, each edge ij a variable o_ij with 4 states. In stereo
the nodes are segments, their states are planes (particles), and the states of edges are boundary
labels. Factors of one kind share one array.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LABELS = 4
"""States of o_ij."""


@dataclass(frozen=True, eq=False)
class FactorGraph:
    """Costs, to be minimised, with weights already applied.

    Parameters
    ----------
    edges
        (E, 2) int32, segments i < j of each label variable.
    plane_costs
        (n, N) unary costs of the particles.
    label_costs
        (E, 4) unary costs of the labels.
    edge_costs
        (E, 4, N, N) costs of (o_ij, y_i, y_j).
    junctions3
        (J3, 3) int32, the edges ij, jk, ik of segments i < j < k.
    junction3_costs
        (4, 4, 4) costs of (o_ij, o_jk, o_ik), one table for all: with i < j < k no edge is turned.
    junctions4
        (J4, 4) int32, the edges pq, qr, rs, ps of segments in cyclic order.
    junction4_kinds
        (J4,) int32, which of the tables below each has: edges qr and rs may be stored turned.
    junction4_costs
        (4, 4, 4, 4, 4) tables of (o_pq, o_qr, o_rs, o_ps) as the edges are stored.
    """

    edges: NDArray[np.int32]
    plane_costs: NDArray[np.float64]
    label_costs: NDArray[np.float64]
    edge_costs: NDArray[np.float64]
    junctions3: NDArray[np.int32]
    junction3_costs: NDArray[np.float64]
    junctions4: NDArray[np.int32]
    junction4_kinds: NDArray[np.int32]
    junction4_costs: NDArray[np.float64]

    def energy(self, planes: NDArray[np.integer], labels: NDArray[np.integer]) -> float:
        """Return the cost of a labelling: a particle for each segment, a label for each edge."""
        i, j = self.edges.T
        edge = np.arange(len(self.edges))
        total = self.plane_costs[np.arange(len(planes)), planes].sum()
        total += self.label_costs[edge, labels].sum()
        total += self.edge_costs[edge, labels, planes[i], planes[j]].sum()
        a, b, c = labels[self.junctions3].T
        total += self.junction3_costs[a, b, c].sum()
        p, q, r, s = labels[self.junctions4].T
        total += self.junction4_costs[self.junction4_kinds, p, q, r, s].sum()
        return float(total)
