"""The factor graph over particles: all potentials, weighted."""

from __future__ import annotations

import numpy as np

from slanted.model.compatibility_kernels import edge_tables
from slanted.model.junctions import junction4_kinds
from slanted.model.observations import Observations
from slanted.model.photometry import photometric_rows
from slanted.model.planes import check_particles, edge_planes
from slanted.model.potentials import (
    boundary_rows,
    boundary_shape,
    colour_cost,
    disparity_rows,
    junction3_cost,
    junction4_cost,
)
from slanted.model.user_potential import user_cost
from slanted.model.visibility import visibility_rows
from slanted.regions.structure import Regions
from slanted.runtime.arrays import Floats
from slanted.runtime.threads import share, share_rows
from slanted.settings import ModelSettings
from slanted.solver.factor_graph import LABELS, FactorGraph


def build_factor_graph(
    regions: Regions, observations: Observations, particles: Floats, settings: ModelSettings
) -> FactorGraph:
    """Tabulate the energy over particles.

    Parameters
    ----------
    regions
        The segments, built with the left image.
    observations
        Their matches, from `observe`.
    particles
        (n, N, 3) α, β, γ about the centres of the segments.
    settings
        Of the model, with its weights.

    Raises
    ------
    InputError
        If the particles have the wrong shape or the regions have no colours.
    """
    particles = check_particles(regions, particles)
    weights = settings.weights

    def costs_of_planes(first: int, last: int) -> Floats:
        some = particles, first, last
        costs = weights.seg * disparity_rows(
            observations.segments, particles, settings.truncation, first, last
        )
        if weights.vis:
            costs += weights.vis * visibility_rows(regions, observations, *some)
        if weights.pho:
            costs += weights.pho * photometric_rows(regions, observations, *some)
        return costs

    count = particles.shape[1]
    edge_costs = np.empty((regions.number_of_edges, LABELS, count, count))
    corners, corner_start, moments = boundary_shape(regions)

    def tabulate_edges(first: int, last: int) -> None:
        own = slice(first, last)
        planes = edge_planes(regions, particles, own)
        # Of both segments of an edge, side by side.
        boundary = boundary_rows(observations, planes, settings.truncation, first, last)
        edge_tables(
            planes, corners, corner_start[first : last + 1], moments[own],
            settings.lambda_occ, settings.lambda_hinge, settings.lambda_imp,
            boundary, weights.bdy1, weights.bdy2, edge_costs[own],
        )  # fmt: skip

    # A thread does all tables of its segments, then of its edges: it hands over twice, not five
    # times.
    node_costs = share_rows(regions.count, costs_of_planes)
    if weights.user and observations.user_potential is not None:
        node_costs += weights.user * user_cost(regions, observations, particles)
    share(len(edge_costs), tabulate_edges)
    return FactorGraph(
        edges=regions.edges,
        node_costs=node_costs,
        label_costs=weights.col * colour_cost(regions, settings),
        edge_costs=edge_costs,
        junctions3=regions.junctions3_edges,
        junction3_costs=weights.jct * junction3_cost(settings),
        junctions4=regions.junctions4_edges,
        junction4_kinds=junction4_kinds(regions.junctions4),
        junction4_costs=weights.crs * junction4_cost(settings),
    )
