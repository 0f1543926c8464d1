"""The mesh in trimesh: its parts, their areas, and the largest one as GLB.

pip install 'slanted[viewer]'; python trimesh_mesh.py [LEFT RIGHT CALIB]
"""

import trimesh
from pair import estimated

vertices, faces, colours = estimated().mesh()
mesh = trimesh.Trimesh(vertices, faces, vertex_colors=colours)
parts = sorted(mesh.split(only_watertight=False), key=lambda part: part.area, reverse=True)
for part in parts[:3]:
    print(f"{part.area:8.2f} m²  {len(part.faces)} triangles")
parts[0].export("largest.glb")
print(f"{len(parts)} surfaces that end in mid-air; the largest is in largest.glb")
