"""The energy of any solution: planes and boundary labels, not bound to particles."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slanted.boundary_label import BoundaryLabel
from slanted.errors import InputError
from slanted.model.junctions import junction4_kinds
from slanted.model.observations import Observations
from slanted.model.photometry import photometric_cost
from slanted.model.planes import check_planes
from slanted.model.potentials import (
    boundary_cost,
    colour_cost,
    compatibility_cost,
    disparity_cost,
    junction3_cost,
    junction4_cost,
)
from slanted.model.user_potential import user_cost
from slanted.model.visibility import visibility_cost
from slanted.regions.structure import Regions
from slanted.runtime.arrays import Floats, Ints
from slanted.runtime.threads import together
from slanted.settings import ModelSettings, WeightSettings


@dataclass(frozen=True)
class Energies:
    """The features φ of a solution, unweighted: each potential summed over the image."""

    seg: float
    """φ_seg, over segments."""
    bdy1: float
    """φ_bdy1, over edges."""
    bdy2: float
    """φ_bdy2, over edges."""
    jct: float
    """φ_jct, over three-way junctions."""
    crs: float
    """φ_crs, over four-way junctions."""
    col: float
    """φ_col, over edges."""
    vis: float
    """φ_vis, over segments."""
    pho: float
    """φ_pho, over segments."""
    user: float = 0.0
    """φ_user, over segments."""

    def weighted(self, weights: WeightSettings) -> dict[str, float]:
        """Return w_k φ_k by the name of the potential."""
        return {name: getattr(weights, name) * value for name, value in asdict(self).items()}

    def total(self, weights: WeightSettings) -> float:
        """Return the energy Σ w_k φ_k, which inference minimises."""
        return sum(self.weighted(weights).values())


def energy(
    regions: Regions,
    observations: Observations,
    planes: Floats,
    labels: NDArray[np.integer],
    settings: ModelSettings,
) -> Energies:
    """Evaluate a solution by the same closed forms as the factor graph.

    Parameters
    ----------
    regions
        The segments, built with the left image.
    observations
        Their matches, from `observe`.
    planes
        (n, 3) α, β, γ about the centres of the segments.
    labels
        (E,) `BoundaryLabel` of each edge.
    settings
        Of the model; its weights are not used.

    Raises
    ------
    InputError
        If planes or labels have the wrong shape, or the regions have no colours.
    """
    particles = check_planes(regions, planes)[:, None]
    labels = _check_edge_labels(regions, labels)
    edge = np.arange(len(labels))
    pho, vis, seg, boundary, compatibility = together(
        lambda: photometric_cost(regions, observations, particles),
        lambda: visibility_cost(regions, observations, particles),
        lambda: disparity_cost(regions, observations, particles, settings.truncation),
        lambda: boundary_cost(regions, observations, particles, settings.truncation),
        lambda: compatibility_cost(regions, particles, settings),
    )
    jct, crs = junction_energies(regions, labels, settings)
    return Energies(
        seg=float(seg.sum()),
        bdy1=float((_OWNERSHIP[labels] * boundary[:, :, 0]).sum()),
        bdy2=float(compatibility[edge, labels, 0, 0].sum()),
        jct=jct,
        crs=crs,
        col=float(colour_cost(regions, settings)[edge, labels].sum()),
        vis=float(vis.sum()),
        pho=float(pho.sum()),
        user=float(user_cost(regions, observations, particles).sum()),
    )


def junction_energies(
    regions: Regions, labels: NDArray[np.integer], settings: ModelSettings
) -> tuple[float, float]:
    """Return φ_jct and φ_crs, which know labels alone."""
    around3 = labels[regions.junctions3_edges].T
    around4 = labels[regions.junctions4_edges].T
    kinds = junction4_kinds(regions.junctions4)
    three = float(junction3_cost(settings)[tuple(around3)].sum())
    return three, float(junction4_cost(settings)[kinds, *around4].sum())


def cheapest_labels(regions: Regions, planes: Floats, settings: ModelSettings) -> Ints:
    """Return the label of each boundary, (E,), that its planes and colours prefer on their own.

    That of least w_bdy2 φ_bdy2 + w_col φ_col, whatever matches and junctions say.
    """
    weights, particles = settings.weights, check_planes(regions, planes)[:, None]
    cost = weights.bdy2 * compatibility_cost(regions, particles, settings)[:, :, 0, 0]
    cost += weights.col * colour_cost(regions, settings)
    labels: Ints = cost.argmin(axis=1).astype(np.int32)
    return labels


_OWNERSHIP = np.array([[0.5, 0.5], [0.5, 0.5], [1, 0], [0, 1]])
"""Shares of i and j in explaining the boundary, for each label (φ_bdy1)."""


def _check_edge_labels(regions: Regions, labels: Any) -> NDArray[np.intp]:
    array = np.asarray(labels)
    if array.shape != (regions.number_of_edges,):
        raise InputError(
            f"labels: expected one for each of {regions.number_of_edges} edges, got shape "
            f"{array.shape}"
        )
    if array.size > 0 and not np.isin(array, list(BoundaryLabel)).all():
        raise InputError(
            f"labels: expected boundary labels 0 to {len(BoundaryLabel) - 1}, got "
            f"{array.min()} to {array.max()} of type {array.dtype}"
        )
    return array.astype(np.intp)
