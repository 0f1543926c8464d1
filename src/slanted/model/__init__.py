"""The hybrid MRF: potentials, their tables over particles, and the energy (paper §3.1).

`observations` gathers the matches D(p) that segments and boundaries see, `planes` handles the
planes y_i, `potentials` has one function a potential, `junctions` the junctions that exist,
`build` adds up tables over particles, `energy` scores any solution. Energies are costs: the
potentials are penalties φ ≥ 0, weighted by w ≥ 0, and p ∝ exp(−Σ w φ). (The paper writes
log ψ = wᵀφ and leaves the sign to the reader.)

Names are imported on first use, so that ``import slanted.model`` does not load Numba.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from slanted.model.build import build_factor_graph
    from slanted.model.energy import Energies
    from slanted.model.factor_graph import FactorGraph
    from slanted.model.observations import Observations, observe

# No name may equal that of a submodule, as `energy` would: importing the submodule would bind it.
_MODULE_OF = {
    "Energies": "energy",
    "FactorGraph": "factor_graph",
    "Observations": "observations",
    "build_factor_graph": "build",
    "observe": "observations",
}

__all__ = ["Energies", "FactorGraph", "Observations", "build_factor_graph", "observe"]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = value  # the next use is a plain look-up
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
