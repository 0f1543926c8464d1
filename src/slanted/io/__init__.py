"""Files in and out: images, disparity maps, calibrations and point clouds.

Names are imported on first use, so that ``import slanted.io`` stays as cheap as ``import sys`` and
a command line that only prints its help never loads OpenCV.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from slanted.io.calibration import Calibration
    from slanted.io.calibration_files import read_calibration
    from slanted.io.disparity import read_disparity, write_disparity
    from slanted.io.disparity_formats import DISPARITY_FORMATS
    from slanted.io.files import atomic_path, read_bytes, write_bytes
    from slanted.io.images import read_image, write_image
    from slanted.io.info import describe
    from slanted.io.label_images import read_labels, write_labels
    from slanted.io.point_clouds import point_cloud, write_ply

# No name may equal that of a submodule: importing the submodule would bind the name to it.
_MODULE_OF = {
    "DISPARITY_FORMATS": "disparity_formats",
    "Calibration": "calibration",
    "atomic_path": "files",
    "describe": "info",
    "point_cloud": "point_clouds",
    "read_bytes": "files",
    "read_calibration": "calibration_files",
    "read_disparity": "disparity",
    "read_image": "images",
    "read_labels": "label_images",
    "write_bytes": "files",
    "write_disparity": "disparity",
    "write_image": "images",
    "write_labels": "label_images",
    "write_ply": "point_clouds",
}

__all__ = [
    "DISPARITY_FORMATS",
    "Calibration",
    "atomic_path",
    "describe",
    "point_cloud",
    "read_bytes",
    "read_calibration",
    "read_disparity",
    "read_image",
    "read_labels",
    "write_bytes",
    "write_disparity",
    "write_image",
    "write_labels",
    "write_ply",
]


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
