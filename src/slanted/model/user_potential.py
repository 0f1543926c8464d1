"""The user's potential φ_user: any function of a segment and its plane.

It is a further unary cost of the particles, so the solver, its bound and the energy of a result
include it as they do φ_seg. Particles are drawn, and segments refined, without it. See
``docs/extend.md``.
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
"""``potential(regions, planes)``: the costs (n, N) of N planes (n, N, 3) for each segment.

Planes are α, β, γ about ``regions.centre``, in pixels of the images. A run calls it several times,
with other planes and, where segments are refined, other regions. It must depend on nothing else, or
the bound is not valid."""


def user_cost(regions: Regions, observations: Observations, particles: Floats) -> Floats:
    """Return φ_user(y_i), (n, N), the costs of the user's function; 0 if there is none.

    Arguments are as for `slanted.model.potentials.disparity_cost`.

    Raises
    ------
    InputError
        If the costs have the wrong shape or are not finite.

    Examples
    --------
    >>> from slanted.model import observe
    >>> from slanted.model.evidence import Evidence
    >>> from slanted.regions import build_regions
    >>> def prefer_level(regions, planes):
    ...     return np.abs(planes[..., :2]).sum(axis=-1)
    >>> regions = build_regions([[0, 0, 1, 1]])
    >>> evidence = Evidence(np.ones((1, 4), np.float32), potential=prefer_level)
    >>> user_cost(regions, observe(regions, evidence), [[[0, 0, 5]], [[0.5, 0, 5]]])
    array([[0. ],
           [0.5]])
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
            "planes that are not allowed"
        )
    return costs
