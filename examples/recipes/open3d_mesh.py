"""Points and mesh in Open3D: normals, a coarser cloud, and a picture by its ray caster.

pip install open3d; python open3d_mesh.py [LEFT RIGHT CALIB]
"""

import numpy as np
import open3d as o3d
from pair import estimated

import slanted

result = estimated()
cloud, mesh = result.to_open3d("points"), result.to_open3d("mesh")
coarse = cloud.voxel_down_sample(
    voxel_size=0.02 * float(np.median(result.points().positions[:, 2]))
)
coarse.estimate_normals()
o3d.io.write_point_cloud("coarse.ply", coarse)

# What the left camera sees, by rays; this needs no screen.
height, width = result.disparity.shape
left = result.calibration
scene = o3d.t.geometry.RaycastingScene()
scene.add_triangles(o3d.t.geometry.TriangleMesh.from_legacy(mesh))
K = [[left.fx_pixels, 0, left.cx_pixels], [0, left.fy_pixels, left.cy_pixels], [0, 0, 1]]
rays = scene.create_rays_pinhole(o3d.core.Tensor(K), o3d.core.Tensor(np.eye(4)), width, height)
normals = scene.cast_rays(rays)["primitive_normals"].numpy()
slanted.write_image("normals.png", np.rint(127.5 * (1 - normals)).astype(np.uint8))
print(f"{len(cloud.points)} points, {len(coarse.points)} in coarse.ply; normals.png shows the mesh")
