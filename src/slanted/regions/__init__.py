"""From a label image to segments S_i, boundaries B_ij and junctions (paper, Section 3).

`build` makes the `Regions` of `structure` from `edges`, `junctions` and `statistics`. Nothing here
depends on disparities.

The names in ``__init__.pyi`` are imported when first used, so that ``import slanted.regions`` does
not load Numba.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
