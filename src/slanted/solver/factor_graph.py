"""The discrete problem that the solver minimises: arrays only.

A graph has two kinds of variables. Each node i has a *state* y_i, one of N; each edge ij has a
*label* o_ij, one of four. An edge factor couples the label of an edge with the states of its two
nodes, and junctions couple the labels of three or four edges. In stereo nodes are segments, states
are candidate planes, and labels say what happens at the boundary of two segments.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from slanted.runtime.arrays import Floats, Ints

LABELS = 4  # that an edge can have


@dataclass(frozen=True, eq=False)
class FactorGraph:
    """Costs to be minimised, with any weights already applied."""

    edges: Ints
    """(E, 2) int32, the nodes i < j of each edge."""
    node_costs: Floats
    """(n, N) unary costs of states."""
    label_costs: Floats
    """(E, 4) unary costs of labels."""
    edge_costs: Floats
    """(E, 4, N, N) costs of (o_ij, y_i, y_j)."""
    junctions3: Ints = field(default_factory=lambda: np.empty((0, 3), np.int32))
    """(J3, 3) int32, the edges ij, jk, ik of nodes i < j < k."""
    junction3_costs: Floats = field(default_factory=lambda: np.zeros((LABELS,) * 3))
    """(4, 4, 4) costs of (o_ij, o_jk, o_ik), one table for all: with i < j < k no edge is reversed.
    """
    junctions4: Ints = field(default_factory=lambda: np.empty((0, 4), np.int32))
    """(J4, 4) int32, the edges pq, qr, rs, ps of nodes in cyclic order."""
    junction4_kinds: Ints = field(default_factory=lambda: np.empty(0, np.int32))
    """(J4,) int32, which table of `junction4_costs` each junction uses: edges qr and rs may be
    stored in reverse."""
    junction4_costs: Floats = field(default_factory=lambda: np.zeros((1, *(LABELS,) * 4)))
    """(K, 4, 4, 4, 4) tables of (o_pq, o_qr, o_rs, o_ps), as the edges are stored."""

    def energy(self, states: NDArray[np.integer], labels: NDArray[np.integer]) -> float:
        """Return the cost of a labelling: a state for each node, a label for each edge."""
        i, j = self.edges.T
        edge = np.arange(len(self.edges))
        total = self.node_costs[np.arange(len(states)), states].sum()
        total += self.label_costs[edge, labels].sum()
        total += self.edge_costs[edge, labels, states[i], states[j]].sum()
        a, b, c = labels[self.junctions3].T
        total += self.junction3_costs[a, b, c].sum()
        p, q, r, s = labels[self.junctions4].T
        total += self.junction4_costs[self.junction4_kinds, p, q, r, s].sum()
        return float(total)
