"""From disparity to metres: depth, a point cloud, and a mesh that is cut where objects end.

Needs the extra `viewer` for GLB and OBJ: pip install 'slanted[viewer]'.
"""

from pathlib import Path

import slanted
from slanted.output.export import Exportable, export
from slanted.synthetic import make_scene

scene = make_scene(320, 240, seed=6)
cameras = slanted.Calibration(
    fx_pixels=300, fy_pixels=300, cx_pixels=159.5, cy_pixels=119.5, baseline_meters=0.1
)  # or calibration="calib.txt" below
result = slanted.estimate(scene.left, scene.right, calibration=cameras)

depth = result.depth()  # (H, W) metres = fx · baseline / (disparity + doffs)
positions, colours = result.points()  # (N, 3) each: x right, y down, z forward; RGB
vertices, faces, _ = result.mesh()  # surfaces, cut where objects end
print(f"depths from {depth.min():.2f} to {depth.max():.2f} m, points {positions.shape}")

source = Exportable(result, result.left, result.calibration)
for name in ("cloud.ply", "mesh.ply", "mesh.glb", "depth.png"):
    for file, data in export(name, source).items():
        Path(file).write_bytes(data)
print(f"mesh: {len(vertices)} vertices, {len(faces)} triangles; open mesh.glb anywhere")
