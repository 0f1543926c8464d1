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
    regions, observations, particles
        As for `slanted.model.potentials.disparity_cost`; regions must have colours.
    settings
        Section ``model`` of the settings, with its weights.

    Raises
    ------
    InputError
        If the particles have the wrong shape or the regions have no colours.

    Examples
    --------
    >>> import numpy as np
    >>> from slanted.model import observe
    >>> from slanted.model.evidence import Evidence
    >>> from slanted.regions import build_regions
    >>> from slanted.settings import ModelSettings
    >>> label_image = np.repeat([[0, 1]], 8, axis=0)
    >>> regions = build_regions(label_image, np.zeros((8, 2), np.uint8))
    >>> observations = observe(regions, Evidence(np.full((8, 2), 5, np.float32)))
    >>> particles = np.zeros((2, 3, 3))  # three planes per segment
    >>> graph = build_factor_graph(regions, observations, particles, ModelSettings())
    >>> graph.node_costs.shape, graph.edge_costs.shape
    ((2, 3), (1, 4, 3, 3))
    """
    particles = check_particles(regions, particles)
    # Threads do all tables of their segments, then of their edges, to wait for each other less.
    plane_costs = _plane_costs(regions, observations, particles, settings)
    edge_costs = _edge_costs(regions, observations, particles, settings)
    label_costs = settings.weights.col * colour_cost(regions, settings)
    return graph_of_tables(regions, plane_costs, label_costs, edge_costs, settings)


def graph_of_tables(
    regions: Regions,
    plane_costs: Floats,
    label_costs: Floats,
    edge_costs: Floats,
    settings: ModelSettings,
) -> FactorGraph:
    """Return the factor graph of weighted tables, with the junctions of the regions."""
    return FactorGraph(
        edges=regions.edges,
        node_costs=plane_costs,
        label_costs=label_costs,
        edge_costs=edge_costs,
        junctions3=regions.junctions3_edges,
        junction3_costs=settings.weights.jct * junction3_cost(settings),
        junctions4=regions.junctions4_edges,
        junction4_kinds=junction4_kinds(regions.junctions4),
        junction4_costs=settings.weights.crs * junction4_cost(settings),
    )


def _plane_costs(
    regions: Regions, observations: Observations, particles: Floats, settings: ModelSettings
) -> Floats:
    """Return the weighted costs of planes, (n, N)."""
    weights, K = settings.weights, settings.truncation

    def rows(first: int, last: int) -> Floats:
        some = particles, first, last
        costs = weights.seg * disparity_rows(observations.segments, particles, K, first, last)
        if weights.vis:
            costs += weights.vis * visibility_rows(regions, observations, *some)
        if weights.pho:
            costs += weights.pho * photometric_rows(regions, observations, *some)
        return costs

    costs = share_rows(regions.count, rows, pieces=4)
    if weights.user and observations.user_potential is not None:
        costs += weights.user * user_cost(regions, observations, particles)
    return costs


def _edge_costs(
    regions: Regions, observations: Observations, particles: Floats, settings: ModelSettings
) -> Floats:
    """Return w_bdy1 φ_bdy1 + w_bdy2 φ_bdy2 of labels and planes, (E, 4, N, N)."""
    count, weights = particles.shape[1], settings.weights
    costs = np.empty((regions.number_of_edges, LABELS, count, count))
    corners, corner_start, moments = boundary_shape(regions)

    def tabulate(first: int, last: int) -> None:
        edges = slice(first, last)
        planes = edge_planes(regions, particles, edges)
        boundary = boundary_rows(observations, planes, settings.truncation, first, last)
        edge_tables(
            planes, corners, corner_start[first : last + 1], moments[edges],
            settings.lambda_occ, settings.lambda_hinge, settings.lambda_imp,
            boundary, weights.bdy1, weights.bdy2, costs[edges],
        )  # fmt: skip

    share(len(costs), tabulate)
    return costs
