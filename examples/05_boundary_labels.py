"""The label of every boundary, and the pixels that are hidden from the right view."""

import numpy as np

import slanted
from slanted import BoundaryLabel
from slanted.synthetic import make_scene

scene = make_scene(320, 240, seed=5)
result = slanted.estimate(scene.left, scene.right)

for label in BoundaryLabel:
    print(f"{label.name.lower():16} {np.count_nonzero(result.labels == label):5} boundaries")

# For the boundary k between segments i < j: which of them is in front?
k = int(np.flatnonzero(result.labels == BoundaryLabel.LEFT_OCCLUSION)[0])
i, j = result.regions.edges[k]
print(f"segment {i} hides a part of segment {j}, along {result.regions.boundary_length[k]} pixels")

# The planes of the two, evaluated in the middle of their boundary: the front one is nearer.
u, v = result.regions.boundary_centre[k]
alpha, beta, gamma = result.planes[[i, j]].T
centre = result.regions.centre[[i, j]]
front, back = alpha * (u - centre[:, 0]) + beta * (v - centre[:, 1]) + gamma
print(f"there their disparities are {front:.1f} and {back:.1f} px")

agreement = (result.occluded == scene.occluded).mean()
print(f"hidden pixels: {100 * agreement:.1f} % of the image agree with the truth")
