"""The mesh in PyVista, seen from beside the camera, as a picture; it needs no screen.

pip install pyvista; python pyvista_mesh.py [LEFT RIGHT CALIB]
"""

import numpy as np
import pyvista
from pair import estimated

result = estimated()
vertices, faces, colours = result.mesh()
mesh = pyvista.PolyData.from_regular_faces(vertices, faces)
mesh["rgb"] = colours

depth = float(np.median(vertices[:, 2]))
plotter = pyvista.Plotter(off_screen=True, window_size=(800, 600))
plotter.add_mesh(mesh, scalars="rgb", rgb=True, lighting=False)
# The camera's Y points down. The eye is left of the camera, above it, and a little behind.
plotter.camera_position = [(-0.3 * depth, -0.3 * depth, -0.2 * depth), (0, 0, depth), (0, -1, 0)]
plotter.screenshot("mesh.png")
print(f"{mesh.n_cells} triangles; see mesh.png")
