"""A result in the forms of Open3D and Rerun, which slanted itself does not need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from slanted.errors import InputError
from slanted.output.export import depth_map
from slanted.runtime.extras import require

if TYPE_CHECKING:
    from slanted.output.export import Exportable

KINDS = ("points", "mesh")


def open3d_of(source: Exportable, kind: str) -> Any:
    """Return the points of a result as Open3D's ``PointCloud``, or its mesh as ``TriangleMesh``.

    Raises
    ------
    MissingExtraError
        If Open3D is not installed.
    InputError
        If the kind is neither.
    """
    if kind not in KINDS:
        raise InputError(f"kind: expected 'points' or 'mesh', got {kind!r}")
    cure = "which is not installed; run pip install open3d"
    open3d = require("open3d", "Open3D", "to_open3d needs", cure)
    doubles, ints = open3d.utility.Vector3dVector, open3d.utility.Vector3iVector
    if kind == "points":
        positions, colours = source.cloud()
        cloud = open3d.geometry.PointCloud()
        cloud.points = doubles(positions.astype(np.float64))
        cloud.colors = doubles(colours / 255)
        return cloud
    vertices, faces, colours = source.surface()
    mesh = open3d.geometry.TriangleMesh()
    mesh.vertices = doubles(vertices.astype(np.float64))
    mesh.triangles = ints(faces)
    mesh.vertex_colors = doubles(colours / 255)
    return mesh


def log_to_rerun(source: Exportable, entity: str, recording: Any) -> None:
    """Log the left image, disparity, confidence, depth, points and mesh of a result.

    Raises
    ------
    MissingExtraError
        If Rerun is not installed.
    """
    cure = "which is not installed; run pip install rerun-sdk"
    rerun = require("rerun", "Rerun", "to_rerun needs", cure)

    def log(name: str, *what: Any) -> None:
        rerun.log(f"{entity}/{name}", *what, recording=recording)

    result, cameras = source.result, source.cameras
    height, width = result.disparity.shape
    rerun.log(entity, rerun.ViewCoordinates.RDF, static=True, recording=recording)
    log(
        "camera",
        rerun.Pinhole(
            focal_length=[cameras.fx_pixels, cameras.fy_pixels],
            principal_point=[cameras.cx_pixels, cameras.cy_pixels],
            width=width,
            height=height,
        ),
    )
    log("camera/left", rerun.Image(source.rgb()))
    if source.calibration is not None:
        depth = depth_map(result, source.calibration, source.min_confidence)
        # Rerun knows no NaN in depths: 0 is unknown, also in the sky.
        log("camera/depth", rerun.DepthImage(np.where(np.isfinite(depth), depth, 0), meter=1.0))
    log("disparity", rerun.DepthImage(result.disparity))
    if result.confidence is not None:
        log("confidence", rerun.Image(np.rint(result.confidence * 255).astype(np.uint8)))
    positions, colours = source.cloud()
    log("points", rerun.Points3D(positions, colors=colours))
    vertices, faces, colours = source.surface()
    log(
        "mesh",
        rerun.Mesh3D(vertex_positions=vertices, triangle_indices=faces, vertex_colors=colours),
    )
