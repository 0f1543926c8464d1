"""Small discrete problems of the model's structure to test the solver on."""

import numpy as np

from partition.label_maps import checks, voronoi
from slanted.model.junctions import junction3_impossible, junction4_kinds, junction4_variants
from slanted.regions import build_regions
from slanted.solver.dual import dual_terms, sum_exactly
from slanted.solver.factor_graph import FactorGraph
from slanted.solver.problem import build_problem

HINGE, OCCLUSION, IMPOSSIBLE = 3.0, 15.0, 30.0
TRUNCATION = 5.0
CO, HI, LO, RO = range(4)


def structure(labels):
    """The scopes of the factors of a label image, as keywords of FactorGraph."""
    regions = build_regions(labels)
    return regions, {
        "edges": regions.edges,
        "junctions3": regions.junctions3_edges,
        "junctions4": regions.junctions4_edges,
        "junction4_kinds": junction4_kinds(regions.junctions4),
    }


def paper_like(labels, particles, seed, data=1.0):
    """Planes near a scene of two depths, scored by the shapes of the paper's potentials.

    The less the data weigh, the more planes, labels and junctions are at odds, and the more often
    the relaxation is not tight.
    """
    rng = np.random.default_rng(seed)
    regions, scopes = structure(labels)
    count, (i, j) = regions.count, regions.edges.T
    depth = 20 + 4 * rng.integers(0, 3, count) + rng.standard_normal(count)
    centre = depth[:, None] + 3 * rng.standard_normal((count, particles))
    gradient = 0.2 * rng.standard_normal((count, particles, 2))

    def at_boundary(segments):  # (E, N) disparity of each particle in the middle of each edge
        offset = (regions.boundary_centre - regions.centre[segments])[:, None]
        return centre[segments] + (gradient[segments] * offset).sum(axis=2)

    def misfit(values, target):
        return np.minimum(np.abs(values - target[:, None]), TRUNCATION) ** 2

    first, second = at_boundary(i), at_boundary(j)
    step = first[:, :, None] - second[:, None, :]
    tilt = ((gradient[i][:, :, None] - gradient[j][:, None]) ** 2).sum(axis=3)
    own = data * misfit(first, depth[i])[:, :, None]
    other = data * misfit(second, depth[j])[:, None, :]
    costs = np.empty((len(i), 4, particles, particles))
    costs[:, CO] = step**2 + 20 * tilt + (own + other) / 2
    costs[:, HI] = HINGE + step**2 + (own + other) / 2
    costs[:, LO] = OCCLUSION + IMPOSSIBLE * (step < 0) + own
    costs[:, RO] = OCCLUSION + IMPOSSIBLE * (step > 0) + other
    colour = 30 * rng.random(len(i))
    return FactorGraph(
        **scopes,
        node_costs=data * 5 * misfit(centre, depth + rng.standard_normal(count)),
        label_costs=np.stack([colour, *3 * [30 - colour]], axis=1) / 2,
        edge_costs=costs,
        junction3_costs=IMPOSSIBLE * junction3_impossible(),
        junction4_costs=IMPOSSIBLE * junction4_variants(),
    )


def random_tables(labels, particles, seed):
    """Costs without any structure: the hardest case for the relaxation."""
    rng = np.random.default_rng(seed)
    regions, scopes = structure(labels)
    edges = len(regions.edges)
    return FactorGraph(
        **scopes,
        node_costs=rng.random((regions.count, particles)),
        label_costs=rng.random((edges, 4)),
        edge_costs=3 * rng.random((edges, 4, particles, particles)),
        junction3_costs=3 * rng.random((4, 4, 4)),
        junction4_costs=3 * rng.random((4, 4, 4, 4, 4)),
    )


def small_map(seed):
    """A label image of 3 to 12 segments: Voronoi cells, or blocks that meet in fours."""
    if seed % 5 == 4:
        rows, columns = 2 + seed // 5 % 2, 2 + seed // 10 % 3
        return checks(rows, columns).repeat(3, axis=0).repeat(3, axis=1)
    return voronoi(16, 20, 3 + seed % 8, seed)


def dual(graph, messages, epsilon=0.0, counting=None):
    """D_ε as the solver computes it."""
    return sum_exactly(dual_terms(build_problem(graph, counting), messages, epsilon))
