"""Reading and writing files: images, disparity maps, calibrations and point clouds.

The names in ``__init__.pyi`` are imported when first used, so that a command that only prints its
help does not load OpenCV.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
