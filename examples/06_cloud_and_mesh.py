"""From disparity to metres: depth, a point cloud, and a mesh that is cut where objects end.

Needs the extra `viewer` for GLB and OBJ: pip install 'slanted[viewer]'.
"""

from pathlib import Path

import slanted
from slanted.output.export import Exportable, export
from slanted.synthetic import make_scene

scene = make_scene(320, 240, seed=6)
result = slanted.estimate(scene.left, scene.right)

cameras = slanted.Calibration(
    fx_pixels=300, fy_pixels=300, cx_pixels=159.5, cy_pixels=119.5, baseline_meters=0.1
)  # or slanted.read_calibration("calib.txt")
disparity = result.solid_disparity()  # NaN in the sky, which has no depth
depth = cameras.depth(disparity)  # (H, W) metres = fx · baseline / (disparity + doffs)
points = cameras.points(disparity)  # (H, W, 3): x right, y down, z forward
print(f"depths from {depth.min():.2f} to {depth.max():.2f} m, points {points.shape}")

source = Exportable(result, scene.left, cameras)
for name in ("cloud.ply", "mesh.ply", "mesh.glb", "depth.png"):
    for file, data in export(name, source).items():
        Path(file).write_bytes(data)
mesh = source.mesh()
print(f"mesh: {len(mesh.disparity)} vertices, {len(mesh.faces)} triangles; open mesh.glb anywhere")
