"""How good meshes of KITTI frames are: edges, sky, ground truth, planes, and the size of GLB files.

For each frame, with the calibration of KITTI:

- *bound*: the longest edge as a share of the bound that docs/viewer.md gives, which is 30 times the
  edge's length in pixels, times the distance of its nearer end, over the focal length; and how many
  triangles have an edge above it. Besides, the longest edge in metres, and the triangles nearer
  than 80 m with an edge of more than 10 m.
- *sky*: pixels of the sky flag whose centre lies in the mesh.
- *truth*: the mesh is drawn at the centres of pixels. Of those with ground truth (occluded pixels
  too), the percentage that is within 3 px of it: so area is measured in the image. The same by area
  in space, where each pixel counts as much as the surface that it shows. *covered* is the
  percentage of the ground truth that the mesh covers, of all of it and of what is nearer than 40 m.
- *planes*: how far vertices are from the planes of the triangles that they belong to, in pixels of
  disparity, and the percentage of them that is within 0.01 px.
- *texture*: by how many pixels the image is off on an edge at most, in a program that lays it on
  the triangles in space.
- triangles, for each segment and for each 400 pixels; megabytes of ``mesh.glb``; seconds to make
  it; points of ``cloud.ply``.

    python benchmarks/mesh_quality.py [--split train] [--limit 0] [--preset default]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit

from common import frames_of, options, pair_of, record, timed, told
from slanted.io import Calibration
from slanted.output.export import Exportable, export
from slanted.output.mesh import PlaneMesh
from slanted.output.mesh_depth import texture_shift
from slanted.output.space import Space
from slanted.pipeline import estimate
from slanted.result import Result
from slanted.settings import Settings

WRONG, NEAR = 3.0, 40.0
MADE_UP = Calibration(150.0, 150.0, 79.5, 47.5, 0.5)
"""Cameras for frames without a calibration: the scenes of ``--smoke``."""


@njit
def draw(corners: np.ndarray, faces: np.ndarray, drawn: np.ndarray) -> None:
    """Draw the numbers of triangles at the centres of pixels."""
    for f in range(len(faces)):
        a, b, c = corners[faces[f, 0]], corners[faces[f, 1]], corners[faces[f, 2]]
        area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
        top, bottom = min(a[1], b[1], c[1]), max(a[1], b[1], c[1])
        left, right = min(a[0], b[0], c[0]), max(a[0], b[0], c[0])
        for v in range(int(np.ceil(top)), int(np.floor(bottom)) + 1):
            for u in range(int(np.ceil(left)), int(np.floor(right)) + 1):
                second = ((u - a[0]) * (c[1] - a[1]) - (v - a[1]) * (c[0] - a[0])) / area
                third = ((b[0] - a[0]) * (v - a[1]) - (b[1] - a[1]) * (u - a[0])) / area
                if second >= 0 and third >= 0 and second + third <= 1:
                    drawn[v, u] = f


@dataclass(frozen=True)
class Drawn:
    """The mesh at the centres of pixels."""

    disparity: np.ndarray
    """(H, W) NaN where there is no mesh."""
    area: np.ndarray
    """(H, W) square metres of the mesh that each pixel shows."""

    @classmethod
    def of(cls, mesh: PlaneMesh, shape: tuple[int, int], cameras: Calibration) -> Drawn:
        """Draw a mesh."""
        number = np.full(shape, -1)
        draw(mesh.corners, mesh.faces, number)
        points, values = mesh.corners[mesh.faces], mesh.disparity[mesh.faces]
        ones = np.ones((*values.shape, 1))
        plane = np.linalg.solve(np.concatenate([points, ones], axis=2), values[..., np.newaxis])
        v, u = np.mgrid[: shape[0], : shape[1]]
        a, b, c = np.moveaxis(plane[number, :, 0], -1, 0)
        disparity = np.where(number < 0, np.nan, a * u + b * v + c)
        # A pixel shows Z³ |n| / (f³ B) of the plane n · (X, Y, Z) = f B.
        axis = a * cameras.cx_pixels + b * cameras.cy_pixels + c + cameras.doffs_pixels
        focal, depth = cameras.fx_pixels, cameras.depth(disparity).astype(np.float64)
        normal = np.sqrt((focal * a) ** 2 + (focal * b) ** 2 + axis**2)
        return cls(disparity, depth**3 * normal / (focal**3 * cameras.baseline_meters))


def edges(corners: np.ndarray, places: np.ndarray, faces: np.ndarray, space: Space) -> Any:
    """Return (F,) the longest edge of each triangle in metres, and its share of the bound."""
    ends = faces[:, [[0, 1], [1, 2], [2, 0]]]
    start, end = places[ends].astype(np.float64).transpose(2, 0, 1, 3)
    pixels = np.linalg.norm(np.subtract(*corners[ends].transpose(2, 0, 1, 3)), axis=-1)
    length = np.linalg.norm(end - start, axis=-1)
    near = np.minimum(np.linalg.norm(start, axis=-1), np.linalg.norm(end, axis=-1))
    with np.errstate(divide="ignore", invalid="ignore"):
        share = length / space.longest(pixels, near)
    return length.max(axis=1), np.nan_to_num(share, nan=0.0, posinf=1e9).max(axis=1)


def compared(drawn: Drawn, truth: np.ndarray, cameras: Calibration) -> dict[str, float]:
    """Return the percentages of the drawn mesh that are right, and of the truth that it covers."""
    known, has = np.isfinite(truth), np.isfinite(drawn.disparity)
    both = known & has
    error = np.abs(drawn.disparity[both] - truth[both])
    near = known & (cameras.depth(truth) < NEAR)
    by_area = np.average(error <= WRONG, weights=drawn.area[both])
    return {
        "within 3 px": 100 * float((error <= WRONG).mean()),
        "within 3 px, by area in space": 100 * float(by_area),
        "mean error, px": float(error.mean()),
        "covered": 100 * float(has[known].mean()),
        "covered below 40 m": 100 * float(has[near].mean()) if near.any() else 100.0,
    }


def judged(result: Result, cameras: Calibration, truth: np.ndarray) -> dict[str, float]:
    """Return all figures of one result."""
    source = Exportable(result, result.left, cameras)
    source.mesh()  # compiles
    seconds, mesh = timed(source.mesh)
    taken, files = timed(lambda: export("mesh.glb", source))
    places = mesh.positions(cameras)
    longest, share = edges(mesh.corners, places, mesh.faces, source.space)
    shift = texture_shift(mesh.corners, mesh.disparity + cameras.doffs_pixels, mesh.faces)
    is_near = places[mesh.faces][..., 2].min(axis=1) < 80
    drawn = Drawn.of(mesh, result.disparity.shape, cameras)
    owner = mesh.segment[:, np.newaxis]
    plane, centre = result.planes[owner], result.regions.centre[owner]
    at = (plane[..., :2] * (mesh.corners[mesh.faces] - centre)).sum(axis=-1) + plane[..., 2]
    lowest, highest = mesh.disparity.min(), mesh.disparity.max()
    off = np.abs(at.clip(lowest, highest) - mesh.disparity[mesh.faces])
    sky = np.zeros_like(truth, bool) if result.sky is None else result.sky
    return {
        "longest edge, m": float(longest.max()),
        "over 10 m below 80 m": int((longest[is_near] > 10).sum()),
        "largest share of the bound": float(share.max()),
        "triangles over the bound": int((share > 1 + 1e-4).sum()),
        "sky pixels in the mesh": int(np.isfinite(drawn.disparity[sky]).sum()),
        **compared(drawn, truth, cameras),
        "most off planes, px": float(off.max()),
        "mean off planes, px": float(off.mean()),
        "on planes, %": 100 * float((off < 0.01).mean()),
        "texture off, px": float(shift.max()),
        "triangles": len(mesh.faces),
        "a segment": len(mesh.faces) / len(np.unique(mesh.segment)),
        "each 400 px": 400 * len(mesh.faces) / int(np.isfinite(drawn.disparity).sum()),
        "glb, MB": len(files["mesh.glb"]) / 1e6,
        "mesh, s": seconds,
        "glb, s": taken,
        "points": len(source.cloud().positions),
    }


def main() -> None:
    """Measure and record."""
    arguments = options(__doc__, {}, split="train", limit=0, preset="default")
    settings, rows = Settings.preset(arguments.preset), {}
    for frame in frames_of("kitti2015", arguments.split, arguments.limit):
        result = estimate(*pair_of(frame), settings, calibration=frame.calibration or MADE_UP)
        figures = judged(result, result.calibration, frame.load_ground_truth()[0])
        rows[frame.name] = told(figures)
    every = {name: [row[name] for row in rows.values()] for name in next(iter(rows.values()))}
    summary = {
        name: {"mean": float(np.mean(each)), "least": min(each), "most": max(each)}
        for name, each in every.items()
    }
    record("mesh_quality", arguments, {"frames": rows, "all": summary})


if __name__ == "__main__":
    main()
