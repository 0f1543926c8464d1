"""The hybrid MRF: potentials, their tables over particles, and the energy (paper §3.1).

`evidence` is what a pair says of its scene, `observations` gathers it by segment and boundary,
`potentials` has one function per potential, `junctions` the possible junctions, `build` tabulates
the energy over particles, and `energy` evaluates any solution. Features are costs: potentials are
penalties φ ≥ 0, weighted by w ≥ 0, and p ∝ exp(−Σ w φ). (The paper writes log ψ = wᵀφ and leaves
the sign open.)

The names in ``__init__.pyi`` are imported when first used, so that ``import slanted.model`` does
not load Numba. None of them may equal the name of a submodule, as `energy` would.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
