"""The hybrid MRF: potentials, their tables over particles, and the energy (paper §3.1).

`observations` gathers the matches D(p) that segments and boundaries see, `planes` handles the
planes y_i, `potentials` has one function a potential, `junctions` the junctions that exist,
`build` adds up tables over particles, `energy` scores any solution. Energies are costs: the
potentials are penalties φ ≥ 0, weighted by w ≥ 0, and p ∝ exp(−Σ w φ). (The paper writes
log ψ = wᵀφ and leaves the sign to the reader.)

The names in ``__init__.pyi`` are imported when first used, so that ``import slanted.model`` does
not load Numba. None of them may equal the name of a submodule, as `energy` would.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
