"""Slow, obvious twins of the kernels of learning: plain loops over factors and states."""

from dataclasses import replace
from itertools import product

import numpy as np

import naive_solver as naive

OWNED = {0: (0.5, 0.5), 1: (0.5, 0.5), 2: (1, 0), 3: (0, 1)}


def edge_features(example, e, o, a, b):
    """φ_bdy1 and φ_bdy2 of an edge, its label and the particles of its two segments."""
    first, second = OWNED[o]
    states = example.seg.shape[1]
    bdy1 = first * example.bdy1[e, 0, a] + second * example.bdy1[e, 1, b]
    return bdy1, float(example.bdy2[e, o, a * states + b])


def edge_costs(example, weights):
    edges, _, states = example.bdy1.shape
    costs = np.empty((edges, 4, states, states))
    for e, o, a, b in product(range(edges), range(4), range(states), range(states)):
        bdy1, bdy2 = edge_features(example, e, o, a, b)
        costs[e, o, a, b] = weights[1] * bdy1 + weights[2] * bdy2
    return costs


def weighted_graph(example, weights, *, loss=False):
    """The factor graph of some weights, with the task losses or without."""
    graph = example.graph(weights, edge_costs(example, weights))
    if loss:
        return graph
    return replace(
        graph,
        node_costs=graph.node_costs + example.losses,
        label_costs=graph.label_costs + example.label_losses,
    )


def beliefs(graph, messages, tau):
    """b of every variable and of every factor, ∝ exp(−θ̂/τ)."""
    sent = naive.as_lists(messages)
    unary = [u.copy() for u in naive.variables(graph)]
    of_factors = []
    for (scope, table), lists in zip(naive.factors(graph), sent, strict=True):
        for variable, message in zip(scope, lists, strict=True):
            unary[variable] += message
        of_factors.append(_normalised(naive.reparametrised(scope, table, lists), tau))
    return [_normalised(u, tau) for u in unary], of_factors


def _normalised(costs, tau):
    power = np.exp(-(costs - costs.min()) / tau)
    return power / power.sum()


def expectation(example, graph, messages, tau):
    """The features that the beliefs expect, in the order of NAMES."""
    of_variables, of_factors = beliefs(graph, messages, tau)
    count, edges = len(example.seg), len(example.edges)
    total = np.zeros(8)
    total[0] = sum(b @ f for b, f in zip(of_variables[:count], example.seg, strict=True))
    total[6] = sum(b @ f for b, f in zip(of_variables[:count], example.vis, strict=True))
    total[7] = sum(b @ f for b, f in zip(of_variables[:count], example.pho, strict=True))
    total[5] = sum(b @ f for b, f in zip(of_variables[count:], example.col, strict=True))
    for e in range(edges):
        for (o, a, b), chance in np.ndenumerate(of_factors[e]):
            bdy1, bdy2 = edge_features(example, e, o, a, b)
            total[1] += chance * bdy1
            total[2] += chance * bdy2
    three = of_factors[edges : edges + len(example.junctions3)]
    four = of_factors[edges + len(example.junctions3) :]
    total[3] = sum((b * example.jct).sum() for b in three)
    total[4] = sum(
        (b * example.crs[kind]).sum() for b, kind in zip(four, example.junction4_kinds, strict=True)
    )
    return total


def outlier_counts(start, du, dv, disparity, planes, threshold):
    counts = np.zeros(planes.shape[:2])
    for k, m in np.ndindex(*counts.shape):
        for p in range(start[k], start[k + 1]):
            a, b, c = planes[k, m]
            counts[k, m] += abs(a * du[p] + b * dv[p] + c - disparity[p]) > threshold
    return counts
