"""A matcher of your own, in one file: sums of absolute differences over a window.

A matcher gets an 8-bit pair and the range to search, and returns float32 disparities with NaN
where it is not sure. Once registered, it can be named in `matching.method`.
"""

import cv2
import numpy as np

import slanted
from slanted.evaluation.metrics import evaluate
from slanted.synthetic import make_scene


def match(left, right, searched, settings):
    """Match by the least mean absolute difference over 7 × 7 pixels, whole disparities."""
    left, right = (np.atleast_3d(image).astype(np.float32) for image in (left, right))
    costs = []
    for d in range(searched.low, searched.high):
        columns = np.clip(np.arange(left.shape[1]) - d, 0, left.shape[1] - 1)
        difference = np.abs(left - right[:, columns]).mean(axis=2)
        costs.append(cv2.blur(difference, (7, 7)))
    volume = np.stack(costs)
    best = volume.argmin(axis=0)
    disparity = (best + searched.low).astype(np.float32)

    # Ambiguous: another disparity, not adjacent to the best, costs nearly as little.
    near = np.abs(np.arange(len(volume))[:, None, None] - best) <= 1
    second = np.where(near, np.inf, volume).min(axis=0)
    disparity[second < 1.1 * volume.min(axis=0)] = np.nan
    return disparity


slanted.register_matcher("sad", match)

scene = make_scene(320, 240, seed=10)
for method in ("sad", "census"):
    settings = slanted.Settings().with_text(
        {"matching.method": method, "matching.max_disparity": "64"}
    )
    result = slanted.estimate(scene.left, scene.right, settings)
    known = np.isfinite(result.matched)
    wrong = (np.abs(result.matched - scene.disparity) > 3)[known].mean()
    scores = evaluate(result.disparity, scene.disparity)
    print(f"{method:7} knows {100 * known.mean():.0f} %, {100 * wrong:.1f} % of these wrong; "
          f"after slanted {scores['out-3px-all']:.1f} % of all pixels are")  # fmt: skip
