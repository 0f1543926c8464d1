"""Slanted-plane stereo: dense disparity, planes and occlusion boundaries from a rectified pair.

The public names are listed in ``__init__.pyi`` and imported when first used, so that
``import slanted`` stays fast.
"""

from lazy_loader import attach_stub

__version__ = "0.1.0.dev0"

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
