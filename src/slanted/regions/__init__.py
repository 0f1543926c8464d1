"""From a label image to segments S_i, boundaries B_ij and junctions (paper, Section 3).

`labels` checks label images, `structure` is the result, `build` makes it from `moments`, `edges`,
`junctions` and `colour`. Nothing here knows of disparities: the same regions serve every
hypothesis about the scene.

Names are imported on first use, so that ``import slanted.regions`` does not load Numba.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from slanted.regions.build import build_regions
    from slanted.regions.edges import BOUNDARY_REACH
    from slanted.regions.labels import check_labels, labels_from_user
    from slanted.regions.structure import Regions

# No name may equal that of a submodule: importing the submodule would bind the name to it.
_MODULE_OF = {
    "BOUNDARY_REACH": "edges",
    "Regions": "structure",
    "build_regions": "build",
    "check_labels": "labels",
    "labels_from_user": "labels",
}

__all__ = ["BOUNDARY_REACH", "Regions", "build_regions", "check_labels", "labels_from_user"]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = value  # the next use is a plain look-up
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
