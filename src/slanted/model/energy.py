"""The energy of any solution: planes, which need not be particles, and boundary labels."""

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
class Features:
    """The features φ of a solution: each potential summed over the image, without its weight.

    Examples
    --------
    >>> from slanted.settings import WeightSettings
    >>> found = Features(seg=2, bdy1=0, bdy2=0, jct=0, crs=0, col=0, vis=0, pho=0)
    >>> found.total(WeightSettings(seg=3))
    6.0
    """

    seg: float
    """Sum of φ_seg over segments."""
    bdy1: float
    """Sum of φ_bdy1 over edges."""
    bdy2: float
    """Sum of φ_bdy2 over edges."""
    jct: float
    """Sum of φ_jct over three-way junctions."""
    crs: float
    """Sum of φ_crs over four-way junctions."""
    col: float
    """Sum of φ_col over edges."""
    vis: float
    """Sum of φ_vis over segments."""
    pho: float
    """Sum of φ_pho over segments."""
    user: float = 0.0
    """Sum of φ_user over segments."""

    def weighted(self, weights: WeightSettings) -> dict[str, float]:
        """Return w_k φ_k of each potential, by name."""
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
) -> Features:
    """Evaluate a solution by the same closed forms as the factor graph.

    Parameters
    ----------
    regions, observations
        Segments with colours, and their observations from `observe`.
    planes
        (n, 3) α, β, γ about the centres of the segments.
    labels
        (E,) `BoundaryLabel` of each edge.
    settings
        Section ``model`` of the settings; its weights are not used.

    Raises
    ------
    InputError
        If planes or labels have the wrong shape, or the regions have no colours.

    Examples
    --------
    >>> from slanted.model import observe
    >>> from slanted.model.evidence import Evidence
    >>> from slanted.regions import build_regions
    >>> regions = build_regions(np.zeros((8, 8), int), np.zeros((8, 8), np.uint8))
    >>> observations = observe(regions, Evidence(np.full((8, 8), 5, np.float32)))
    >>> energy(regions, observations, np.array([[0, 0, 4]]), np.empty(0, int), ModelSettings()).seg
    64.0
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
    jct, crs = junction_features(regions, labels, settings)
    return Features(
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


def junction_features(
    regions: Regions, labels: NDArray[np.integer], settings: ModelSettings
) -> tuple[float, float]:
    """Return the sums of φ_jct and φ_crs, which depend on labels only."""
    around3 = labels[regions.junctions3_edges].T
    around4 = labels[regions.junctions4_edges].T
    kinds = junction4_kinds(regions.junctions4)
    three = float(junction3_cost(settings)[tuple(around3)].sum())
    return three, float(junction4_cost(settings)[kinds, *around4].sum())


def cheapest_labels(regions: Regions, planes: Floats, settings: ModelSettings) -> Ints:
    """Return the label of each boundary, (E,), of the lowest w_bdy2 φ_bdy2 + w_col φ_col.

    Matches and junctions are ignored.
    """
    weights, particles = settings.weights, check_planes(regions, planes)[:, None]
    cost = weights.bdy2 * compatibility_cost(regions, particles, settings)[:, :, 0, 0]
    cost += weights.col * colour_cost(regions, settings)
    labels: Ints = cost.argmin(axis=1).astype(np.int32)
    return labels


_OWNERSHIP = np.array([[0.5, 0.5], [0.5, 0.5], [1, 0], [0, 1]])
"""Share of the planes of i and j in φ_bdy1, for each label."""


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
