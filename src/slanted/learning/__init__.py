"""Learning the weights of the energy from ground truth (paper §3.3).

`sources` are pairs with ground truth, `ground_truth` finds planes and labels, `losses` defines what
wrong planes cost, `training_image` draws particles, `examples` tabulates their features, `targets`
chooses what weights should prefer, `objective` evaluates one image, `images` spreads images over
workers, which run `owner`, `training` sums over all of them, `optimise` minimises the sum, `rounds`
repeats that, `checkpoint` records every step, and `learn` does all of it.

The names in ``__init__.pyi`` are imported when first used, so that ``import slanted.learning`` does
not load Numba.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
