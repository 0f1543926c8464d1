"""The factor graph over particles: all potentials, weighted."""

from __future__ import annotations

import numpy as np

from slanted.model.compatibility_kernels import edge_tables
from slanted.model.factor_graph import LABELS, FactorGraph
from slanted.model.junctions import junction4_kinds
from slanted.model.observations import Observations
from slanted.model.photometry import photometric_cost
from slanted.model.planes import check_particles, edge_planes
from slanted.model.potentials import (
    boundary_cost,
    boundary_shape,
    colour_cost,
    disparity_cost,
    junction3_cost,
    junction4_cost,
)
from slanted.model.visibility import visibility_cost
from slanted.regions.structure import Floats, Regions
from slanted.settings import ModelSettings
from slanted.threads import bound, share


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
    plane_costs = weights.seg * disparity_cost(
        regions, observations, particles, settings.truncation
    )
    if weights.vis:
        plane_costs += weights.vis * visibility_cost(regions, observations, particles)
    if weights.pho:
        plane_costs += weights.pho * photometric_cost(regions, observations, particles)
    inputs = (
        edge_planes(regions, particles),
        *boundary_shape(regions),
        settings.lambda_occ,
        settings.lambda_hinge,
        settings.lambda_imp,
        boundary_cost(regions, observations, particles, settings.truncation),
        weights.bdy1,
        weights.bdy2,
    )
    count = particles.shape[1]
    edge_costs = np.empty((regions.number_of_edges, LABELS, count, count))
    share(len(edge_costs), bound(edge_tables, inputs, edge_costs))
    return FactorGraph(
        edges=regions.edges,
        plane_costs=plane_costs,
        label_costs=weights.col * colour_cost(regions, settings),
        edge_costs=edge_costs,
        junctions3=regions.junctions3_edges,
        junction3_costs=weights.jct * junction3_cost(settings),
        junctions4=regions.junctions4_edges,
        junction4_kinds=junction4_kinds(regions.junctions4),
        junction4_costs=weights.crs * junction4_cost(settings),
    )
