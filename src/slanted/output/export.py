"""A result for other programs: point clouds, meshes and depth images as file contents."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from slanted.errors import InputError
from slanted.io import Calibration, encode_ply, point_cloud
from slanted.io.images import encode
from slanted.io.names import EXPORTS
from slanted.output.mesh import PlaneMesh, mesh_of
from slanted.output.space import LEAST_DISPARITY, Space
from slanted.runtime.extras import how_to_install, require

if TYPE_CHECKING:
    from slanted.images import Image
    from slanted.output.result_fields import ResultData

CURE = f"which is not installed; {how_to_install('viewer')}"
MOST_MILLIMETRES = 65535
WHITE, BLACK = (255, 255, 255, 255), (0, 0, 0, 255)
TEXTURE_QUALITY = 92
MOST_TEXTURE = 8192
"""Largest side, in pixels, of a texture that every graphics card accepts."""
GLTF_FROM_CAMERA = np.array([1, -1, -1], np.float32)
"""glTF asks for Y up and Z towards the viewer; the camera's Y is down and its Z forward."""


class Cloud(NamedTuple):
    """Coloured points."""

    positions: NDArray[np.float32]
    """(N, 3) X right, Y down, Z forward; metres, or baselines without a calibration."""
    colours: NDArray[np.uint8]
    """(N, 3) RGB."""


class Surface(NamedTuple):
    """A mesh with colours at its vertices."""

    vertices: NDArray[np.float32]
    """(V, 3), as the positions of a `Cloud`."""
    faces: NDArray[np.int32]
    """(F, 3) vertices of each triangle, the front towards the camera."""
    colours: NDArray[np.uint8]
    """(V, 3) RGB."""


@dataclass(frozen=True, eq=False)
class Exportable:
    """A result, the left image for colours (grey if None), and the calibration.

    Without a calibration `slanted.output.space.assumed_calibration` is used: lengths are in
    baselines, and there is no depth in millimetres. The sky, and pixels whose confidence is below
    `min_confidence`, by default the setting ``confidence.min``, are left out; so is what lies
    beyond `max_depth`, by default the setting ``space.max_depth``, but for depth images.
    """

    result: ResultData
    left: Image | None = None
    calibration: Calibration | None = None
    min_confidence: float | None = None
    max_depth: float | None = None

    @property
    def disparity(self) -> NDArray[np.float32]:
        """The disparity, NaN in the sky and where the confidence is too low."""
        return self.result.solid_disparity(self.min_confidence)

    @property
    def cameras(self) -> Calibration:
        """The calibration, or the assumed one."""
        return self.space.cameras

    @property
    def space(self) -> Space:
        """The cameras, and how far clouds and meshes reach."""
        return Space.of(self.result, self.calibration, self.max_depth)

    @property
    def unit(self) -> str:
        """The unit of lengths."""
        return "metres" if self.calibration else "baselines"

    def rgb(self) -> NDArray[np.uint8]:
        """Return the left image as 8-bit RGB, grey if there is none."""
        from slanted.output.pictures import rgb_or_grey

        return rgb_or_grey(self.left, self.result.disparity.shape)

    def cloud(self) -> Cloud:
        """Return the pixels that have a depth, and are not too far, as coloured points."""
        pixels = self.disparity, self.rgb()
        return Cloud(*point_cloud(*pixels, self.cameras, self.space.least))

    def surface(self) -> Surface:
        """Return the mesh in space, with the colour of a pixel beside each vertex."""
        mesh = self.mesh()
        colours = _colours_at(self.rgb(), mesh)
        return Surface(mesh.positions(self.cameras), mesh.faces, colours)

    def mesh(self) -> PlaneMesh:
        """Return the mesh of all parts that have a depth; raise an InputError if none has."""
        least = self.result.least_confidence(self.min_confidence)
        hidden = self.result.left_out(least)
        if hidden is not None and hidden.all():
            raise InputError(
                f"mesh: expected pixels with a confidence of at least {least} that are not sky, "
                "got none; lower the threshold, or run again with --set model.sky=false"
            )
        mesh = mesh_of(self.result, self.space, min_confidence=least)
        if not len(mesh.faces):
            raise InputError(f"mesh: expected {self._why_empty()}")
        return mesh

    def _why_empty(self) -> str:
        """Return what a mesh without triangles lacks, and what to do."""
        above = self.disparity + self.cameras.doffs_pixels
        if float(np.nanmax(above)) < LEAST_DISPARITY:
            return (
                "disparities above that of infinity, got none; give a calibration whose doffs says "
                "where infinity is"
            )
        oblique = self.space.oblique(self.result)
        too_far = (
            above < self.space.least if oblique is None else above[~oblique] < self.space.least
        )
        if too_far.any():
            return "surfaces that are near enough, got none; give a larger max_depth"
        return "surfaces that are not seen edge-on, got none; check the calibration"


def export_names(*, calibrated: bool) -> tuple[str, ...]:
    """Return the names of possible exports; depth in millimetres needs a calibration."""
    return tuple(name for name in EXPORTS if calibrated or name != "depth.png")


def export(name: str, source: Exportable) -> dict[str, bytes]:
    """Return the files of an export by name.

    Parameters
    ----------
    name
        One of `export_names`: ``cloud.ply``, the pixels that `Exportable` keeps as coloured points;
        ``mesh.ply``, with colours at the vertices; ``mesh.glb`` and ``mesh.obj``, with the image as
        texture (the latter are three files); ``depth.png``, 16 bit, millimetres, 0 for unknown and
        for the sky.
    source
        What to export.

    Raises
    ------
    InputError
        If there is no such export, or it needs a calibration.
    MissingExtraError
        If trimesh (for meshes) or Pillow (for their textures) is not installed.

    Examples
    --------
    >>> import slanted
    >>> from slanted.synthetic import make_scene
    >>> scene = make_scene(96, 64, segments=40, seed=1)
    >>> result = slanted.estimate(scene.left, scene.right)
    >>> files = export("cloud.ply", Exportable(result, scene.left))
    >>> files["cloud.ply"][:3]
    b'ply'
    """
    writers: dict[str, Callable[[Exportable], dict[str, bytes]]] = {
        "cloud.ply": _cloud,
        "mesh.ply": _mesh_ply,
        "mesh.glb": _mesh_glb,
        "mesh.obj": _mesh_obj,
        "depth.png": _depth,
    }
    if name not in writers:
        raise InputError(f"{name}: cannot be exported; expected one of {', '.join(writers)}")
    return writers[name](source)


def depth_map(
    result: ResultData, calibration: Calibration, min_confidence: float | None = None
) -> NDArray[np.float32]:
    """Return the (H, W) depth in metres: NaN where it is unknown, infinite in the sky."""
    disparity = result.trusted_disparity(min_confidence)
    depth = calibration.depth(disparity, LEAST_DISPARITY)
    if result.sky is not None:
        depth[result.sky] = np.inf
    return depth


def depth_image(depth: NDArray[np.float32]) -> NDArray[np.uint16]:
    """Return depth in metres as whole millimetres, 0 where unknown or beyond 65.535 m."""
    millimetres = np.rint(np.where(np.isfinite(depth), depth, 0).astype(np.float64) * 1000)
    fits = (millimetres >= 1) & (millimetres <= MOST_MILLIMETRES)
    return np.where(fits, millimetres, 0).astype(np.uint16)


def _depth(source: Exportable) -> dict[str, bytes]:
    if source.calibration is None:
        raise InputError(
            "depth.png: expected a calibrated pair, because it is in millimetres; give --calib, or "
            "--fx and --baseline"
        )
    depth = depth_image(depth_map(source.result, source.calibration, source.min_confidence))
    return {"depth.png": encode(".png", depth)}


def _cloud(source: Exportable) -> dict[str, bytes]:
    return {"cloud.ply": encode_ply(*source.cloud())}


def _mesh_ply(source: Exportable) -> dict[str, bytes]:
    trimesh = _trimesh()
    vertices, faces, colours = source.surface()
    made = trimesh.Trimesh(vertices, faces, vertex_colors=colours, process=False)
    return {"mesh.ply": bytes(made.export(file_type="ply"))}


def _mesh_glb(source: Exportable) -> dict[str, bytes]:
    made = _textured(source, GLTF_FROM_CAMERA, "JPEG")
    return {"mesh.glb": bytes(made.export(file_type="glb", include_normals=True))}


def _mesh_obj(source: Exportable) -> dict[str, bytes]:
    _trimesh()
    from trimesh.exchange.obj import export_obj

    made = _textured(source, np.ones(3, np.float32), "PNG")
    made.visual.material.name = "mesh_texture"
    header = f"left camera: x right, y down, z forward; {source.unit}"
    text, others = export_obj(made, return_texture=True, mtl_name="mesh.mtl", header=header)
    return {"mesh.obj": text.encode(), **{name: bytes(data) for name, data in others.items()}}


def _textured(source: Exportable, axes: NDArray[np.float32], texture_format: str) -> Any:
    trimesh = _trimesh()
    mesh = source.mesh()
    height, width = source.result.disparity.shape
    across, down = mesh.texture_coordinates(width, height).T
    texture = _texture(source.rgb(), texture_format)
    kind = trimesh.visual.material
    material = (
        kind.SimpleMaterial(image=texture, diffuse=WHITE, ambient=WHITE, specular=BLACK)
        if texture_format == "PNG"
        else kind.PBRMaterial(
            baseColorTexture=texture, metallicFactor=0.0, roughnessFactor=1.0, doubleSided=True
        )
    )
    visual = trimesh.visual.TextureVisuals(np.stack([across, 1 - down], axis=1), material)
    positions, normals = mesh.positions(source.cameras), mesh.normals(source.cameras)
    return trimesh.Trimesh(
        positions * axes, mesh.faces, vertex_normals=normals * axes, visual=visual, process=False
    )


def _texture(rgb: NDArray[np.uint8], texture_format: str) -> Any:
    """Return a Pillow image read from a file of that format, which makes trimesh store it so."""
    pillow = require("PIL.Image", "pillow", "textures need", CURE)
    image = pillow.fromarray(rgb)
    image.thumbnail((MOST_TEXTURE, MOST_TEXTURE))
    stream = io.BytesIO()
    quality = {"quality": TEXTURE_QUALITY} if texture_format == "JPEG" else {}
    image.save(stream, texture_format, **quality)
    return pillow.open(io.BytesIO(stream.getvalue()))


def _colours_at(rgb: NDArray[np.uint8], mesh: PlaneMesh) -> NDArray[np.uint8]:
    """Return the colour of a pixel beside each vertex."""
    height, width = rgb.shape[:2]
    u, v = np.floor(mesh.corners).astype(np.int64).T
    colours: NDArray[np.uint8] = rgb[np.clip(v, 0, height - 1), np.clip(u, 0, width - 1)]
    return colours


def _trimesh() -> Any:
    return require("trimesh", "trimesh", "meshes need", CURE)
