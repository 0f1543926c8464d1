"""Slanted-plane stereo: dense disparity, planes and occlusion boundaries from a rectified pair.

The public names are imported when first used, so that ``import slanted`` stays light.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from slanted.runtime.lazy import lazy_names

__version__ = "0.1.0.dev0"

_HOMES = {
    "Calibration": "slanted.io",
    "BoundaryLabel": "slanted.boundary_label",
    "InputError": "slanted.errors",
    "Matcher": "slanted.pipeline",
    "Result": "slanted.result",
    "Settings": "slanted.settings",
    "SlantedError": "slanted.errors",
    "SlantedWarning": "slanted.errors",
    "estimate": "slanted.pipeline",
    "read_calibration": "slanted.io",
    "read_disparity": "slanted.io",
    "read_image": "slanted.io",
    "register_matcher": "slanted.matching",
    "write_disparity": "slanted.io",
    "write_image": "slanted.io",
}
__all__ = [
    "BoundaryLabel",
    "Calibration",
    "InputError",
    "Matcher",
    "Result",
    "Settings",
    "SlantedError",
    "SlantedWarning",
    "__version__",
    "estimate",
    "read_calibration",
    "read_disparity",
    "read_image",
    "register_matcher",
    "write_disparity",
    "write_image",
]

if TYPE_CHECKING:
    from slanted.boundary_label import BoundaryLabel
    from slanted.errors import InputError, SlantedError, SlantedWarning
    from slanted.io import (
        Calibration,
        read_calibration,
        read_disparity,
        read_image,
        write_disparity,
        write_image,
    )
    from slanted.matching import register_matcher
    from slanted.pipeline import Matcher, estimate
    from slanted.result import Result
    from slanted.settings import Settings

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
