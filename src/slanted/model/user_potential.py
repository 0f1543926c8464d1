"""A potential of the user's own, φ_user: any function of a segment and its plane.

It is a further unary cost of the particles, so the solver, its bound and the energy of a result
know it as they know φ_seg. Nothing else does: particles are drawn, and segments refined, without
it. See ``docs/extend.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from slanted.errors import InputError
from slanted.model.planes import check_particles
from slanted.regions.structure import Regions
from slanted.runtime.arrays import Floats

if TYPE_CHECKING:
    from slanted.model.observations import Observations

Potential = Callable[[Regions, Floats], Any]
"""``potential(regions, planes)``: costs (n, N) of the planes (n, N, 3) that each segment may take.

Planes are α, β, γ about ``regions.centre``, in pixels of the images. It is called several times a
run, with other planes and, where segments are refined, other regions; it must depend on nothing
else, or the bound says nothing."""


def user_cost(regions: Regions, observations: Observations, particles: Floats) -> Floats:
    """Return φ_user(y_i), (n, N): what the user's function says; 0 if there is none.

    Parameters
    ----------
    regions
        The segments.
    observations
        Of the same regions, from `observe`, with the function.
    particles
        (n, N, 3) α, β, γ about the centres of the segments.

    Raises
    ------
    InputError
        If the function's answer has another shape, or is not finite.
    """
    planes = check_particles(regions, particles)
    if observations.user_potential is None:
        return np.zeros(planes.shape[:2])
    lowest = np.array([0, 0, observations.unmatched.lowest])
    answer = observations.user_potential(regions, planes + lowest)
    costs: Floats = np.asarray(answer, np.float64)
    if costs.shape != planes.shape[:2]:
        raise InputError(
            f"potential: expected a cost for each of {planes.shape[0]} segments and "
            f"{planes.shape[1]} planes, shape {planes.shape[:2]}, got {costs.shape}"
        )
    if not np.isfinite(costs).all():
        raise InputError(
            "potential: expected finite costs, got NaN or infinity; return a large number for "
            "planes that must not be"
        )
    return costs
