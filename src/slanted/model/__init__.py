"""The hybrid MRF: potentials, their tables over particles, and the energy (paper §3.1).

`observations` gathers the matches D(p) that segments and boundaries see, `planes` handles the
planes y_i, `potentials` has one function a potential, `junctions` the junctions that exist,
`build` adds up tables over particles, `energy` scores any solution. Energies are costs: the
potentials are penalties φ ≥ 0, weighted by w ≥ 0, and p ∝ exp(−Σ w φ). (The paper writes
log ψ = wᵀφ and leaves the sign to the reader.)

Names are imported on first use, so that ``import slanted.model`` does not load Numba.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from slanted.runtime.lazy import lazy_names

if TYPE_CHECKING:
    from slanted.model.build import build_factor_graph
    from slanted.model.energy import Energies
    from slanted.model.observations import Observations, observe
    from slanted.solver.factor_graph import FactorGraph

# No name may equal that of a submodule, as `energy` would: importing the submodule would bind it.
_MODULE_OF = {
    "Energies": "slanted.model.energy",
    "FactorGraph": "slanted.solver.factor_graph",
    "Observations": "slanted.model.observations",
    "build_factor_graph": "slanted.model.build",
    "observe": "slanted.model.observations",
}

__all__ = ["Energies", "FactorGraph", "Observations", "build_factor_graph", "observe"]

__getattr__, __dir__ = lazy_names(__name__, _MODULE_OF)
