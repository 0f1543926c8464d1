"""Planes y = (α, β, γ): disparity α (u − c_u) + β (v − c_v) + γ about a point c (paper, Eq. 1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from slanted.errors import InputError
from slanted.regions.structure import Regions
from slanted.runtime.arrays import Floats

if TYPE_CHECKING:
    from slanted.settings import Settings


def check_particles(regions: Regions, particles: Any) -> Floats:
    """Return particles as C-ordered float64, or raise an error that says what is wrong.

    Parameters
    ----------
    regions
        The n segments.
    particles
        (n, N, 3) α, β, γ of N ≥ 1 planes per segment, about the segment's centre.

    Raises
    ------
    InputError
        If the shape differs or a number is not finite.
    """
    array: Floats = np.ascontiguousarray(particles, np.float64)
    if array.ndim != 3 or array.shape[::2] != (regions.count, 3) or array.size == 0:
        raise InputError(
            f"particles: expected α, β, γ of one or more planes for each of {regions.count} "
            f"segments, shape ({regions.count}, N, 3), got {array.shape}"
        )
    return _finite("particles", array)


def check_planes(regions: Regions, planes: Any) -> Floats:
    """Return one plane per segment, (n, 3), as C-ordered float64; see `check_particles`."""
    array: Floats = np.ascontiguousarray(planes, np.float64)
    if array.shape != (regions.count, 3):
        raise InputError(
            f"planes: expected α, β, γ of one plane for each of {regions.count} segments, shape "
            f"({regions.count}, 3), got {array.shape}"
        )
    return _finite("planes", array)


def _finite(argument: str, array: Floats) -> Floats:
    if not np.isfinite(array).all():
        raise InputError(
            f"{argument}: expected finite planes, got NaN or infinity; replace them by any plane"
        )
    return array


def shifted_planes(planes: Floats, shift: Floats) -> Floats:
    """Return the same planes, (…, 3), about points that are moved by `shift`, (…, 2) in u and v."""
    moved = planes.copy()
    moved[..., 2] += planes[..., 0] * shift[..., 0] + planes[..., 1] * shift[..., 1]
    return moved


def edge_planes(regions: Regions, particles: Floats, some: slice = slice(None)) -> Floats:
    """Return the particles of both segments of each edge about the centre of B_ij, (E, 2, N, 3).

    The paper's φ_occ writes d̂_i(p, y_front), which would put the plane of j about the centre of i;
    here each plane is moved from its own centre. `some` selects edges.
    """
    edges = regions.edges[some]
    shift = regions.boundary_centre[some, None] - regions.centre[edges]
    return shifted_planes(particles[edges], shift[:, :, None])


def lowest_disparity(settings: Settings) -> float:
    """Return the disparity, in pixels, of the model's 0: 0, or the start of a negative range.

    The model penalises negative disparities (φ_neg), so for a range that starts below zero its
    disparities are relative to that start. Other potentials do not change.
    """
    return float(min(0, settings.matching.min_disparity))
