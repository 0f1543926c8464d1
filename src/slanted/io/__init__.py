"""Reading and writing files: images, disparity maps, calibrations and point clouds.

Names are imported on first use, so that ``import slanted.io`` is cheap and a command that only
prints its help never loads OpenCV.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from slanted.runtime.lazy import lazy_names

if TYPE_CHECKING:
    from slanted.io.calibration import Calibration
    from slanted.io.calibration_files import read_calibration
    from slanted.io.disparity import read_disparity, write_disparity
    from slanted.io.disparity_formats import DISPARITY_FORMATS
    from slanted.io.files import atomic_path, read_bytes, write_bytes
    from slanted.io.images import read_image, read_labels, write_image, write_labels
    from slanted.io.info import describe
    from slanted.io.point_clouds import encode_ply, point_cloud, write_ply

_MODULE_OF = {
    "DISPARITY_FORMATS": "slanted.io.disparity_formats",
    "Calibration": "slanted.io.calibration",
    "atomic_path": "slanted.io.files",
    "describe": "slanted.io.info",
    "encode_ply": "slanted.io.point_clouds",
    "point_cloud": "slanted.io.point_clouds",
    "read_bytes": "slanted.io.files",
    "read_calibration": "slanted.io.calibration_files",
    "read_disparity": "slanted.io.disparity",
    "read_image": "slanted.io.images",
    "read_labels": "slanted.io.images",
    "write_bytes": "slanted.io.files",
    "write_disparity": "slanted.io.disparity",
    "write_image": "slanted.io.images",
    "write_labels": "slanted.io.images",
    "write_ply": "slanted.io.point_clouds",
}

__all__ = [
    "DISPARITY_FORMATS",
    "Calibration",
    "atomic_path",
    "describe",
    "encode_ply",
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

__getattr__, __dir__ = lazy_names(__name__, _MODULE_OF)
