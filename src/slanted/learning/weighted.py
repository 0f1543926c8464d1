"""Examples under weights: the factor graphs whose dual is learned from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from slanted.learning.examples import Example
from slanted.learning.soft_kernels import edge_costs
from slanted.runtime.arrays import Floats
from slanted.solver.factor_graph import LABELS, FactorGraph
from slanted.solver.messages import Junctions3or4, Problem


def weigh(example: Example, weights: Floats, tables: Floats) -> FactorGraph:
    """Weigh the features; the loss is added to the log-potentials, so subtracted from costs."""
    seg, _, _, jct, crs, col, vis, pho = weights
    planes = seg * example.seg + vis * example.vis + pho * example.pho
    return FactorGraph(
        edges=example.edges,
        plane_costs=planes - example.losses,
        label_costs=col * example.col,
        edge_costs=tables,
        junctions3=example.junctions3,
        junction3_costs=jct * example.jct,
        junctions4=example.junctions4,
        junction4_kinds=example.junction4_kinds,
        junction4_costs=crs * example.crs,
    )


def weighted_graph(example: Example, weights: Floats, *, loss: bool = False) -> FactorGraph:
    """Return the factor graph of some weights, with the task losses or without."""
    states = example.seg.shape[1]
    bdy1, bdy2 = example.bdy1, example.bdy2
    costs = np.empty(bdy2.shape)
    edge_costs((bdy1, bdy2, float(weights[1]), float(weights[2])), costs)
    graph = weigh(example, weights, costs.reshape(len(costs), LABELS, states, states))
    return graph if loss else replace(graph, plane_costs=graph.plane_costs + example.losses)


def problem_without_edges(graph: FactorGraph) -> Problem:
    """Return the small arrays in the kernels' shape; edge tables are the soft kernels' own."""
    kinds = np.zeros(len(graph.junctions3), np.int32)
    return Problem(
        plane_costs=graph.plane_costs,
        label_costs=graph.label_costs,
        edge_costs=np.empty((len(graph.edges), LABELS, 0)),
        edge_counts=np.ones(len(graph.edges)),
        three=Junctions3or4.of(kinds, graph.junction3_costs[None], 1.0),
        four=Junctions3or4.of(graph.junction4_kinds, graph.junction4_costs, 1.0),
        plane_count=1.0,
        label_count=1.0,
    )
