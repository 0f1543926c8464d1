"""Slanted-plane stereo: dense disparity, planes and occlusion boundaries from a rectified pair.

The public names are listed in ``__init__.pyi`` and imported when first used, so that
``import slanted`` stays fast.
"""

from lazy_loader import attach_stub

__version__ = "0.1.0"

_load, __dir__, __all__ = attach_stub(__name__, __file__)


def __getattr__(name: str) -> object:
    from slanted.runtime import forks  # noqa: F401  first, so that forks wait for other imports

    return _load(name)
