"""From a label image to segments S_i, boundaries B_ij and junctions (paper, Section 3).

`structure` is the result, `build` makes it from `moments`, `edges`, `junctions` and `colour`.
Nothing here knows of disparities: the same regions serve every hypothesis about the scene.

Names are imported on first use, so that ``import slanted.regions`` does not load Numba.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from slanted.runtime.lazy import lazy_names

if TYPE_CHECKING:
    from slanted.partition.label_image import check_label_image, label_image_from_user
    from slanted.regions.build import build_regions
    from slanted.regions.edges import BOUNDARY_REACH
    from slanted.regions.structure import Regions

_MODULE_OF = {
    "BOUNDARY_REACH": "slanted.regions.edges",
    "Regions": "slanted.regions.structure",
    "build_regions": "slanted.regions.build",
    "check_label_image": "slanted.partition.label_image",
    "label_image_from_user": "slanted.partition.label_image",
}

__all__ = [
    "BOUNDARY_REACH",
    "Regions",
    "build_regions",
    "check_label_image",
    "label_image_from_user",
]

__getattr__, __dir__ = lazy_names(__name__, _MODULE_OF)
