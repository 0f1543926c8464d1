"""A potential of your own, in one file: sparse measurements of depth, as a LiDAR gives them.

A potential is a function of segments and planes: the costs (n, N) of N planes for each of n
segments. slanted adds them to the energy, with the weight `model.weights.user`; the bound it proves
is then about that energy.
"""

import numpy as np

import slanted
from slanted.evaluation.metrics import evaluate
from slanted.synthetic import make_scene

CAP = 3.0
"""Pixels; a point farther from its plane, perhaps on another surface, costs no more."""


def lidar_potential(rows, columns, disparities):
    """Return a potential: the distance of measured points from each plane."""

    def potential(regions, planes):
        segment = regions.label_image[rows, columns]  # the segment that each point lies in
        du = columns - regions.centre[segment, 0]
        dv = rows - regions.centre[segment, 1]
        alpha, beta, gamma = np.moveaxis(planes[segment], -1, 0)  # (points, N) each
        drawn = alpha * du[:, None] + beta * dv[:, None] + gamma
        costs = np.zeros(planes.shape[:2])
        np.add.at(costs, segment, np.minimum(np.abs(drawn - disparities[:, None]), CAP) ** 2)
        return costs

    return potential


# Little texture and much noise make matching hard; one pixel in 200 is measured.
scene = make_scene(320, 240, texture=12, colour_contrast=0.3, noise=6, seed=11)
rng = np.random.default_rng(0)
rows, columns = np.nonzero(rng.random(scene.disparity.shape) < 1 / 200)
measured = scene.disparity[rows, columns] + rng.normal(0, 0.1, len(rows))
lidar = lidar_potential(rows, columns, measured)

# So little can be matched that the pair would be refused as one of two scenes.
unchecked = slanted.Settings().with_text({"rectification.check": "off"})
for weight in (0, 30, 300):
    settings = unchecked.with_text({"model.weights.user": str(weight)})
    result = slanted.estimate(scene.left, scene.right, settings, potential=lidar)
    scores = evaluate(result.disparity, scene.disparity)
    print(f"weight {weight:3}: {scores['out-3px-all']:5.2f} % off by more than 3 px, mean error "
          f"{scores['epe-all']:.2f} px, bound {result.bound:.0f} ≤ energy {result.energy:.0f}"
          )  # fmt: skip
